/* Options of launches from the environment. */
#include "emulator/machine/machine.h"

#include <stdlib.h>

static const struct {
    const char *variable, *word;
    size_t offset;
    int value;
} words[] = {
    {"TCC_EMU_CHECKS", "off", offsetof(EmuOptions, checks), EMU_CHECKS_off},
    {"TCC_EMU_CHECKS", "cheap", offsetof(EmuOptions, checks), EMU_CHECKS_cheap},
    {"TCC_EMU_CHECKS", "full", offsetof(EmuOptions, checks), EMU_CHECKS_full},
    {"TCC_EMU_ORDER", "round_robin", offsetof(EmuOptions, order), EMU_ORDER_round_robin},
    {"TCC_EMU_ORDER", "random", offsetof(EmuOptions, order), EMU_ORDER_random},
    {"TCC_EMU_ORDER", "adversarial", offsetof(EmuOptions, order), EMU_ORDER_adversarial},
    {"TCC_EMU_COMPLETION", "latest", offsetof(EmuOptions, completion), EMU_COMPLETION_latest},
    {"TCC_EMU_COMPLETION", "eager", offsetof(EmuOptions, completion), EMU_COMPLETION_eager},
    {"TCC_EMU_COMPLETION", "random", offsetof(EmuOptions, completion), EMU_COMPLETION_random},
    {"TCC_EMU_APPROX", "best", offsetof(EmuOptions, approximation), EMU_APPROXIMATION_best},
    {"TCC_EMU_APPROX", "worst", offsetof(EmuOptions, approximation), EMU_APPROXIMATION_worst},
    {"TCC_EMU_APPROX", "high", offsetof(EmuOptions, approximation), EMU_APPROXIMATION_high},
    {"TCC_EMU_APPROX", "low", offsetof(EmuOptions, approximation), EMU_APPROXIMATION_low},
    {"TCC_EMU_APPROX", "random", offsetof(EmuOptions, approximation), EMU_APPROXIMATION_random},
};

/* Whether `variable` is unset or one of its words; then the option has the value. */
static bool take_word(const char *variable, EmuOptions *options) {
    const char *text = getenv(variable);
    if (!text) return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!str_equal(str_from(words[i].variable), str_from(variable)) ||
            !str_equal(str_from(words[i].word), str_from(text)))
            continue;
        *(int *)(void *)((char *)options + words[i].offset) = words[i].value;
        return true;
    }
    return false;
}

static bool take_number(const char *variable, int64_t most, int64_t *out_value) {
    const char *text = getenv(variable);
    *out_value = 0;
    return !text ||
           (str_to_int(str_from(text), out_value) && *out_value >= 0 && *out_value <= most);
}

const char *emu_options_from_environment(EmuOptions *out_options) {
    int64_t seed, workers, steps;
    const char *tensor = getenv("TCC_EMU_TENSOR");
    *out_options = (EmuOptions){.checks = EMU_CHECKS_full};
    if (!take_word("TCC_EMU_CHECKS", out_options))
        return "TCC_EMU_CHECKS is not off, cheap or full";
    if (!take_word("TCC_EMU_ORDER", out_options))
        return "TCC_EMU_ORDER is not round_robin, random or adversarial";
    if (!take_word("TCC_EMU_COMPLETION", out_options))
        return "TCC_EMU_COMPLETION is not latest, eager or random";
    if (!take_word("TCC_EMU_APPROX", out_options))
        return "TCC_EMU_APPROX is not best, worst, high, low or random";
    if (!take_number("TCC_EMU_SEED", INT64_MAX, &seed)) return "TCC_EMU_SEED is no number";
    if (!take_number("TCC_EMU_WORKERS", 1024, &workers))
        return "TCC_EMU_WORKERS is no number of threads";
    if (!take_number("TCC_EMU_STEPS", INT64_MAX, &steps)) return "TCC_EMU_STEPS is no number";
    if (tensor && !str_equal(str_from(tensor), STR("exact"))) return "TCC_EMU_TENSOR is not exact";
    out_options->seed = (uint64_t)seed;
    out_options->workers = (int)workers;
    out_options->step_limit = (uint64_t)steps;
    out_options->exact_tensor = tensor != NULL;
    return NULL;
}
