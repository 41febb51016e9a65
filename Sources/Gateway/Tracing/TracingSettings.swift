// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Which requests are traced, and where their spans go.
package struct TracingSettings: Hashable, Sendable {
    /// Whether any are.
    package var isEnabled = false
    /// How many of the traces that callers have sampled are followed: from 0 to 1.
    package var ratio = 1.0
    /// The most that are followed in a second, of broadcasters and of listeners each.
    package var tracesPerSecondMax = 100
    /// The file that spans are written to; empty: none.
    package var file = ""
    /// How large it grows before a new one is begun; one older one is kept (64 MiB).
    package var fileBytesMax = 64 * 1_048_576
    /// The most spans that wait for the file; more are lost.
    ///
    /// For tests.
    package var spansWaitingMax = 10_000
    /// How long the end of the gateway waits for the file to take what is left.
    ///
    /// For tests.
    package var endTimeout: Duration = .seconds(2)

    package init() {}
}
