/* New columns of a table, by formulas that are known at run time only: they are compiled together
 * and evaluated over all rows.
 *
 *     columns sales.csv 'total = price * qty' 'taxed = price * (1 + tax) if qty > 3 else price'
 *
 * prints the new columns as CSV. */
#include "formula.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FORMULAS = 16, MAX_ROWS = 1000000, TUNED_ROWS = 10000 };

typedef struct Column {
    char name[TABLE_NAME];
    const char *text; /* of its formula */
    double *values;
} Column;

/* "name = formula". */
static int split(Column *column, const char *text) {
    size_t size = strcspn(text, " =");
    const char *equals = text + size + strspn(text + size, " ");
    if (size == 0 || size >= TABLE_NAME || *equals != '=') return 0;
    memcpy(column->name, text, size);
    column->name[size] = 0;
    column->text = equals + 1;
    return 1;
}

/* ---- compiling ------------------------------------------------------------------------------- */

/* The columns of the table are the inputs, all of as many rows. */
static void add_inputs(tcc_graph *graph, const Table *table, tcc_value *values) {
    tcc_value rows = tcc_graph_dim(graph, "rows", 0, MAX_ROWS, TUNED_ROWS);
    for (int i = 0; i < table->columns; i++)
        values[i] = tcc_graph_input(graph, table->names[i], TCC_F64, &rows, 1);
}

/* A formula without a column gives one number, which is repeated for all rows. */
static tcc_value as_column(tcc_graph *graph, tcc_value value, tcc_value column) {
    tcc_value parts[] = {value, tcc_graph_member(graph, column, "shape")};
    tcc_value tensor[] = {tcc_graph_apply(graph, "f64", parts, 1), parts[1]};
    return tcc_graph_apply(graph, "broadcast_to", tensor, 2);
}

static int add_column(tcc_compiler *compiler, tcc_graph *graph, const Table *table,
                      const tcc_value *inputs, const Column *column) {
    char message[128];
    tcc_graph_place(graph, column->name, 0);
    tcc_value value = formula_build(graph, table, inputs, column->text, message, sizeof message);
    tcc_status status = tcc_graph_output(graph, column->name, as_column(graph, value, inputs[0]));
    if (status != TCC_OK && message[0] != 0)
        fprintf(stderr, "%s: %s\n", column->name, message);
    else if (status != TCC_OK)
        fprintf(stderr, "%s\n", tcc_message(compiler));
    return status == TCC_OK;
}

static tcc_unit *compile(tcc_compiler *compiler, const Table *table, const Column *columns,
                         int count) {
    tcc_graph *graph;
    tcc_unit *unit = NULL;
    tcc_value inputs[TABLE_COLUMNS];
    int good = tcc_graph_new(compiler, "columns", &graph) == TCC_OK;
    if (!good) return NULL;
    add_inputs(graph, table, inputs);
    for (int i = 0; i < count; i++) good &= add_column(compiler, graph, table, inputs, &columns[i]);
    if (good && tcc_compile_graph(compiler, graph, &unit) != TCC_OK)
        fprintf(stderr, "%s\n", tcc_message(compiler));
    tcc_graph_free(graph);
    return unit;
}

/* ---- running --------------------------------------------------------------------------------- */

static tcc_tensor column_of(double *values, int64_t rows) {
    return (tcc_tensor){
        .size = sizeof(tcc_tensor), .dtype = TCC_F64, .rank = 1, .data = values, .dims = {rows}};
}

static int run(tcc_unit *unit, const Table *table, const Column *columns, int count) {
    const tcc_model_api *api;
    tcc_model *model = NULL;
    tcc_session *session = NULL;
    tcc_tensor inputs[TABLE_COLUMNS], outputs[MAX_FORMULAS];
    for (int i = 0; i < table->columns; i++) inputs[i] = column_of(table->values[i], table->rows);
    for (int i = 0; i < count; i++) outputs[i] = column_of(columns[i].values, table->rows);
    tcc_status status = tcc_unit_open(unit, NULL, &api, &model);
    if (status == TCC_OK) status = api->session_new(model, &session);
    if (status == TCC_OK)
        status = api->run(session, inputs, (uint32_t)table->columns, outputs, (uint32_t)count);
    if (status != TCC_OK)
        fprintf(stderr, "%s\n", session ? api->session_message(session) : "the model cannot run");
    if (session != NULL) api->session_free(session);
    if (model != NULL) api->close(model);
    return status == TCC_OK;
}

static void print(const Column *columns, int count, int64_t rows) {
    for (int i = 0; i < count; i++) printf("%s%s", i > 0 ? "," : "", columns[i].name);
    printf("\n");
    for (int64_t row = 0; row < rows; row++) {
        for (int i = 0; i < count; i++) printf("%s%.10g", i > 0 ? "," : "", columns[i].values[row]);
        printf("\n");
    }
}

static int evaluate(const Table *table, Column *columns, int count) {
    tcc_compiler *compiler;
    if (tcc_compiler_new(&compiler) != TCC_OK) return 0;
    tcc_unit *unit = compile(compiler, table, columns, count);
    int good = unit != NULL && run(unit, table, columns, count);
    if (good) print(columns, count, table->rows);
    tcc_unit_free(unit);
    tcc_compiler_free(compiler);
    return good;
}

int main(int argc, char **argv) {
    Table table;
    Column columns[MAX_FORMULAS];
    int count = argc - 2, good = 1;
    if (count < 1 || count > MAX_FORMULAS) {
        fprintf(stderr, "usage: columns FILE.csv 'NAME = FORMULA'...\n");
        return 2;
    }
    if (!table_read(&table, argv[1])) return 1;
    for (int i = 0; i < count; i++) {
        size_t size = (size_t)(table.rows > 0 ? table.rows : 1) * sizeof(double);
        columns[i].values = calloc(1, size);
        good &= columns[i].values != NULL && split(&columns[i], argv[i + 2]);
    }
    if (!good) fprintf(stderr, "a formula is written NAME = FORMULA\n");
    good = good && evaluate(&table, columns, count);
    for (int i = 0; i < count; i++) free(columns[i].values);
    table_free(&table);
    return good ? 0 : 1;
}
