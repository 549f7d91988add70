// M19 to M22, M28 and M32: duplicates, bytes that are no text, nesting, numbers, dtypes and
// payloads.
#include "tests/hostile/hostile.h"

#include <locale.h>

#define ENTRY "{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}"
#define NEXT "{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}"

static void judge_headers(Kit *kit, const char *const *headers, size_t count) {
    for (size_t i = 0; i < count; i++)
        judge(kit, FORMAT_safetensors, REFUSED,
              make_safetensors(kit->arena, str_from(headers[i]), STR("\1\1")));
}

static void judge_texts(Kit *kit, Format format, Verdict verdict, const char *const *texts,
                        size_t count) {
    for (size_t i = 0; i < count; i++) judge(kit, format, verdict, str_from(texts[i]));
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void make_duplicates(Kit *kit) {
    static const char *const headers[] = {
        "{\"a\":" ENTRY ",\"a\":" NEXT "}",
        "{\"a\":" ENTRY ",\"\\u0061\":" NEXT "}",
        "{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"shape\":[1],\"data_offsets\":[0,1]}}",
        "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"data_offsets\":[0,1]}}",
        "{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"},\"a\":" ENTRY "}",
        "{\"__metadata__\":{},\"__metadata__\":{},\"a\":" ENTRY "}"};
    static const char *const models[] = {
        "dim N in 1..2\ndim N in 1..2\nmodel m(x: f32[2]) -> (y) { y = x }",
        "fn f(a) { return a }\nfn f(a) { return a }\nmodel m(x: f32[2]) -> (y) { y = f(x) }",
        "fn f(a, a) { return a }\nmodel m(x: f32[2]) -> (y) { y = f(x, x) }",
        "model m(x: f32[2], x: f32[2]) -> (y) { y = x }",
        "model m(x: f32[2]) -> (y, y) { y = x }",
        "model m(x: f32[2]) -> (y) { y = x }\nmodel m(x: f32[2]) -> (y) { y = x }",
        "model m(x: f32[2]) -> (y) { param w: f32[2] = 1\n param w: f32[2] = 1\n y = x + w }",
        "model m(x: f32[2]) -> (y) { y = sum(x, axis=0, axis=0) }",
        "model m(x: f32[2]) -> (y) { y = sum(x, x=x) }",
        "model m(x: f32[2]) -> (y) { y = sum(x, axis=[0, 0]) }",
        "dim N in 1..2\nfn N(a) { return a }\nmodel m(x: f32[2]) -> (y) { y = N(x) }"};
    static const char *const graphs[] = {
        "%0 = exp %0 : f32[2, 3]",
        "%2 = exp %0 : f32[2, 3]\n %2 = exp %0 : f32[2, 3]",
        "%2 = input index=0 name=\"x\" : f32[2]",
        "%2 = reduce_sum %0 axes=[0] axes=[0] dtype=f32 : f32[3]",
        "%2 = reduce_sum %0 axes=[0, 0] dtype=f32 : f32[3]",
        "%2 = param name=\"p\" value=none : f32[2]\n %3 = param name=\"p\" value=none : f32[3]",
        "%2 = permute %0 perm=[0, 0] : f32[2, 2]",
        "%2 = reverse %0 axes=[1, 1] : f32[2, 3]"};
    judge_headers(kit, headers, COUNT(headers));
    judge_texts(kit, FORMAT_g, REFUSED, models, COUNT(models));
    for (size_t i = 0; i < COUNT(graphs); i++)
        judge(kit, FORMAT_tir, REFUSED, graph_of(kit, graphs[i], "%0"));
    judge(kit, FORMAT_tir, REFUSED,
          STR("tir 1\ndim N in 1..2 tune 1\ndim N in 1..3 tune 1\ngraph @a {\n return\n}\n"));
    Str member = good_file(kit, FORMAT_npy);
    ZipSpec same[] = {{STR("a.npy"), member, false, false}, {STR("a.npy"), member, false, false}};
    judge(kit, FORMAT_npz, REFUSED, make_zip(kit->arena, same, 2, false, STR("")));
    judge(kit, FORMAT_npy, REFUSED,
          make_npy(kit->arena, 1,
                   STR("{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (), }\n"),
                   STR("abcd")));
    judge(kit, FORMAT_npy, REFUSED,
          make_npy(kit->arena, 1,
                   STR("{'descr': '<f4', 'fortran_order': False, 'shape': (), 'shape': (), }\n"),
                   STR("abcd")));
}

