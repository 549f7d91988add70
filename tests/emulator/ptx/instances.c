#include "tests/emulator/ptx/instances.h"

#include "emulator/ptx/grammar.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct Maker {
    Buf *out;
    Grammar *grammar;
    uint64_t random;
    bool tensor;   // the row is a product of matrices
    int constant;  // where one is asked for; 0: the first that is allowed
    int registers; // of the next operand
} Maker;

// What is chosen of a form's items: a word each, "" for none.
typedef struct Choice {
    char words[FORM_ITEMS][40];
    int types[PTX_TYPES], type_count;
    int vector, n;
    bool has_k; // of shapes: products have one, moves do not
    PtxModifiers modifiers;
    PtxModifier spaces[4];
    int space_count;
} Choice;

static uint64_t draw(Maker *maker, uint64_t below) {
    maker->random = maker->random * 6364136223846793005u + 1442695040888963407u;
    return (maker->random >> 33) % below;
}

// ---- the words of a form --------------------------------------------------------------------

static int count_options(const FormItem *item) {
    int count = item->kind == WORD_shape ? (item->rule == SHAPE_exact ? item->shape_count : 4) : 0;
    count += __builtin_popcountll(item->types);
    count += __builtin_popcount((unsigned)item->vectors);
    for (int w = 0; w < 4; w++) count += __builtin_popcountll(item->modifiers.words[w]);
    return count + item->optional;
}

static void choose_shape(const FormItem *item, int option, bool has_k, Choice *choice, char *word) {
    static const int ns[] = {8, 64, 144, 256};
    const uint8_t *shape = item->shapes[item->rule == SHAPE_exact ? option : 0];
    int n = item->rule == SHAPE_exact ? shape[1] : ns[option];
    choice->n = n;
    int length = sprintf(word, "m%dn%d", shape[0], n);
    if (has_k) sprintf(word + length, "k%d", shape[2] ? shape[2] : 256);
}

// The option-th word of the item; the last of an optional one is nothing.
static void choose(const FormItem *item, int option, Choice *choice, char *word) {
    word[0] = 0;
    if (item->kind == WORD_shape) {
        choose_shape(item, option, choice->has_k, choice, word);
        return;
    }
    for (int t = 0; t < PTX_TYPE_count; t++)
        if (item->types >> t & 1 && option-- == 0) {
            strcpy(word, ptx_type_name((PtxType)t));
            choice->types[choice->type_count++] = t;
            return;
        }
    for (int v = 2; v <= 8; v *= 2)
        if (item->vectors & v && option-- == 0) {
            sprintf(word, "v%d", v);
            choice->vector = v;
            return;
        }
    for (int m = 0; m < PTX_MOD_count; m++)
        if (ptx_has(&item->modifiers, (PtxModifier)m) && option-- == 0) {
            strcpy(word, ptx_modifier_text((PtxModifier)m));
            choice->modifiers.words[m / 64] |= (uint64_t)1 << (m % 64);
            if (item->kind == WORD_space) choice->spaces[choice->space_count++] = (PtxModifier)m;
            return;
        }
}

// Options of all items; item `fixed` has option `option`, the others their first or a random one.
static Choice choose_all(Maker *maker, const Form *form, int fixed, int option, bool random) {
    Choice choice = {.vector = 1, .n = 8, .has_k = maker->tensor};
    bool before = false;
    for (int i = 0; i < form->item_count; i++) {
        const FormItem *item = &form->items[i];
        int options = count_options(item);
        int chosen =
            random ? (int)draw(maker, (uint64_t)options) : (item->optional ? options - 1 : 0);
        if (i == fixed) chosen = option;
        if (item->joined) chosen = before ? 0 : options - 1;
        choose(item, chosen, &choice, choice.words[i]);
        before = choice.words[i][0];
    }
    return choice;
}

// ---- operands -------------------------------------------------------------------------------

// The register type for a type: itself where it can be declared, else bits.
static const char *register_type(PtxType type) {
    static const PtxType own[] = {PTX_TYPE_u16, PTX_TYPE_u32, PTX_TYPE_u64,
                                  PTX_TYPE_s16, PTX_TYPE_s32, PTX_TYPE_s64,
                                  PTX_TYPE_f32, PTX_TYPE_f64, PTX_TYPE_pred};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i] == type) return ptx_type_name(type);
    int bits = ptx_type_bits(type);
    return bits <= 16 ? "b16" : bits <= 32 ? "b32" : bits <= 64 ? "b64" : "b128";
}

