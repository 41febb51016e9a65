// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#ifndef CUECAST_CNATS_SHIM_H
#define CUECAST_CNATS_SHIM_H

#include <nats/nats.h>

#endif
