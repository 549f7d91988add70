/* A table of numbers in columns, as a CSV file holds it: a line of names, then rows of numbers. */
#ifndef EMBED_TABLE_H
#define EMBED_TABLE_H

#include <stddef.h>
#include <stdint.h>

enum { TABLE_COLUMNS = 16, TABLE_NAME = 32 };

typedef struct Table {
    int columns;
    int64_t rows;
    char names[TABLE_COLUMNS][TABLE_NAME];
    double *values[TABLE_COLUMNS]; /* by column */
} Table;

/* Reads the file; 0 after a message on stderr. The table is freed by table_free. */
int table_read(Table *table, const char *path);
void table_free(Table *table);
/* The column of that name, of `size` characters; -1 when there is none. */
int table_find(const Table *table, const char *name, size_t size);

#endif