// Bytes that no text has: in names, in strings, between words.
static void make_bytes(Kit *kit) {
    static const struct {
        const char *bytes;
        size_t size;
    } rows[] = {{"\0", 1},
                {"\x01", 1},
                {"\x1b[31m", 5},
                {"\x7f", 1},
                {"\x80", 1},
                {"\xc0\xaf", 2},
                {"\xc1\xbf", 2},
                {"\xe0\x80\x80", 3},
                {"\xed\xa0\x80", 3},
                {"\xed\xbf\xbf", 3},
                {"\xf0\x80\x80\x80", 4},
                {"\xf4\x90\x80\x80", 4},
                {"\xf8\x88\x80\x80\x80", 5},
                {"\xfe", 1},
                {"\xff\xff", 2},
                {"\xc3", 1},
                {"\xe2\x82", 2},
                {"\b\b\b", 3}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        Str bytes = {rows[i].bytes, rows[i].size};
        Str name = joined(kit, STR("{\"a"), joined(kit, bytes, STR("\":" ENTRY "}")));
        // DEL is a character of JSON.
        judge(kit, FORMAT_safetensors, rows[i].bytes[0] == 0x7f ? ACCEPTED : REFUSED,
              make_safetensors(kit->arena, name, STR("\1")));
        judge(kit, FORMAT_g, REFUSED,
              joined(kit, STR("model m(x: f32[2]) -> (y) { y = x "),
                     joined(kit, bytes, STR("+ 1.0 }\n"))));
        judge(kit, FORMAT_g, REFUSED,
              joined(kit, STR("weights \"w"),
                     joined(kit, bytes, STR("\"\nmodel m(x: f32[2]) -> (y) { y = x }\n"))));
        judge(kit, FORMAT_tir, REFUSED,
              joined(kit, STR("tir 1\ngraph @m {\n %0 = input index=0 "),
                     joined(kit, bytes, STR(" name=\"x\" : f32[2]\n return y = %0\n}\n"))));
        judge(
            kit, FORMAT_npy, REFUSED,
            make_npy(kit->arena, 1,
                     joined(kit, STR("{'descr': '<f4"),
                            joined(kit, bytes, STR("', 'fortran_order': False, 'shape': (), }\n"))),
                     STR("abcd")));
    }
    static const char *const escapes[] = {
        "{\"\\ud800\":" ENTRY "}", "{\"\\udc00\\ud800\":" ENTRY "}",
        "{\"\\u00\":" ENTRY "}",   "{\"\\x41\":" ENTRY "}",
        "{\"a\n\":" ENTRY "}",     "{\"a:" ENTRY "}",
        "{'a':" ENTRY "}",         "{a:" ENTRY "}"};
    judge_headers(kit, escapes, COUNT(escapes));
    // Names that would write to a terminal, and names of a megabyte, in errors about them.
    judge(kit, FORMAT_safetensors, REFUSED,
          make_safetensors(kit->arena,
                           STR("{\"\\u001b[31m\\n\\u0007\":{\"dtype\":\"X\",\"shape\":[1],\"data_"
                               "offsets\":[0,1]}}"),
                           STR("\1")));
    judge(kit, FORMAT_safetensors, REFUSED,
          make_safetensors(kit->arena,
                           repeated(kit, "{\"", "n", 1 << 20,
                                    "\":{\"dtype\":\"X\",\"shape\":[1],\"data_offsets\":[0,1]}}"),
                           STR("\1")));
    judge(kit, FORMAT_tir, REFUSED,
          graph_of(kit, "%2 = param name=\"\\x1b[31m\\n\" value=[1] : f32[2]", "%2"));
    judge(kit, FORMAT_tir, REFUSED,
          repeated(kit, "tir 1\ngraph @", "n", 1 << 20, " {\n return y = %9\n}\n"));
    judge(kit, FORMAT_g, REFUSED,
          repeated(kit, "model m(x: f32[2]) -> (y) { y = ", "n", 1 << 20, " }\n"));
    judge(kit, FORMAT_npz, REFUSED, archive_of(kit, STR("\x1b[31m not an array"), false));
}

