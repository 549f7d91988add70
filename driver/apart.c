#include "driver/apart.h"

#include "driver/temporary.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

/* A probe that may never end is not to outlive the command, which somebody may kill. */
static void end_with(pid_t parent) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(1);
}

/* What a dying library writes to stderr is not for the user, nor is a file of its memory. */
static void be_quiet(void) {
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
    }
    setrlimit(RLIMIT_CORE, &(struct rlimit){0});
}

/* The time is the processor's, since others may have that; and ten times as much on the clock. */
static void limit_time(double seconds) {
    struct itimerval timer = {.it_value = {.tv_sec = (time_t)seconds + 1}};
    setitimer(ITIMER_PROF, &timer, NULL);
    timer.it_value.tv_sec = 10 * ((time_t)seconds + 1);
    setitimer(ITIMER_REAL, &timer, NULL);
}

static tcc_status say_how_it_ended(const Apart *apart, int status, char *why, size_t why_size) {
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return TCC_OK;
    if (!WIFSIGNALED(status)) {
        snprintf(why, why_size, "ends the process with status %d", WEXITSTATUS(status));
        return TCC_INTERNAL;
    }
    int number = WTERMSIG(status);
    if (number == SIGPROF || number == SIGALRM) {
        snprintf(why, why_size, "takes longer than %g seconds", apart->seconds);
        return TCC_ENVIRONMENT;
    }
    snprintf(why, why_size, "crashes with signal %d (%s)", number, strsignal(number));
    return TCC_INTERNAL;
}

static pid_t wait_for(pid_t child, int *out_status) {
    pid_t got;
    do got = waitpid(child, out_status, 0);
    while (got < 0 && errno == EINTR);
    return got;
}

tcc_status apart_run(void *user, tcc_probe *probe, void *result, size_t size, char *why,
                     size_t why_size) {
    const Apart *apart = user;
    int status = 0;
    void *shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        snprintf(why, why_size, "could not be tried: %s", strerror(errno));
        return TCC_INTERNAL;
    }
    fflush(stdout);
    fflush(stderr);
    pid_t parent = getpid(), child = fork();
    if (child == 0) {
        end_with(parent);
        temporary_leave();
        be_quiet();
        limit_time(apart->seconds);
        tcc_probe_run(probe, shared);
        _exit(0);
    }
    bool ended = child > 0 && wait_for(child, &status) == child;
    if (!ended) snprintf(why, why_size, "could not be tried: %s", strerror(errno));
    memcpy(result, shared, size);
    munmap(shared, size);
    return ended ? say_how_it_ended(apart, status, why, why_size) : TCC_INTERNAL;
}
