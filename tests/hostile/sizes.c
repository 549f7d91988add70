// M8 to M18: lengths, counts, shapes and offsets that lie.
#include "tests/hostile/hostile.h"

#include <string.h>

static const uint64_t lengths[] = {0,
                                   1,
                                   2,
                                   7,
                                   9,
                                   0xff,
                                   0xffff,
                                   10000,
                                   10001,
                                   UINT64_C(0x7fffffff),
                                   UINT64_C(0x80000000),
                                   UINT64_C(0xffffffff),
                                   UINT64_C(0x100000000),
                                   100000000,
                                   100000001,
                                   INT64_MAX,
                                   UINT64_C(1) << 63,
                                   UINT64_MAX - 8,
                                   UINT64_MAX - 7,
                                   UINT64_MAX};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void patch_each(Kit *kit, Format format, Verdict verdict, Str whole, size_t at,
                       unsigned bytes) {
    for (size_t i = 0; i < LENGTHS; i++) {
        if (bytes < 8 && lengths[i] >> (8 * bytes) != 0) continue;
        judge(kit, format, verdict, patched(kit->arena, whole, at, lengths[i], bytes));
    }
}

static void make_header_lengths(Kit *kit) {
    Str tensors = good_file(kit, FORMAT_safetensors), array = good_file(kit, FORMAT_npy);
    patch_each(kit, FORMAT_safetensors, REFUSED, tensors, 0, 8);
    judge(kit, FORMAT_safetensors, REFUSED, patched(kit->arena, tensors, 0, tensors.size - 8, 8));
    judge(kit, FORMAT_safetensors, REFUSED, patched(kit->arena, tensors, 0, tensors.size - 7, 8));
    patch_each(kit, FORMAT_npy, REFUSED, array, 8, 2);
    Str second =
        make_npy(kit->arena, 2, STR("{'descr': '<f4', 'fortran_order': False, 'shape': (), }\n"),
                 STR("abcd"));
    judge(kit, FORMAT_npy, ACCEPTED, second);
    patch_each(kit, FORMAT_npy, REFUSED, second, 8, 4);
}

// Shapes as JSON and as Python tuples, whose bytes do not fit 63 bits, or are more than there are.
static const char *const great_shapes[] = {"4294967296,4294967296",
                                           "9223372036854775807",
                                           "9223372036854775807,2",
                                           "4611686018427387904",
                                           "4611686018427387904,4",
                                           "2305843009213693952",
                                           "65536,65536,65536,65536",
                                           "3037000500,3037000500",
                                           "2147483647,2147483647,2147483647",
                                           "1,9223372036854775807,3",
                                           "0,9223372036854775807,9223372036854775807",
                                           "9223372036854775808",
                                           "18446744073709551615",
                                           "18446744073709551616",
                                           "99999999999999999999999",
                                           "65536,65536",
                                           "1000000000000",
                                           "4294967297,4294967295",
                                           "2,4611686018427387903",
                                           "2305843009213693951",
                                           "576460752303423488,4"};

static void make_great_shapes(Kit *kit) {
    for (size_t i = 0; i < sizeof great_shapes / sizeof *great_shapes; i++) {
        const char *shape = great_shapes[i];
        Str list = text_of(kit, "[%s]", shape), tuple = text_of(kit, "(%s,)", shape);
        judge(kit, FORMAT_safetensors, REFUSED, one_tensor(kit, "\"F64\"", list.data, "[0,8]", 8));
        Str array = one_array(kit, "'<f8'", "False", tuple.data, 8);
        judge(kit, FORMAT_npy, REFUSED, array);
        judge(kit, FORMAT_npz, REFUSED, archive_of(kit, array, i % 2));
        judge(kit, FORMAT_g, REFUSED,
              model_of(kit, text_of(kit, "zeros([%s, 8589934592])", shape).data));
        judge(
            kit, FORMAT_tir, REFUSED,
            graph_of(
                kit,
                text_of(kit, "%%2 = param name=\"p\" value=none : f64[%s, 8589934592]", shape).data,
                "%2"));
        judge(kit, FORMAT_tir, REFUSED,
              graph_of(kit, text_of(kit, "%%2 = const value=[1] : f64[%s]", shape).data, "%2"));
    }
}

