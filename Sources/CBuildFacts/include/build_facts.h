// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#ifndef CUECAST_BUILD_FACTS_H
#define CUECAST_BUILD_FACTS_H

/// The commit that was built, with `-changed` where files differed from it; `unknown` if the build was not told.
const char *cuecast_build_commit(void);

/// The version of the Swift compiler, such as 6.3.1; empty if the build was not told.
const char *cuecast_build_swift_version(void);

#endif
