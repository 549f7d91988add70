/* Which passes run: from the level or from a list of names, checked against needs, gives and order.
 */
#include "passes/pass.h"

static const struct Order {
    PassId before, after;
    const char *reason;
} orders[] = {
#define ORDER(before, after, reason) {PASS_##before, PASS_##after, reason},
#include "passes/passes.def"
    {PASS_count, PASS_count, NULL},
};

/* Cuts the next name off a list separated by commas; false at its end. */
static bool next_name(Str *list, Str *out_name) {
    if (!list->size) return false;
    size_t n = 0;
    while (n < list->size && list->data[n] != ',') n++;
    *out_name = (Str){list->data, n};
    size_t skip = n < list->size ? n + 1 : n;
    *list = (Str){list->data + skip, list->size - skip};
    return true;
}

static bool fail(Arena *arena, const char **out_message, const char *format, Str name) {
    Buf buf = {.arena = arena};
    buf_print(&buf, format, STR_ARG(name));
    *out_message = buf_str(&buf).data;
    return false;
}

enum { MAX_ITEMS = sizeof((Pipeline *)NULL)->items / sizeof(PassId) };

static bool from_names(Str names, Arena *arena, Pipeline *out, const char **out_message) {
    for (Str name; next_name(&names, &name);) {
        PassId id;
        if (!pass_find(name, &id)) return fail(arena, out_message, "no pass \"%.*s\"", name);
        if (out->count == MAX_ITEMS) {
            return fail(arena, out_message, "too many passes at \"%.*s\"", name);
        }
        out->items[out->count++] = id;
    }
    return true;
}

/* A graph of kernels, such as --emit=ir prints, goes on behind the passes that work on ops. */
static void from_level(int level, uint32_t facts, Pipeline *out) {
    bool fused = (facts & FACT_fused) != 0 && (facts & FACT_unfused) == 0;
    for (PassId id = 0; id < PASS_count; id++) {
        const PassInfo *info = pass_info(id);
        if (fused && (info->needs & FACT_unfused) != 0) continue;
        if (level >= info->from && level <= info->to) out->items[out->count++] = id;
    }
}

static void drop(Pipeline *pipeline, PassId id) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < pipeline->count; i++) {
        if (pipeline->items[i] != id) pipeline->items[kept++] = pipeline->items[i];
    }
    pipeline->count = kept;
}

static bool is_letter_of_a_pass(char letter) {
    for (PassId id = 0; id < PASS_count; id++)
        if (pass_info(id)->letter == letter) return true;
    return false;
}

/* A dump that no pass makes would be missed in silence. */
static bool dumps_exist(const PassOptions *options, Arena *arena, const char **out_message) {
    Str names = options->dump_after, letters = options->dump_letters;
    for (Str name; next_name(&names, &name);) {
        PassId id;
        if (!str_equal(name, STR("all")) && !pass_find(name, &id))
            return fail(arena, out_message, "no pass \"%.*s\" to dump after", name);
    }
    for (size_t i = 0; i < letters.size; i++) {
        if (is_letter_of_a_pass(letters.data[i])) continue;
        return fail(arena, out_message, "no pass has the letter %.*s", (Str){letters.data + i, 1});
    }
    return true;
}

bool pipeline_from_options(const PassOptions *options, uint32_t facts, Arena *arena,
                           Pipeline *out_pipeline, const char **out_message) {
    *out_pipeline = (Pipeline){0};
    if (!options->passes.size) {
        from_level(options->level, facts, out_pipeline);
    } else if (!from_names(options->passes, arena, out_pipeline, out_message)) {
        return false;
    }
    Str skip = options->skip;
    for (Str name; next_name(&skip, &name);) {
        PassId id;
        if (!pass_find(name, &id)) return fail(arena, out_message, "no pass \"%.*s\"", name);
        drop(out_pipeline, id);
    }
    return dumps_exist(options, arena, out_message);
}

/* ---- what may stand where -------------------------------------------------------------------- */

static const char *order_fault(const Pipeline *pipeline, uint32_t at, Arena *arena) {
    for (const struct Order *order = orders; order->reason; order++) {
        if (order->before != pipeline->items[at]) continue;
        for (uint32_t i = 0; i < at; i++) {
            if (pipeline->items[i] != order->after) continue;
            return str_format(arena, "%s must stand before %s: %s", pass_info(order->before)->name,
                              pass_info(order->after)->name, order->reason)
                .data;
        }
    }
    return NULL;
}

/* What a pass that needs the fact says when it does not hold. */
static const char *fact_fault(uint32_t missing) {
    if (missing & FACT_inlined) return "calls must be inlined first";
    if (missing & FACT_unfused) return "it works on ops, not on kernels";
    return "ops must be fused into kernels first";
}

const char *pipeline_fault(const Pipeline *pipeline, uint32_t facts, Arena *arena) {
    for (uint32_t i = 0; i < pipeline->count; i++) {
        const char *fault = order_fault(pipeline, i, arena);
        if (fault) return fault;
    }
    for (uint32_t i = 0; i < pipeline->count; i++) {
        const PassInfo *info = pass_info(pipeline->items[i]);
        uint32_t missing = info->needs & ~facts;
        if (missing) {
            return str_format(arena, "%s is not possible here: %s", info->name, fact_fault(missing))
                .data;
        }
        if (!info->run && i + 1 < pipeline->count) {
            return str_format(arena, "%s makes the program, so nothing can follow it", info->name)
                .data;
        }
        facts = (facts | info->gives) & ~info->breaks;
    }
    return NULL;
}

/* ---- facts of a graph ------------------------------------------------------------------------ */

static bool stands_in_fused(const Node *node) {
    OpClass class = op_info(node->op)->class;
    return class == CLASS_LEAF || class == CLASS_KERNEL || class == CLASS_ITEM;
}

uint32_t graph_facts(const Graph *graph) {
    uint32_t facts = FACT_inlined | FACT_unfused | FACT_fused;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const Node *node = &graph->nodes.data[i];
        if (node->op == OP_call) facts &= ~(uint32_t)FACT_inlined;
        if (node->op == OP_kernel) facts &= ~(uint32_t)FACT_unfused;
        if (!stands_in_fused(node)) facts &= ~(uint32_t)FACT_fused;
        for (uint32_t r = 0; r < node->region_count; r++) {
            facts &= graph_facts(node->regions[r]) | FACT_fused;
        }
    }
    return facts;
}