static void make_nested(Kit *kit) {
    static const char *const openers[] = {"(",
                                          "[",
                                          "-",
                                          "not ",
                                          "f(",
                                          "x[",
                                          "x + (",
                                          "[[",
                                          "(-",
                                          "{",
                                          "x if s > 0.0 else (",
                                          "relu(",
                                          "x.T[",
                                          "tensor(["};
    enum { DEEP = 100000 };
    for (size_t i = 0; i < COUNT(openers); i++) {
        judge(kit, FORMAT_g, REFUSED, model_of(kit, repeated(kit, "", openers[i], DEEP, "x").data));
        judge(kit, FORMAT_tir, REFUSED,
              graph_of(kit, repeated(kit, "%2 = dim value=(", openers[i], DEEP, "1").data, "%2"));
    }
    judge(
        kit, FORMAT_g, REFUSED,
        model_of(
            kit,
            joined(kit, repeated(kit, "", "(", DEEP, "x"), repeated(kit, "", ")", DEEP, "")).data));
    judge(kit, FORMAT_g, REFUSED, repeated(kit, "fn f(x) {\n", "if x == None {\n", DEEP, "\n"));
    judge(kit, FORMAT_g, REFUSED, repeated(kit, "fn f(x) {\n", "for i in 0..<1 {\n", DEEP, "\n"));
    judge(kit, FORMAT_tir, REFUSED,
          graph_of(
              kit,
              repeated(kit, "", "%2 = call name=\"f\" scope=\"\" : f32[2, 3] {\n", DEEP, "").data,
              "%2"));
    judge(kit, FORMAT_tir, REFUSED,
          graph_of(kit, repeated(kit, "%2 = dim value=(", "min(1, ", DEEP, "1").data, "%2"));
    judge(kit, FORMAT_tir, REFUSED,
          graph_of(kit, repeated(kit, "%2 = dim value=(", "-", DEEP, "1)").data, "%2"));
    static const char *const json[] = {"[", "{\"a\":", "[[", "{\"a\":[", "[{\"b\":"};
    for (size_t i = 0; i < COUNT(json); i++)
        judge(kit, FORMAT_safetensors, REFUSED,
              make_safetensors(kit->arena, repeated(kit, "{\"x\":", json[i], DEEP, ""), STR("")));
    static const char *const python[] = {"(", "[", "{", "{'a': ", "((", "[("};
    for (size_t i = 0; i < COUNT(python); i++)
        judge(kit, FORMAT_npy, REFUSED,
              make_npy(kit->arena, 1, repeated(kit, "{'descr': ", python[i], 4000, "\n"), STR("")));
}

