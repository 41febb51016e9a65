// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#ifndef CUECAST_CSHA256_SHIM_H
#define CUECAST_CSHA256_SHIM_H

// Only the functions that take the state of a hash as a plain value let a state be copied without an allocation. OpenSSL 3
// calls them deprecated in favour of others that allocate, and keeps them.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>

#endif
