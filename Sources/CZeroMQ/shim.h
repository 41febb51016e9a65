// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#ifndef CUECAST_CZEROMQ_SHIM_H
#define CUECAST_CZEROMQ_SHIM_H

#include <zmq.h>

// libzmq takes the first id of a ROUTER's peers from here.
#include <stdlib.h>
static inline void cuecast_seed_random(unsigned int seed) { srand(seed); }

// A listening socket that drops what asks for a connection, and takes it again: 0, or -1 where that cannot be.
#ifdef __linux__
#include <linux/filter.h>
#include <sys/socket.h>
static inline int cuecast_drop_connects(int listening) {
  struct sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
  struct sock_fprog program = {1, &nothing};
  return setsockopt(listening, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
}
static inline int cuecast_take_connects(int listening) {
  int unused = 0;
  return setsockopt(listening, SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused);
}
#else
static inline int cuecast_drop_connects(int listening) { return (void)listening, -1; }
static inline int cuecast_take_connects(int listening) { return (void)listening, -1; }
#endif

#endif
