// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors
//
// Steps the wall clock of one process: loaded before the C library (LD_PRELOAD), it adds to what CLOCK_REALTIME shows the
// nanoseconds that stand in the first eight bytes of the file CUECAST_CLOCK_STEP, which may change at any time. All other
// clocks stay as they are, as they do when an administrator sets a machine's clock.
//
// The kernel ends waits by its own clock, which is not stepped: a deadline of pthread_cond_timedwait, by which libnats waits for
// answers, is moved back by the step. Without that, each wait ends at once under a clock that is behind.
//
// libfaketime is not used for this: under its version in Debian 12 Swift's tasks slept for ever.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static _Atomic int64_t *step;

__attribute__((constructor)) static void map_step(void) {
    const char *path = getenv("CUECAST_CLOCK_STEP");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *page = mmap(NULL, sizeof *step, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (page != MAP_FAILED) step = page;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    // The kernel is asked directly: what the C library calls is this function.
    int status = (int)syscall(SYS_clock_gettime, clock, time);
    if (status != 0 || !step || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return status;
    int64_t shown = (int64_t)time->tv_sec * 1000000000 + time->tv_nsec + atomic_load(step);
    time->tv_sec = shown / 1000000000;
    time->tv_nsec = shown % 1000000000;
    return 0;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
    (void)zone;
    struct timespec shown;
    if (clock_gettime(CLOCK_REALTIME, &shown) != 0) return -1;
    time->tv_sec = shown.tv_sec;
    time->tv_usec = shown.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *result) {
    struct timespec shown;
    if (clock_gettime(CLOCK_REALTIME, &shown) != 0) return -1;
    if (result) *result = shown.tv_sec;
    return shown.tv_sec;
}

int pthread_cond_timedwait(pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict deadline) {
    // glibc has the clock of a condition in this bit (nptl/pthreadP.h, __PTHREAD_COND_CLOCK_MONOTONIC_MASK).
    if (condition->__data.__wrefs & 2) return pthread_cond_clockwait(condition, mutex, CLOCK_MONOTONIC, deadline);
    int64_t shown = (int64_t)deadline->tv_sec * 1000000000 + deadline->tv_nsec - (step ? atomic_load(step) : 0);
    if (shown < 0) shown = 0;
    struct timespec real = {shown / 1000000000, shown % 1000000000};
    return pthread_cond_clockwait(condition, mutex, CLOCK_REALTIME, &real);
}
