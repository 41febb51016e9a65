// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/* Found before the real nats.h in the search path: code that includes it here finds no libnats. */
#error "libnats was reached from a build that must do without it"