static PtxType type_of(const FormOperand *operand, const Choice *choice) {
    if (operand->written_type < 0) return operand->type;
    PtxType type = (PtxType)choice->types[operand->written_type];
    if (choice->type_count <= operand->written_type) return PTX_TYPE_u32;
    if (!operand->wide) return type;
    return type == PTX_TYPE_u16   ? PTX_TYPE_u32
           : type == PTX_TYPE_s16 ? PTX_TYPE_s32
           : type == PTX_TYPE_u32 ? PTX_TYPE_u64
                                  : PTX_TYPE_s64;
}

static void put_register(Maker *maker, Buf *buf, PtxType type) {
    buf_print(buf, "%%%s_%d", register_type(type), maker->registers++ % 300);
}

static int dimensions(const Choice *choice) {
    for (int dim = 1; dim <= 5; dim++)
        if (ptx_has(&choice->modifiers, (PtxModifier)(PTX_MOD_dim_1d + dim - 1))) return dim;
    return 0;
}

static int parts_of(const FormOperand *operand, const Choice *choice) {
    switch (operand->parts) {
    case PARTS_one: return 0;
    case PARTS_vector: return choice->vector > 1 ? choice->vector : 0;
    case PARTS_fixed: return operand->count;
    case PARTS_half_n: return choice->n / 2;
    case PARTS_quarter_n: return choice->n / 4;
    case PARTS_dim_minus_2: return dimensions(choice) - 2;
    case PARTS_pack: return 2;
    }
    return 0;
}

static void put_value(Maker *maker, Buf *buf, const FormOperand *operand, const Choice *choice) {
    PtxType type = type_of(operand, choice);
    int parts = parts_of(operand, choice);
    if (operand->left_out) {
        buf_char(buf, '_');
        return;
    }
    if (operand->constant) {
        long long first = operand->allowed.size ? atoll(operand->allowed.data) : 1;
        buf_print(buf, "%lld", maker->constant ? maker->constant : first);
        return;
    }
    if (operand->parts == PARTS_pack)
        type = ptx_type_bits(type) == 16   ? PTX_TYPE_b8
               : ptx_type_bits(type) == 32 ? PTX_TYPE_b16
               : ptx_type_bits(type) == 64 ? PTX_TYPE_b32
                                           : PTX_TYPE_b64;
    if (parts == 0) {
        put_register(maker, buf, type);
        return;
    }
    for (int i = 0; i < parts; i++) {
        buf_print(buf, i ? ", " : "{");
        if (operand->parts == PARTS_pack && type == PTX_TYPE_b8)
            buf_print(buf, "%%b8_%d", i);
        else
            put_register(maker, buf, type);
    }
    buf_char(buf, '}');
}

static void put_tensor(Buf *buf, const Choice *choice) {
    bool rows = ptx_has(&choice->modifiers, PTX_MOD_tile_gather4) ||
                ptx_has(&choice->modifiers, PTX_MOD_tile_scatter4);
    int count = rows ? 5 : dimensions(choice);
    buf_print(buf, "[%%b64_0, {");
    for (int i = 0; i < count; i++) buf_print(buf, "%s%%s32_%d", i ? ", " : "", i);
    buf_print(buf, "}]");
}

static void put_operand(Maker *maker, Buf *buf, const FormOperand *operand, const Choice *choice,
                        PtxModifier space) {
    bool is_shared =
        space == PTX_MOD_shared || space == PTX_MOD_shared_cta || space == PTX_MOD_shared_cluster;
    switch (operand->shape) {
    case OPERAND_value: put_value(maker, buf, operand, choice); break;
    case OPERAND_address:
        buf_print(buf, is_shared || operand->name == 'm' ? "[%%b32_0]" : "[%%b64_0]");
        break;
    case OPERAND_tensor: put_tensor(buf, choice); break;
    case OPERAND_label: buf_print(buf, "there"); break;
    case OPERAND_targets: buf_print(buf, "targets"); break;
    case OPERAND_call: buf_print(buf, "function"); break;
    }
}

// What is optional is there when `all`.
static void put_operands(Maker *maker, Buf *buf, const Form *form, const Choice *choice, bool all) {
    int shown = 0, addresses = 0;
    maker->registers = 0;
    for (int i = 0; i < form->operand_count; i++) {
        const FormOperand *operand = &form->operands[i];
        if (operand->optional && !all) continue;
        if (operand->needed_by >= 0 &&
            !ptx_has(&choice->modifiers, (PtxModifier)operand->needed_by))
            continue;
        bool address = operand->shape == OPERAND_address || operand->shape == OPERAND_tensor;
        PtxModifier space = PTX_MOD_global;
        if (address && addresses < choice->space_count) space = choice->spaces[addresses];
        addresses += address;
        buf_print(buf, shown++ ? ", " : " ");
        put_operand(maker, buf, operand, choice, space);
        if (!operand->paired) continue;
        if (!operand->pair_optional || all) {
            buf_char(buf, '|');
            put_operand(maker, buf, operand + 1, choice, space);
        }
        i++;
    }
}

