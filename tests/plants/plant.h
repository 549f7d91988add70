/* Which planted fault a process runs with: TCC_PLANT in its environment, 0 for none. Only the
 * planted copy of the sources (plant.py) includes this; the product does not know of it. */
#ifndef TCC_TESTS_PLANTS_PLANT_H
#define TCC_TESTS_PLANTS_PLANT_H

#include <stdlib.h>

/* Whether the fault of this number was chosen. */
static inline int tcc_plant(int number) {
    const char *chosen = getenv("TCC_PLANT");
    return chosen != NULL && atoi(chosen) == number;
}

#endif