static void make_odd_shapes(Kit *kit) {
    static const char *const wrong[] = {"-1",   "-9223372036854775808",
                                        "2,-1", "1,1,1,1,1,1,1,1,1",
                                        "1.5",  "1e2",
                                        "null", "\"2\"",
                                        "[2]",  "true",
                                        "0x2",  "+2",
                                        "02",   "2,,1",
                                        "-0,-1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        judge(kit, FORMAT_safetensors, REFUSED,
              one_tensor(kit, "\"U8\"", text_of(kit, "[%s]", wrong[i]).data, "[0,2]", 2));
        judge(kit, FORMAT_npy, REFUSED,
              one_array(kit, "'|u1'", "False", text_of(kit, "(%s,)", wrong[i]).data, 2));
        judge(kit, FORMAT_tir, REFUSED,
              graph_of(kit,
                       text_of(kit, "%%2 = param name=\"p\" value=none : u8[%s]", wrong[i]).data,
                       "%2"));
    }
    Str many = repeated(kit, "[1", ",1", 1000000, "]");
    judge(kit, FORMAT_safetensors, REFUSED, one_tensor(kit, "\"U8\"", many.data, "[0,1]", 1));
    judge(kit, FORMAT_npy, REFUSED,
          one_array(kit, "'|u1'", "False", repeated(kit, "(1", ",1", 3000, ")").data, 1));
    judge(kit, FORMAT_g, REFUSED,
          model_of(kit, repeated(kit, "zeros([1", ",1", 1000000, "])").data));
    judge(
        kit, FORMAT_tir, REFUSED,
        graph_of(kit,
                 repeated(kit, "%2 = param name=\"p\" value=none : u8[1", ",1", 1000000, "]").data,
                 "%2"));
    // Zero dims and no dims are legal.
    judge_bytes(kit, FORMAT_safetensors, one_tensor(kit, "\"F32\"", "[]", "[0,4]", 4),
                STR("\0\0\0\0"));
    judge_bytes(kit, FORMAT_safetensors, one_tensor(kit, "\"F32\"", "[0]", "[0,0]", 0), STR(""));
    judge_bytes(kit, FORMAT_safetensors, one_tensor(kit, "\"F32\"", "[5,0,3]", "[0,0]", 0),
                STR(""));
    judge_bytes(kit, FORMAT_npy, one_array(kit, "'<f4'", "False", "()", 4), STR("\0\0\0\0"));
    judge_bytes(kit, FORMAT_npy, one_array(kit, "'<f4'", "True", "(0, 7)", 0), STR(""));
    judge_bytes(kit, FORMAT_npz,
                archive_of(kit, one_array(kit, "'<f4'", "False", "(3, 0)", 0), true), STR(""));
    judge(kit, FORMAT_g, ACCEPTED, model_of(kit, "zeros([0, 3])"));
    judge(kit, FORMAT_g, ACCEPTED, model_of(kit, "zeros([])"));
    judge(kit, FORMAT_tir, ACCEPTED, graph_of(kit, "%2 = const value=[] : f32[0, 3]", "%2"));
    judge(kit, FORMAT_tir, ACCEPTED, graph_of(kit, "%2 = const value=[1] : f32[]", "%2"));
}