// ---- instances ------------------------------------------------------------------------------

static void put_instance(Maker *maker, PtxRow row, const Form *form, const Choice *choice,
                         int without, const char *extra, bool all) {
    Buf *buf = maker->out;
    buf_print(buf, "%s", ptx_row_text(row));
    for (int i = 0; i < form->item_count; i++)
        if (choice->words[i][0] && i != without) buf_print(buf, ".%s", choice->words[i]);
    if (extra) buf_print(buf, ".%s", extra);
    put_operands(maker, buf, form, choice, all);
    buf_print(buf, ";\n");
}

// One word less, one more, another type.
static void put_twists(Maker *maker, PtxRow row, const Form *form, const Choice *choice) {
    int item = (int)draw(maker, (uint64_t)form->item_count + 1);
    if (item < form->item_count && choice->words[item][0])
        put_instance(maker, row, form, choice, item, NULL, false);
    PtxModifier extra = (PtxModifier)draw(maker, PTX_MOD_count);
    put_instance(maker, row, form, choice, -1, ptx_modifier_text(extra), false);
    maker->constant = 1 + (int)draw(maker, 40);
    put_instance(maker, row, form, choice, -1, NULL, false);
    maker->constant = 0;
    for (int i = 0; i < form->item_count; i++) {
        Choice other = *choice;
        if (form->items[i].kind != WORD_type || draw(maker, 3)) continue;
        PtxType type = (PtxType)(1 + draw(maker, PTX_TYPE_f32x2 - 1));
        int index = 0;
        for (int k = 0; k < i; k++) index += form->items[k].kind == WORD_type;
        strcpy(other.words[i], ptx_type_name(type));
        other.types[index] = (int)type;
        put_instance(maker, row, form, &other, -1, NULL, false);
    }
}

static void list_form(Maker *maker, PtxRow row, const Form *form, int count) {
    Choice first = choose_all(maker, form, -1, 0, false);
    put_instance(maker, row, form, &first, -1, NULL, false);
    put_instance(maker, row, form, &first, -1, NULL, true);
    for (int i = 0; i < form->item_count; i++)
        for (int option = 0; option < count_options(&form->items[i]); option++) {
            Choice choice = choose_all(maker, form, i, option, false);
            put_instance(maker, row, form, &choice, -1, NULL, false);
        }
    for (int i = 0; i < count; i++) {
        Choice choice = choose_all(maker, form, -1, 0, true);
        put_instance(maker, row, form, &choice, -1, NULL, draw(maker, 2));
        put_twists(maker, row, form, &choice);
    }
}

static bool skipped(PtxRow row) {
    return ptx_row_flags(row) & PTX_IS_UNSUPPORTED || row == PTX_call;
}

static const Form *const *forms_of(Maker *maker, PtxRow row) {
    maker->tensor = ptx_row_flags(row) & PTX_IS_TENSOR;
    return grammar_forms(maker->grammar, row);
}

void instances_list(Grammar *grammar, Buf *out, int count, uint64_t seed) {
    Maker maker = {.out = out, .grammar = grammar, .random = seed};
    for (int row = 0; row < PTX_row_count; row++) {
        if (skipped((PtxRow)row)) continue;
        const Form *const *forms = forms_of(&maker, (PtxRow)row);
        for (int i = 0; forms[i]; i++) list_form(&maker, (PtxRow)row, forms[i], count);
    }
}

void instances_draw(Grammar *grammar, Buf *out, uint64_t seed) {
    Maker maker = {.out = out, .grammar = grammar, .random = seed};
    PtxRow row;
    do row = (PtxRow)draw(&maker, PTX_row_count);
    while (skipped(row));
    const Form *const *forms = forms_of(&maker, row);
    int count = 0;
    while (forms[count]) count++;
    const Form *form = forms[draw(&maker, (uint64_t)count)];
    Choice choice = choose_all(&maker, form, -1, 0, true);
    put_instance(&maker, row, form, &choice, -1, NULL, draw(&maker, 2));
}

// ---- modules --------------------------------------------------------------------------------

void instances_head(Buf *buf, const char *target, const char *version) {
    static const char *const types[] = {"b8",  "b16", "b32", "b64", "b128", "u16", "u32",
                                        "u64", "s16", "s32", "s64", "f32",  "f64", "pred"};
    buf_print(buf, ".version %s\n.target %s\n.address_size 64\n", version, target);
    buf_print(buf, ".visible .entry kernel() {\n");
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i], "b128") != 0 || strcmp(version, "8.3") >= 0)
            buf_print(buf, ".reg .%s %%%s_<300>;\n", types[i], types[i]);
    buf_print(buf, "there: targets: .branchtargets there;\n");
}
