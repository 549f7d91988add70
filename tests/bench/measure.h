/* Measuring: contestants take turns, so that whatever else the machine does falls on all of them,
 * and medians are compared. */
#ifndef TCC_TESTS_BENCH_MEASURE_H
#define TCC_TESTS_BENCH_MEASURE_H

#include <stdbool.h>
#include <stdint.h>

/* Seconds of a monotonic clock. */
double seconds_now(void);

/* Ends the program with a message when `right` is false: a measurement of something that does not
 * work is worth nothing. */
void expect(bool right, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Sorts `values`. */
double median(double *values, uint32_t count);
double least(const double *values, uint32_t count);

typedef struct Contestant {
    void (*run)(void *user);
    void *user;
    double median, least; /* seconds of one run, set by measure_all */
} Contestant;

/* Each contestant once without counting, then `rounds` times in turn. */
void measure_all(Contestant *contestants, uint32_t count, uint32_t rounds);

/* How many rounds: the environment's ROUNDS, or `usual`. */
uint32_t rounds_wanted(uint32_t usual);

/* One figure: "name  value unit  (goal …)  ok|MISSED". Printed only; nothing fails. */
typedef enum GoalKind { GOAL_at_least, GOAL_below, GOAL_none } GoalKind;
void print_figure(const char *name, double value, const char *unit, GoalKind kind, double goal);

#endif
