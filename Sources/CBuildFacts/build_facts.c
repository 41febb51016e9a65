// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#include "build_facts.h"

// Package.swift passes these from the environment (scripts/lib.sh). They stand here and not in Swift, so that a new
// commit compiles this file only.
#ifndef RELEASE_COMMIT
#define RELEASE_COMMIT "unknown"
#endif
#ifndef RELEASE_SWIFT_VERSION
#define RELEASE_SWIFT_VERSION ""
#endif

const char *cuecast_build_commit(void) { return RELEASE_COMMIT; }

const char *cuecast_build_swift_version(void) { return RELEASE_SWIFT_VERSION; }
