/* tcc check: what was compiled against the evaluator, output by output of each kernel, then as a
 * whole. */
#include "driver/arrays.h"
#include "driver/json.h"
#include "driver/report.h"
#include "driver/values.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct Table {
    bool json;
    uint64_t rows, wrong;
    bool failing; /* a run ends with an index out of range */
} Table;

static double share_left_out(const tcc_check_result *r) {
    return r->elements ? (double)(r->elements - r->compared) / (double)r->elements : 0;
}

/* A number of JSON, or null for what JSON has none for. */
static void print_number(const char *key, double value) {
    if (isfinite(value))
        printf(", \"%s\": %.17g", key, value);
    else
        printf(", \"%s\": null", key);
}

static void print_json(Table *table, const tcc_check_result *r) {
    printf("%s\n  {\"kernel\": ", table->rows ? "," : "");
    json_print_string(r->kernel);
    printf(", \"output\": ");
    json_print_string(r->output);
    printf(", \"elements\": %" PRIu64 ", \"compared\": %" PRIu64 ", \"mismatches\": %" PRIu64,
           r->elements, r->compared, r->mismatches);
    print_number("worst", r->worst);
    print_number("rms", r->rms);
    printf(", \"agrees\": %s", r->agrees ? "true" : "false");
    if (r->mismatches) {
        printf(", \"first\": %" PRIu64, r->first_index);
        print_number("got", r->got);
        print_number("expected", r->expected);
        print_number("tolerance", r->tolerance);
    }
    if (r->error) {
        printf(", \"error\": ");
        json_print_string(r->error);
    }
    putchar('}');
}

static void print_row(const tcc_check_result *r) {
    printf("%-28s %-12s %10" PRIu64 " %9.2f%% %10.3g %10.3g  %s\n", r->kernel, r->output,
           r->elements, 100 * share_left_out(r), r->worst, r->rms, r->agrees ? "ok" : "WRONG");
    if (r->mismatches)
        printf("  %" PRIu64 " differ, the first at element %" PRIu64
               ": got %.9g, expected %.9g +- %.3g\n",
               r->mismatches, r->first_index, r->got, r->expected, r->tolerance);
    else if (!r->agrees)
        printf("  too few elements could be compared: at most 1 %% may be left out\n");
    if (r->error) printf("  %s, say both the compiled code and the evaluator\n", r->error);
}

static void add_row(void *user, const tcc_check_result *r) {
    Table *table = user;
    if (table->json)
        print_json(table, r);
    else
        print_row(r);
    table->rows++;
    table->wrong += !r->agrees;
    table->failing |= r->error != NULL;
}

static void begin_table(const Table *table) {
    if (table->json)
        printf("{\"results\": [");
    else
        printf("%-28s %-12s %10s %10s %10s %10s\n", "kernel", "output", "elements", "left out",
               "worst", "rms");
}

static void end_table(const Table *table, tcc_status status) {
    if (table->json)
        printf("\n], \"agree\": %s}\n", status == TCC_OK ? "true" : "false");
    else if (status == TCC_OK)
        printf("all %" PRIu64 " outputs agree%s\n", table->rows,
               table->failing ? ", but a run fails: an index is out of range" : "");
    else if (status == TCC_MISMATCH && table->wrong)
        printf("%" PRIu64 " of %" PRIu64 " outputs are wrong\n", table->wrong, table->rows);
}

/* A mismatch that is no element's has its reason in the message. */
static Exit compare(const Options *options, ModelSource *s, const Arrays *inputs) {
    Table table = {.json = options_has(options, OPTION_json)};
    begin_table(&table);
    tcc_status status = tcc_unit_check_on(s->compilation.unit, options_last(options, OPTION_device),
                                          inputs->tensors, inputs->count, add_row, &table);
    end_table(&table, status);
    if (status == TCC_MISMATCH && !table.wrong)
        report_error("%s", tcc_message(s->compilation.compiler));
    return compilation_result(&s->compilation, status);
}

/* The outputs are not needed; that they can be made says that the inputs fit the model. */
static Exit check(const Options *options, ModelSource *s) {
    Arrays inputs, outputs = {0};
    Exit result = arrays_make_inputs(&inputs, options, s, INPUT_random);
    if (result == EXIT_fine) result = arrays_make_outputs(&outputs, s, &inputs);
    if (result == EXIT_fine) result = compare(options, s, &inputs);
    arrays_free(&outputs);
    arrays_free(&inputs);
    return result;
}

Exit cmd_check(const Options *options) {
    ModelSource s;
    if (is_artefact_given(options)) {
        report_error("%s is compiled already: check takes the model file that it came from",
                     options->operand);
        return EXIT_usage;
    }
    Exit result = model_source_open(&s, options, 1);
    if (result == EXIT_fine) result = check(options, &s);
    model_source_close(&s);
    return result;
}
