/* --target: names, `native` for this machine's best, `cpu` for every x86-64 level in one artefact.
 */
#include "compiler/session.h"
#include "runtime/features.h"

/* The last CPU target whose features are all here. */
static const Target *native_target(void) {
    const Target *best = NULL;
    uint32_t have = cpu_features();
    for (uint32_t i = 0; target_at(i) != NULL; i++) {
        const Target *target = target_at(i);
        if (target->kind == TARGET_cpu && (target->features & ~have) == 0) best = target;
    }
    return best;
}

/* Whether it is a level of x86-64 and no more. */
static bool is_level(const Target *target) {
    const uint32_t levels = FEATURE_avx2 | FEATURE_avx512;
    return target->kind == TARGET_cpu && (target->features & ~levels) == 0;
}

static tcc_status add_target(tcc_unit *unit, const Target *target) {
    if (target->kind == TARGET_gpu) {
        if (unit->core->gpu != NULL && unit->core->gpu != target)
            return compiler_fail(unit->compiler, TCC_INVALID, "--target: only one GPU at a time");
        unit->core->gpu = target;
        return TCC_OK;
    }
    for (uint32_t i = 0; i < unit->core->target_count; i++)
        if (unit->core->targets[i] == target) return TCC_OK;
    if (unit->core->target_count == MAX_TARGETS)
        return compiler_fail(unit->compiler, TCC_INVALID, "--target: too many targets");
    uint32_t at = unit->core->target_count++;
    while (at > 0 && unit->core->targets[at - 1]->features > target->features) {
        unit->core->targets[at] = unit->core->targets[at - 1];
        at--;
    }
    unit->core->targets[at] = target;
    return TCC_OK;
}

static tcc_status add_named(tcc_unit *unit, Str name) {
    if (str_equal(name, STR("native"))) {
        const Target *native = native_target();
        if (native != NULL) return add_target(unit, native);
        return compiler_fail(unit->compiler, TCC_ENVIRONMENT,
                             "this processor has no AVX2; name another target to compile for");
    }
    if (str_equal(name, STR("cpu"))) {
        tcc_status status = TCC_OK;
        for (uint32_t i = 0; target_at(i) != NULL && status == TCC_OK; i++)
            if (is_level(target_at(i))) status = add_target(unit, target_at(i));
        return status;
    }
    const Target *target = target_find(name);
    if (target != NULL) return add_target(unit, target);
    return compiler_fail(unit->compiler, TCC_INVALID,
                         "--target: there is no target \"%.*s\"; --list-targets prints them all",
                         STR_ARG(name));
}

tcc_status unit_choose_targets(tcc_unit *unit) {
    Str rest = unit->core->options.target;
    tcc_status status = TCC_OK;
    while (status == TCC_OK) {
        size_t n = 0;
        while (n < rest.size && rest.data[n] != ',') n++;
        status = add_named(unit, (Str){rest.data, n});
        if (n == rest.size) break;
        rest = (Str){rest.data + n + 1, rest.size - n - 1};
    }
    return status;
}
