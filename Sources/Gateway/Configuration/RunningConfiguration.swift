// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayDocuments
import Synchronization

/// A gateway's present configuration, and the source of each value.
package struct RunningConfiguration: Hashable, Sendable {
    package var configuration: GatewayConfiguration
    /// By key; keys that are not here have their default.
    package var sources: [String: ConfigurationSource]

    package init(
        _ configuration: GatewayConfiguration = GatewayConfiguration(),
        sources: [String: ConfigurationSource] = [:]
    ) {
        self.configuration = configuration
        self.sources = sources
    }

    /// The configuration after the sources were read again: keys that need a restart keep their sources.
    ///
    /// - Parameters:
    ///   - change: the change of the configuration.
    ///   - read: the sources of the values that were read.
    /// - Returns: the configuration from now on.
    package func changed(by change: ConfigurationChange, _ read: [String: ConfigurationSource]) -> RunningConfiguration
    {
        var next = RunningConfiguration(change.configuration, sources: read)
        for key in change.waiting.map(\.key) { next.sources[key] = self.sources[key] }
        return next
    }
}

/// The configuration that holds at present.
package final class RunningConfigurationHolder: Sendable {
    private let state: Mutex<RunningConfiguration>

    package init(_ configuration: RunningConfiguration) {
        self.state = Mutex(configuration)
    }

    package var running: RunningConfiguration { self.state.withLock(\.self) }

    /// Lets another one hold from now on.
    package func replace(by configuration: RunningConfiguration) {
        self.state.withLock { $0 = configuration }
    }
}
