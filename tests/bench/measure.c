#include "measure.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void expect(bool right, const char *format, ...) {
    if (right) return;
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double median(double *values, uint32_t count) {
    qsort(values, count, sizeof *values, compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double least(const double *values, uint32_t count) {
    double low = values[0];
    for (uint32_t i = 1; i < count; i++)
        if (values[i] < low) low = values[i];
    return low;
}

/* Threads that still spin for the next piece of the last contestant's work go to sleep. */
static void settle(void) { nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL); }

void measure_all(Contestant *contestants, uint32_t count, uint32_t rounds) {
    double *times = malloc(sizeof *times * count * rounds);
    expect(times != NULL, "out of memory");
    for (uint32_t i = 0; i < count; i++) contestants[i].run(contestants[i].user);
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t i = 0; i < count; i++) {
            settle();
            double begin = seconds_now();
            contestants[i].run(contestants[i].user);
            times[i * rounds + round] = seconds_now() - begin;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        contestants[i].least = least(times + i * rounds, rounds);
        contestants[i].median = median(times + i * rounds, rounds);
    }
    free(times);
}

uint32_t rounds_wanted(uint32_t usual) {
    const char *text = getenv("ROUNDS");
    long wanted = text ? strtol(text, NULL, 10) : 0;
    return wanted > 0 ? (uint32_t)wanted : usual;
}

void print_figure(const char *name, double value, const char *unit, GoalKind kind, double goal) {
    printf("%-58s %9.3f %-8s", name, value, unit);
    if (kind != GOAL_none) {
        bool met = kind == GOAL_at_least ? value >= goal : value < goal;
        printf(" %s %g: %s", kind == GOAL_at_least ? "at least" : "below", goal,
               met ? "met" : "MISSED");
    }
    putchar('\n');
    fflush(stdout);
}
