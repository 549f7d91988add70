/* What bisect and reduce take from the command line. */
#ifndef TCC_DRIVER_SEARCH_H
#define TCC_DRIVER_SEARCH_H

#include "driver/apart.h"
#include "driver/compile.h"

/* Must stay where it is between open and close. */
typedef struct Search {
    Compilation compilation;
    tcc_search_options options;
    tcc_given_input *inputs;
    tcc_given_dim *dims;
    tcc_array **arrays;
    size_t array_count;
    char **names; /* of inputs and dims */
    size_t name_count;
    Apart apart;
} Search;

/* Reads -i, -D, --tries, --seed and --timeout. Refuses models that are compiled already. Closed in
 * any case. */
Exit search_open(Search *out_search, const Options *options);
void search_close(Search *search);

#endif