// One byte or one element too few, and too many.
static void make_payloads(Kit *kit) {
    static const struct {
        const char *name, *descr;
        size_t size;
    } dtypes[] = {{"\"U8\"", "'|u1'", 1},  {"\"I16\"", "'<i2'", 2}, {"\"F16\"", "'<f2'", 2},
                  {"\"I32\"", "'<i4'", 4}, {"\"F32\"", "'<f4'", 4}, {"\"F64\"", "'<f8'", 8}};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        size_t right = 3 * dtypes[i].size,
               off[] = {right - 1, right + 1, 0, 2 * right, right - dtypes[i].size};
        for (size_t k = 0; k < sizeof off / sizeof *off; k++) {
            Str range = text_of(kit, "[0,%zu]", off[k]);
            judge(kit, FORMAT_safetensors, REFUSED,
                  one_tensor(kit, dtypes[i].name, "[3]", range.data, off[k]));
            judge(kit, FORMAT_safetensors, REFUSED,
                  one_tensor(kit, dtypes[i].name, "[3]", text_of(kit, "[0,%zu]", right).data,
                             off[k]));
            Str array = one_array(kit, dtypes[i].descr, "False", "(3,)", off[k]);
            judge(kit, FORMAT_npy, REFUSED, array);
            judge(kit, FORMAT_npz, REFUSED, archive_of(kit, array, k % 2));
        }
    }
    static const char *const constants[] = {
        "[1, 2] : i4[3]", "[1, 2, 3, 4] : i4[3]", "[] : i4[1]",  "[8] : i4[1]",     "[-9] : i4[1]",
        "[16] : u4[1]",   "[-1] : u4[1]",         "[1] : u4[0]", "[1, 2] : f32[1]", "[1] : f32[2]"};
    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        judge(kit, FORMAT_tir, REFUSED,
              graph_of(kit, text_of(kit, "%%2 = const value=%s", constants[i]).data, "%2"));
    judge(kit, FORMAT_tir, ACCEPTED, graph_of(kit, "%2 = const value=[1, -8, 7] : i4[3]", "%2"));
}

// How many there are of something: of members, of sections, of names.
static void make_counts(Kit *kit) {
    Str zip = good_file(kit, FORMAT_npz), so = good_file(kit, FORMAT_so);
    size_t end = zip.size - 22;
    for (size_t i = 0; i < LENGTHS; i++) // of the whole archive, then also of this part
        if (lengths[i] != 1 && lengths[i] >> 16 == 0)
            judge(kit, FORMAT_npz, REFUSED, patched(kit->arena, zip, end + 10, lengths[i], 2));
    for (size_t i = 0; i < LENGTHS; i++) {
        if (lengths[i] >> 16 || lengths[i] == 1) continue;
        judge(kit, FORMAT_npz, REFUSED,
              patched(kit->arena, patched(kit->arena, zip, end + 8, lengths[i], 2), end + 10,
                      lengths[i], 2));
    }
    judge(kit, FORMAT_npz, REFUSED, patched(kit->arena, zip, end + 8, 2, 2));
    patch_each(kit, FORMAT_so, REFUSED, patched(kit->arena, so, 62, 0, 2), 60, 2);
    patch_each(kit, FORMAT_so, REFUSED, so, 62, 2);
    judge(kit, FORMAT_tir, REFUSED,
          graph_of(kit, "%2 = input index=4294967295 name=\"z\" : f32[1]", "%2"));
    judge(kit, FORMAT_tir, REFUSED,
          graph_of(kit,
                   "%2 = sort %0 axis=0 descending=0 : (f32[2, 3], i64[2, 3])\n %3 = item %2 "
                   "index=4294967295 : f32[2, 3]",
                   "%3"));
}

static void make_ranges(Kit *kit) { // begin after end
    static const char *const ranges[] = {"[4,0]",
                                         "[8,4]",
                                         "[5,4]",
                                         "[1,0]",
                                         "[4,4]",
                                         "[9223372036854775807,0]",
                                         "[18446744073709551615,0]",
                                         "[4,3]",
                                         "[2,1]",
                                         "[1000,4]",
                                         "[4,-4]",
                                         "[-4,0]",
                                         "[-1,3]",
                                         "[0,-4]",
                                         "[0]",
                                         "[]",
                                         "[0,4,8]",
                                         "[0,4.0]",
                                         "[null,4]",
                                         "[\"0\",4]",
                                         "{}",
                                         "4",
                                         "[[0,4]]"};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        judge(kit, FORMAT_safetensors, REFUSED, one_tensor(kit, "\"F32\"", "[1]", ranges[i], 8));
}