static void make_numbers(Kit *kit) {
    static const char *const floats[] = {"1e999",    "-1e999", "1e99999999999999999999",
                                         "1_000.5",  "0x1p3",  "1,5",
                                         "1.e",      "1.",     ".5",
                                         "1e",       "1e+",    "1.5.2",
                                         "1..2",     "1e5e5",  "NaN",
                                         "Infinity", "+1.5e",  "1.5f",
                                         "0b1",      "0o7",    "1e-",
                                         "\xd9\xa1"};
    static const char *const wholes[] = {"9223372036854775808",
                                         "-9223372036854775809",
                                         "18446744073709551616",
                                         "99999999999999999999999999",
                                         "1_000",
                                         "0x10",
                                         "1e3",
                                         "1.0",
                                         "010x",
                                         "nan",
                                         "inf",
                                         "--1",
                                         "+1",
                                         "1 2"};
    for (size_t i = 0; i < COUNT(floats); i++)
        judge(kit, FORMAT_g, REFUSED, model_of(kit, text_of(kit, "x * %s", floats[i]).data));
    for (size_t i = 0; i < COUNT(wholes); i++) {
        judge(kit, FORMAT_tir, REFUSED,
              graph_of(kit, text_of(kit, "%%2 = const value=[%s] : i32[1]", wholes[i]).data, "%2"));
        judge(kit, FORMAT_tir, REFUSED,
              graph_of(kit, text_of(kit, "%%2 = iota axis=%s : i32[3]", wholes[i]).data, "%2"));
        judge(kit, FORMAT_safetensors, REFUSED,
              one_tensor(kit, "\"U8\"", text_of(kit, "[%s]", wholes[i]).data, "[0,1]", 1));
        judge_option(kit, REFUSED, "D", text_of(kit, "N=%s", wholes[i]));
        judge_option(kit, REFUSED, "O", str_from(wholes[i]));
        judge_option(kit, REFUSED, "pass-limit", str_from(wholes[i]));
        judge_option(kit, REFUSED, "schedule", text_of(kit, "*:unroll=%s", wholes[i]));
    }
    static const char *const ranges[] = {"N",       "=8",          "N=",       "N=1..", "N=..8",
                                         "N=8..1",  "N=1..8:9",    "N=1..8:0", "N=-1",  "N=1...8",
                                         "N=1..8:", "N=1..8:2:3x", "",         "=",     "N==1"};
    for (size_t i = 0; i < COUNT(ranges); i++)
        judge_option(kit, i == 10 ? EITHER : REFUSED, "D", str_from(ranges[i]));
    static const char *const schedules[] = {"",
                                            ":",
                                            "*",
                                            "*:",
                                            "*:unroll",
                                            "*:unroll=",
                                            "*:=4",
                                            "*:nothing=4",
                                            "*:unroll=4,",
                                            "*:unroll=-1",
                                            "*:unroll=4,unroll",
                                            "*:unroll=4;grain=1",
                                            ":unroll=4",
                                            "*:unroll=99999999"};
    for (size_t i = 0; i < COUNT(schedules); i++)
        judge_option(kit, i == 8 ? EITHER : REFUSED, "schedule", str_from(schedules[i]));
    judge(kit, FORMAT_g, REFUSED,
          model_of(kit, repeated(kit, "x * 1", "0", 1000000, "").data)); // a million digits
    judge(kit, FORMAT_g, REFUSED, model_of(kit, repeated(kit, "x * 1.0e1", "0", 1000000, "").data));
    judge(
        kit, FORMAT_tir, REFUSED,
        graph_of(kit, repeated(kit, "%2 = const value=[1", "0", 1000000, "] : i64[1]").data, "%2"));
    judge(kit, FORMAT_safetensors, REFUSED,
          one_tensor(kit, "\"U8\"", repeated(kit, "[1", "0", 1000000, "]").data, "[0,1]", 1));
    // The same numbers in every locale.
    static const char *const locales[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "C"};
    for (size_t i = 0; i < COUNT(locales); i++) {
        setlocale(LC_ALL, locales[i]);
        judge(kit, FORMAT_g, ACCEPTED, model_of(kit, "x * 1.5 + 2.5e-1"));
        judge(kit, FORMAT_g, REFUSED, model_of(kit, "x * 1,5"));
        judge(kit, FORMAT_tir, ACCEPTED,
              graph_of(kit, "%2 = const value=[1.5, 0x1.8p+1] : f32[2]", "%2"));
        judge(kit, FORMAT_tir, REFUSED, graph_of(kit, "%2 = const value=[1,5] : f32[1]", "%2"));
    }
}

static void make_dtypes(Kit *kit) {
    static const char *const names[] = {"\"F4\"",     "\"f32\"", "\"float32\"", "\"C64\"",
                                        "\"STRING\"", "\"\"",    "\"F8_E8M0\"", "\"I128\"",
                                        "null",       "1",       "[\"F32\"]",   "\"F32 \""};
    static const char *const descrs[] = {"'|O'",
                                         "'O'",
                                         "'<c8'",
                                         "'<c16'",
                                         "'<U4'",
                                         "'|S4'",
                                         "'<M8[s]'",
                                         "'<m8'",
                                         "'|V4'",
                                         "'<f16'",
                                         "'<f3'",
                                         "'<i3'",
                                         "'f4x'",
                                         "''",
                                         "'<'",
                                         "'=f4'",
                                         "'|f4'",
                                         "None",
                                         "4",
                                         "[('a', '<f4')]",
                                         "[('a', '<f4'), ('b', '<i4')]",
                                         "('<f4', (2,))",
                                         "'<f4', '<f4'",
                                         "'<?4'"};
    static const char *const types[] = {"float", "f31",  "F32",  "i1",  "complex",
                                        "str",   "u128", "f32x", "bf32"};
    for (size_t i = 0; i < COUNT(names); i++)
        judge(kit, FORMAT_safetensors, REFUSED, one_tensor(kit, names[i], "[1]", "[0,4]", 4));
    for (size_t i = 0; i < COUNT(descrs); i++) {
        Str array = one_array(kit, descrs[i], "False", "(1,)", 4);
        judge(kit, FORMAT_npy, i == 15 ? EITHER : REFUSED,
              array); // '=' is the byte order of this machine
        judge(kit, FORMAT_npz, i == 15 ? EITHER : REFUSED, archive_of(kit, array, false));
    }
    for (size_t i = 0; i < COUNT(types); i++) {
        judge(kit, FORMAT_g, REFUSED,
              text_of(kit, "model m(x: %s[2]) -> (y) { y = x }\n", types[i]));
        judge(kit, FORMAT_tir, REFUSED,
              graph_of(kit,
                       text_of(kit, "%%2 = param name=\"p\" value=none : %s[2]", types[i]).data,
                       "%2"));
    }
    static const char *const orders[] = {"'False'", "0", "None", "true", "FALSE", "'C'"};
    for (size_t i = 0; i < COUNT(orders); i++)
        judge(kit, FORMAT_npy, REFUSED, one_array(kit, "'<f4'", orders[i], "(1,)", 4));
    // Big-endian arrays and those in Fortran order arrive as what they mean.
    Str columns = STR("\0\1\0\2\0\3\0\4\0\5\0\6");
    judge_bytes(kit, FORMAT_npy,
                make_npy(kit->arena, 1,
                         STR("{'descr': '>i2', 'fortran_order': False, 'shape': (2, 3), }\n"),
                         columns),
                STR("\1\0\2\0\3\0\4\0\5\0\6\0"));
    judge_bytes(kit, FORMAT_npy,
                make_npy(kit->arena, 1,
                         STR("{'descr': '>i2', 'fortran_order': True, 'shape': (2, 3), }\n"),
                         columns),
                STR("\1\0\3\0\5\0\2\0\4\0\6\0"));
}

