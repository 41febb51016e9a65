// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The unit of a limit.
package enum LimitUnit: String, CaseIterable, Sendable {
    case bytes
    case count
    case perSecond = "1/s"
    case milliseconds = "ms"
}