// Past the end of the file, M14, or so far that begin plus length wraps, M18.
static void make_ends(Kit *kit) {
    Str so = good_file(kit, FORMAT_so), zip = good_file(kit, FORMAT_npz);
    for (uint64_t past = 1; past < 12; past++)
        judge(kit, FORMAT_safetensors, REFUSED,
              one_tensor(kit, "\"U8\"", text_of(kit, "[%llu]", 4 + (unsigned long long)past).data,
                         text_of(kit, "[0,%llu]", 4 + (unsigned long long)past).data, 4));
    for (int section = 1; section < 4; section++) // the place of each section, and its size
        for (size_t field = 24; field <= 32; field += 8)
            for (uint64_t past = so.size + 1; past < so.size + 4; past++)
                judge(kit, FORMAT_so, REFUSED,
                      patched(kit->arena, so, 64 + 64 * (size_t)section + field, past, 8));
    for (uint64_t past = zip.size - 21; past < zip.size + 3;
         past++) // of the directory, and of the member
        judge(kit, FORMAT_npz, REFUSED, patched(kit->arena, zip, zip.size - 6, past, 4));
}

static void make_wraps(Kit *kit) {
    Str so = good_file(kit, FORMAT_so), zip = good_file(kit, FORMAT_npz);
    static const uint64_t far[] = {UINT64_MAX,        UINT64_MAX - 7, UINT64_MAX - 63,
                                   UINT64_C(1) << 63, INT64_MAX,      UINT64_MAX - 400};
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        unsigned long long v = far[i];
        judge(kit, FORMAT_safetensors, REFUSED,
              one_tensor(kit, "\"U8\"", "[4]", text_of(kit, "[%llu,%llu]", v, v + 4).data, 4));
        judge(kit, FORMAT_so, REFUSED, patched(kit->arena, so, 40, v, 8));
        for (size_t section = 1; section < 4; section++) {
            judge(kit, FORMAT_so, REFUSED, patched(kit->arena, so, 64 + 64 * section + 24, v, 8));
            judge(kit, FORMAT_so, REFUSED, patched(kit->arena, so, 64 + 64 * section + 32, v, 8));
        }
        judge(kit, FORMAT_npz, REFUSED,
              patched(kit->arena, zip, zip.size - 10, v & UINT32_MAX, 4)); // the directory's size
        judge(kit, FORMAT_npz, REFUSED,
              patched(kit->arena, zip, zip.size - 6, v & UINT32_MAX, 4)); // its place
    }
}

// Two tensors, of which one lies at `range`; the data are 16 bytes.
static Str two_tensors(Kit *kit, const char *first, const char *second) {
    Str header = text_of(
        kit, "{\"a\":{\"dtype\":\"U8\",\"shape\":%s},\"b\":{\"dtype\":\"U8\",\"shape\":%s}}", first,
        second);
    return make_safetensors(kit->arena, header, STR("0123456789abcdef"));
}

static Str range(Kit *kit, int from, int to) {
    return text_of(kit, "[%d],\"data_offsets\":[%d,%d]", to - from, from, to);
}

