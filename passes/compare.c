#include "passes/compare.h"

#include <string.h>

static bool same_words(const void *a, const void *b, size_t size) {
    return !size || !memcmp(a, b, size);
}

static bool same_node(const Node *a, const Node *b) {
    bool same = a->op == b->op && a->type == b->type && a->arg_count == b->arg_count &&
                a->region_count == b->region_count &&
                same_words(a->args, b->args, a->arg_count * sizeof *a->args) &&
                same_words(a->attrs, b->attrs, op_info(a->op)->attr_count * sizeof *a->attrs);
    for (uint32_t i = 0; same && i < a->region_count; i++) {
        same = a->regions[i] == b->regions[i] || graph_equal(a->regions[i], b->regions[i]);
    }
    return same;
}

bool graph_equal(const Graph *a, const Graph *b) {
    bool same = a->nodes.count == b->nodes.count && a->outputs.count == b->outputs.count;
    for (size_t i = 0; same && i < a->nodes.count; i++) {
        same = same_node(&a->nodes.data[i], &b->nodes.data[i]);
    }
    for (size_t i = 0; same && i < a->outputs.count; i++) {
        same = a->outputs.data[i].node == b->outputs.data[i].node &&
               a->outputs.data[i].name == b->outputs.data[i].name;
    }
    return same;
}

uint64_t graph_hash(const Graph *graph) {
    uint64_t hash = hash_word(graph->nodes.count, graph->outputs.count);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const Node *node = &graph->nodes.data[i];
        hash = hash_word(hash_word(hash, node->op), node->type->id);
        hash = hash_bytes(hash, node->args, node->arg_count * sizeof *node->args);
        hash = hash_bytes(hash, node->attrs, op_info(node->op)->attr_count * sizeof *node->attrs);
        for (uint32_t r = 0; r < node->region_count; r++) {
            hash = hash_word(hash, graph_hash(node->regions[r]));
        }
    }
    for (size_t i = 0; i < graph->outputs.count; i++) {
        hash = hash_word(hash, graph->outputs.data[i].node);
    }
    return hash;
}

uint32_t graph_size(const Graph *graph) {
    uint32_t count = (uint32_t)graph->nodes.count;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const Node *node = &graph->nodes.data[i];
        for (uint32_t r = 0; r < node->region_count; r++) count += graph_size(node->regions[r]);
    }
    return count;
}
