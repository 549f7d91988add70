// The harness itself: what it must count as a failure, and what not.
#include "tests/unit/test.h"

// Makes a check that must fail, takes it off the counts again, and says whether it was counted.
#define MUST_FAIL(check) (test_counts.failures = 0, (void)(check), test_counts.failures == 1)

static void test_failures_are_counted(void) {
    fputs("(the five failures that follow are expected)\n", stdout);
    bool counted = MUST_FAIL(CHECK(1 == 2)) && MUST_FAIL(CHECK_INT(1, 2)) &&
                   MUST_FAIL(CHECK_STR("a", "b")) && MUST_FAIL(CHECK_NEAR(1.0, 2.0, 0.5)) &&
                   MUST_FAIL(CHECK_MEM("ab", "ac", 2));
    test_counts.failures = 0;
    CHECK(counted);
}

static void test_values_that_agree(void) {
    CHECK_INT(INT64_MIN, INT64_MIN);
    CHECK_STR("same", "same");
    CHECK_NEAR(1.0, 1.5, 0.5);
    CHECK_NEAR((double)NAN, (double)NAN, 0.0);
    CHECK_NEAR((double)INFINITY, (double)INFINITY, 0.0);
    CHECK_MEM("abc", "abd", 2);
}

int main(void) {
    RUN(test_failures_are_counted);
    RUN(test_values_that_agree);
    return test_done();
}
