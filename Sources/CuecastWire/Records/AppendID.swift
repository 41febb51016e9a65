// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Tells an append to the event log from every other one, so that a repeat of it is known.
package struct AppendID: Hashable, Sendable {
    /// The run of the gateway that appends: a random number of each start.
    package let origin: UInt64
    /// Counts its appends from 1 on.
    package let number: UInt64

    package init(origin: UInt64, number: UInt64) {
        self.origin = origin
        self.number = number
    }
}
