// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#ifndef CUECAST_CZEROMQ_SHIM_H
#define CUECAST_CZEROMQ_SHIM_H

#include <zmq.h>

// Swift's Glibc module does not export eventfd.
#include <sys/eventfd.h>

// Nor this GNU extension.
#include <pthread.h>
extern int pthread_setname_np(pthread_t thread, const char *name);

// Nor malloc_trim, which only the GNU C library has.
#ifdef __GLIBC__
#include <malloc.h>
static inline int cuecast_malloc_trim(void) { return malloc_trim(0); }
#else
static inline int cuecast_malloc_trim(void) { return 0; }
#endif

#endif
