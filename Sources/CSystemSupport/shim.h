// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#ifndef CUECAST_CSYSTEMSUPPORT_SHIM_H
#define CUECAST_CSYSTEMSUPPORT_SHIM_H

// Swift's Glibc module exports none of these.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

// The variant of epoll_wait with a time-out in nanoseconds (Linux 5.11, glibc 2.35), hidden without _GNU_SOURCE.
#include <time.h>
extern int epoll_pwait2(int epfd, struct epoll_event *events, int maxevents, const struct timespec *timeout,
                        const sigset_t *sigmask);

// Accepts a connection with its flags in one call (Linux 2.6.28), hidden likewise.
#include <sys/socket.h>
extern int accept4(int sockfd, struct sockaddr *addr, socklen_t *addrlen, int flags);

// A GNU extension: the name of a thread.
#include <pthread.h>
extern int pthread_setname_np(pthread_t thread, const char *name);

// Gives free memory back to the system, which only the GNU C library can do.
#ifdef __GLIBC__
#include <malloc.h>
static inline int cuecast_malloc_trim(void) { return malloc_trim(0); }
#else
static inline int cuecast_malloc_trim(void) { return 0; }
#endif

// Sets the time slice of the calling thread, and keeps its niceness (Linux 6.12; earlier ones ignore the slice).
// glibc has a function for it since 2.41 only. The bytes are those of man 2 sched_setattr, its first version.
#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>
extern long syscall(long number, ...);
static inline void cuecast_set_time_slice(uint64_t nanoseconds) {
    struct {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
    } attributes = {sizeof attributes, 0, 0x08 /* keep the policy */, getpriority(PRIO_PROCESS, 0), 0, nanoseconds, 0, 0};
    syscall(SYS_sched_setattr, 0, &attributes, 0);
}

#endif
