#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SIZE = 4096 };

int table_find(const Table *table, const char *name, size_t size) {
    for (int i = 0; i < table->columns; i++)
        if (strlen(table->names[i]) == size && memcmp(table->names[i], name, size) == 0) return i;
    return -1;
}

void table_free(Table *table) {
    for (int i = 0; i < table->columns; i++) free(table->values[i]);
}

static int read_names(Table *table, char *line) {
    for (char *name = strtok(line, ",\r\n"); name != NULL; name = strtok(NULL, ",\r\n")) {
        if (table->columns == TABLE_COLUMNS || strlen(name) >= TABLE_NAME) return 0;
        strcpy(table->names[table->columns++], name);
    }
    return table->columns > 0;
}

/* Room for one row more: the columns grow to powers of two. */
static int grow(Table *table) {
    int64_t rows = table->rows;
    if ((rows & (rows - 1)) != 0) return 1;
    for (int i = 0; i < table->columns; i++) {
        size_t size = (size_t)(rows == 0 ? 1 : 2 * rows) * sizeof(double);
        double *values = realloc(table->values[i], size);
        if (values == NULL) return 0;
        table->values[i] = values;
    }
    return 1;
}

static int read_row(Table *table, char *line) {
    if (!grow(table)) return 0;
    for (int i = 0; i < table->columns; i++) {
        char *end;
        table->values[i][table->rows] = strtod(line, &end);
        int last = i + 1 == table->columns;
        if (end == line || (last ? *end != 0 && *end != '\n' && *end != '\r' : *end != ','))
            return 0;
        line = end + 1;
    }
    table->rows++;
    return 1;
}

int table_read(Table *table, const char *path) {
    char line[LINE_SIZE];
    FILE *file = fopen(path, "r");
    *table = (Table){0};
    if (file == NULL) {
        perror(path);
        return 0;
    }
    int good = fgets(line, sizeof line, file) != NULL && read_names(table, line);
    while (good && fgets(line, sizeof line, file) != NULL) good = read_row(table, line);
    fclose(file);
    if (!good) fprintf(stderr, "%s: line %d is no row of numbers\n", path, (int)table->rows + 2);
    if (!good) table_free(table);
    return good;
}