static void make_overlaps(Kit *kit) {
    for (int from = 1; from < 8; from++) // the second begins inside the first
        for (int to = 9; to <= 16; to += 7)
            judge(kit, FORMAT_safetensors, REFUSED,
                  two_tensors(kit, range(kit, 0, 8).data, range(kit, from, to).data));
    for (int from = 0; from < 8; from++)
        judge(kit, FORMAT_safetensors, REFUSED,
              two_tensors(kit, range(kit, 0, 16).data, range(kit, from, from + 4).data));
    judge(kit, FORMAT_safetensors, REFUSED,
          two_tensors(kit, range(kit, 0, 16).data, range(kit, 0, 16).data));
    judge_bytes(kit, FORMAT_safetensors,
                two_tensors(kit, range(kit, 8, 16).data, range(kit, 0, 8).data), STR("01234567"));
    // Two members of an archive over the same bytes.
    ZipSpec specs[] = {{STR("a.npy"), good_file(kit, FORMAT_npy), false, false},
                       {STR("b.npy"), good_file(kit, FORMAT_npy), false, false}};
    Str zip = make_zip(kit->arena, specs, 2, false, STR(""));
    judge(kit, FORMAT_npz, ACCEPTED, zip);
    for (size_t at = 0; at + 46 < zip.size; at++)
        if (memcmp(zip.data + at, "PK\1\2", 4) == 0 && zip.data[at + 46] == 'b')
            for (uint64_t place = 0; place < 8; place++)
                judge(kit, FORMAT_npz, REFUSED, patched(kit->arena, zip, at + 42, place, 4));
}

static void make_holes(Kit *kit) {
    for (int from = 9; from < 16; from++) {
        judge(kit, FORMAT_safetensors, REFUSED,
              two_tensors(kit, range(kit, 0, 8).data, range(kit, from, 16).data));
        judge(kit, FORMAT_safetensors, REFUSED,
              two_tensors(kit, range(kit, 0, from - 8).data, range(kit, from, 16).data));
        judge(kit, FORMAT_safetensors, REFUSED,
              two_tensors(kit, range(kit, from - 8, 8).data, range(kit, 8, 16).data));
    }
    judge_bytes(kit, FORMAT_safetensors,
                two_tensors(kit, range(kit, 0, 8).data, range(kit, 8, 16).data), STR("01234567"));
}

// A begin that is no multiple of the element is legal: the bytes arrive as they are.
static void make_misaligned(Kit *kit) {
    static const struct {
        const char *name;
        int size;
    } dtypes[] = {{"I16", 2}, {"F16", 2}, {"BF16", 2}, {"I32", 4},
                  {"F32", 4}, {"I64", 8}, {"F64", 8}};
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        for (int begin = 1; begin < 8; begin += 2) {
            int end = begin + dtypes[i].size;
            Str header = text_of(kit,
                                 "{\"z\":{\"dtype\":\"%s\",\"shape\":[1],\"data_offsets\":[%d,%d]},"
                                 "\"p\":{\"dtype\":\"U8\",\"shape\":[%d],"
                                 "\"data_offsets\":[0,%d]}}",
                                 dtypes[i].name, begin, end, begin, begin);
            Str data = {"0123456789abcdef", (size_t)end};
            judge(kit, FORMAT_safetensors, ACCEPTED, make_safetensors(kit->arena, header, data));
            const Weight *z = weights_find(kit->weights.table, STR("z"));
            if (!z || memcmp(z->bytes, data.data + begin, (size_t)dtypes[i].size) != 0)
                kit->failed++;
        }
}

const Kind size_kinds[] = {{"M8", "lengths of headers", make_header_lengths},
                           {"M9", "dims whose product wraps", make_great_shapes},
                           {"M10", "dims that are negative, none, or too many", make_odd_shapes},
                           {"M11", "payloads too short or too long", make_payloads},
                           {"M12", "counts of what is not there", make_counts},
                           {"M13", "a begin behind its end", make_ranges},
                           {"M14", "ends behind the end of the file", make_ends},
                           {"M15", "tensors and members that overlap", make_overlaps},
                           {"M16", "holes between tensors", make_holes},
                           {"M17", "begins that are not aligned (legal)", make_misaligned},
                           {"M18", "an offset and a length that wrap", make_wraps},
                           {NULL, NULL, NULL}};
