/* Reasons: why ops stand in different kernels, as data for `tcc explain`. */
#include "passes/fuse/fuse.h"

Refusal refusal(const char *rule, const char *text) {
    return (Refusal){.rule = rule, .text = text};
}