// Every bit of a payload arrives: quiet and signalling NaNs, infinities, -0, denormals.
static void make_payload_bits(Kit *kit) {
    static const struct {
        const char *name, *descr;
        size_t size;
    } dtypes[] = {{"\"F8_E4M3\"", NULL, 1}, {"\"F8_E5M2\"", NULL, 1}, {"\"F16\"", "'<f2'", 2},
                  {"\"BF16\"", NULL, 2},    {"\"F32\"", "'<f4'", 4},  {"\"F64\"", "'<f8'", 8}};
    for (size_t i = 0; i < COUNT(dtypes); i++) {
        size_t n = dtypes[i].size;
        char patterns[8 * 8];
        for (size_t k = 0; k < 8; k++) // the upper two bytes decide; below them a payload
            for (size_t b = 0; b < n; b++)
                patterns[k * n + b] = (char)(b + 1 == n   ? "\x7f\xff\x7f\x80\x00\x7c\xfc\x7e"[k]
                                             : b + 2 == n ? "\x80\xbf\xa0\x00\x00\x01\x00\xff"[k]
                                                          : (int)(k * 37 + b));
        Str bytes = {arena_copy(kit->arena, patterns, 8 * n), 8 * n};
        Str header = text_of(kit, "{\"a\":{\"dtype\":%s,\"shape\":[8],\"data_offsets\":[0,%zu]}}",
                             dtypes[i].name, 8 * n);
        judge_bytes(kit, FORMAT_safetensors, make_safetensors(kit->arena, header, bytes), bytes);
        for (size_t k = 0; k < 8; k++) { // and each alone
            Str one = {bytes.data + k * n, n};
            Str alone = text_of(kit, "{\"a\":{\"dtype\":%s,\"shape\":[],\"data_offsets\":[0,%zu]}}",
                                dtypes[i].name, n);
            judge_bytes(kit, FORMAT_safetensors, make_safetensors(kit->arena, alone, one), one);
        }
        if (!dtypes[i].descr) continue;
        Str array =
            make_npy(kit->arena, 1,
                     text_of(kit, "{'descr': %s, 'fortran_order': False, 'shape': (8,), }\n",
                             dtypes[i].descr),
                     bytes);
        judge_bytes(kit, FORMAT_npy, array, bytes);
        judge_bytes(kit, FORMAT_npz, archive_of(kit, array, false), bytes);
        judge_bytes(kit, FORMAT_npz, archive_of(kit, array, true), bytes);
    }
}

const Kind text_kinds[] = {
    {"M19", "names, keys, outputs and attributes twice", make_duplicates},
    {"M20", "bytes that are no text, names that write to a terminal", make_bytes},
    {"M21", "nesting of 100,000 levels", make_nested},
    {"M22", "numbers that are none or too large, other locales", make_numbers},
    {"M28", "dtypes that are unknown, code, structured or swapped", make_dtypes},
    {"M32", "NaN, infinite and denormal weights (legal)", make_payload_bits},
    {NULL, NULL, NULL}};
