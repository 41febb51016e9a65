// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore

/// Which requests are traced, and where their spans go.
package struct TracingSettings: Hashable, Sendable {
    /// Whether any are.
    package var isEnabled = false
    /// How many of the traces that callers have sampled are followed: from 0 to 1.
    package var ratio = 1.0
    /// The most that are followed in a second, of broadcasters and of listeners each.
    package var tracesPerSecondMax = LimitName.tracesPerSecondMax.value
    /// The file that spans are written to; empty: none.
    package var file = ""
    /// How large it grows before a new one is begun; one older one is kept.
    package var fileBytesMax = LimitName.traceFileBytesMax.value
    /// The most spans that wait for the file; more are lost.
    package var spansWaitingMax = LimitName.spansWaitingMax.value
    /// How long the end of the gateway waits for the file to take what is left.
    ///
    /// For tests.
    package var endTimeout: Duration = .seconds(2)

    package init() {}

    /// The same with the limits of a configuration.
    func limited(by limits: LimitValues) -> TracingSettings {
        var settings = self
        settings.tracesPerSecondMax = limits[.tracesPerSecondMax]
        settings.fileBytesMax = limits[.traceFileBytesMax]
        settings.spansWaitingMax = limits[.spansWaitingMax]
        return settings
    }
}
