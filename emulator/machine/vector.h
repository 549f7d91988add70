/* EMU_VECTOR before a function makes it twice, for any x86-64 and for AVX2, and the loader takes
 * the one that fits. For loops over the 32 lanes of a warp that the compiler turns into vectors.
 * Both give the same bits: products and sums are not contracted (cmake/options.cmake). */
#ifndef TCC_EMULATOR_MACHINE_VECTOR_H
#define TCC_EMULATOR_MACHINE_VECTOR_H

/* The thread sanitizer cannot run before the loader has chosen. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
#define EMU_VECTOR __attribute__((target_clones("default", "arch=x86-64-v3"), optimize("O3")))
#else
#define EMU_VECTOR
#endif

#endif
