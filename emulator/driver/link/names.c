/* The names of the driver's functions, for the linker alone: `-lcuda` finds them here, and what is
 * linked asks for libcuda.so.1 when it starts, NVIDIA's or that of this folder. */
#define FUNCTION(name, symbol, body, since, need, failure, parameters, arguments)                  \
    void symbol(void);                                                                             \
    void symbol(void) {}
#include "emulator/driver/functions.def"
