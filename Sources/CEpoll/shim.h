// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#ifndef CUECAST_CEPOLL_SHIM_H
#define CUECAST_CEPOLL_SHIM_H

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

#endif
