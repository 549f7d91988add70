/* The exported functions and, under names of our own, their implementations: the rows of
 * functions.def as declarations. */
#ifndef TCC_EMULATOR_DRIVER_FUNCTIONS_H
#define TCC_EMULATOR_DRIVER_FUNCTIONS_H

#include "emulator/driver/cuda_types.h"

#define FUNCTION(name, symbol, body, since, need, failure, parameters, arguments)                  \
    __attribute__((visibility("default"))) CUresult symbol parameters;
#include "emulator/driver/functions.def"

#define FUNCTION(name, symbol, body, since, need, failure, parameters, arguments)                  \
    CUresult body parameters;
#include "emulator/driver/functions.def"

#endif
