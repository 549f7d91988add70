// The harness of the unit tests: a test is a function without arguments that makes CHECKs, and main
// runs them one after another.
//
//     static void test_sum(void) { CHECK_INT(1 + 1, 2); }
//     int main(void) {
//         RUN(test_sum);
//         return test_done();
//     }
//
// A failed check prints file, line and what was compared, is counted, and the test goes on.
// ctest sees the exit status: 0 passed, 1 failed, 77 skipped.
#ifndef TCC_TESTS_UNIT_TEST_H
#define TCC_TESTS_UNIT_TEST_H

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct TestCounts {
    long checks, failures;
} TestCounts;
static TestCounts test_counts;

#define RUN(function) test_run(#function, function)
#define CHECK(condition) test_check((condition), __FILE__, __LINE__, #condition)
// Integers of any type that fits intmax_t.
#define CHECK_INT(got, want) test_int((intmax_t)(got), (intmax_t)(want), __FILE__, __LINE__, #got)
#define CHECK_STR(got, want) test_str((got), (want), __FILE__, __LINE__, #got)
// Passes where |got - want| <= bound, where both are the same infinity, and where both are NaN.
#define CHECK_NEAR(got, want, bound) test_near((got), (want), (bound), __FILE__, __LINE__, #got)
#define CHECK_MEM(got, want, size) test_mem((got), (want), (size), __FILE__, __LINE__, #got)

// Whether the long form of the tests is wanted (tests/run --long).
static inline bool test_long(void) { return getenv("TCC_TEST_LONG") != NULL; }

static inline bool test_check(bool good, const char *file, int line, const char *text) {
    test_counts.checks++;
    if (!good) {
        test_counts.failures++;
        printf("%s:%d: failed: %s\n", file, line, text);
    }
    return good;
}

static inline bool test_int(intmax_t got, intmax_t want, const char *file, int line,
                            const char *text) {
    bool good = test_check(got == want, file, line, text);
    if (!good) printf("    got %" PRIdMAX ", want %" PRIdMAX "\n", got, want);
    return good;
}

static inline bool test_str(const char *got, const char *want, const char *file, int line,
                            const char *text) {
    bool good = test_check(got && want && strcmp(got, want) == 0, file, line, text);
    if (!good)
        printf("    got  \"%s\"\n    want \"%s\"\n", got ? got : "(null)", want ? want : "(null)");
    return good;
}

static inline bool test_near(double got, double want, double bound, const char *file, int line,
                             const char *text) {
    bool same = got == want || (isnan(got) && isnan(want));
    bool good = test_check(same || fabs(got - want) <= bound, file, line, text);
    if (!good) printf("    got %.17g, want %.17g, bound %g\n", got, want, bound);
    return good;
}

static inline bool test_mem(const void *got, const void *want, size_t size, const char *file,
                            int line, const char *text) {
    const unsigned char *a = got, *b = want;
    size_t i = 0;
    while (i < size && a[i] == b[i]) i++;
    bool good = test_check(i == size, file, line, text);
    if (!good) printf("    byte %zu of %zu: got %02x, want %02x\n", i, size, a[i], b[i]);
    return good;
}

static inline void test_run(const char *name, void (*function)(void)) {
    long before = test_counts.failures;
    function();
    printf("%s %s\n", test_counts.failures == before ? "ok    " : "FAILED", name);
    fflush(stdout);
}

// Ends a test program that cannot run here, with the reason: `return test_skip("no GPU");`.
static inline int test_skip(const char *reason) {
    printf("skipped: %s\n", reason);
    return 77;
}

// The exit status of the program. A program without a single check has failed.
static inline int test_done(void) {
    printf("%ld checks, %ld failed\n", test_counts.checks, test_counts.failures);
    return test_counts.failures > 0 || test_counts.checks == 0;
}

#endif
