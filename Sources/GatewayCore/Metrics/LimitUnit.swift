// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// What a limit is counted in.
package enum LimitUnit: String, CaseIterable, Sendable {
    case bytes
    case count
    case perSecond = "1/s"
    case milliseconds = "ms"
}
