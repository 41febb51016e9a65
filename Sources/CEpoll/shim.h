// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#ifndef CUECAST_CEPOLL_SHIM_H
#define CUECAST_CEPOLL_SHIM_H

// Swift's Glibc module exports none of these.
#include <sys/epoll.h>
#include <sys/signalfd.h>

// The variant of epoll_wait with a time-out in nanoseconds (Linux 5.11, glibc 2.35), hidden without _GNU_SOURCE.
#include <time.h>
extern int epoll_pwait2(int epfd, struct epoll_event *events, int maxevents, const struct timespec *timeout,
                        const sigset_t *sigmask);

#endif
