// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The change of a running gateway's configuration when it is read again.
package struct ConfigurationChange: Hashable, Sendable {
    /// One key that is said otherwise than before.
    package struct Key: Hashable, Sendable, CustomStringConvertible {
        package let key: String
        package let before: String
        package let after: String

        package var description: String { "\(self.key): \(self.before) → \(self.after)" }
    }

    /// The configuration from now on: as before, but for the keys that may change while the gateway runs.
    package let configuration: GatewayConfiguration
    /// The keys that are taken over.
    package let applied: [Key]
    /// The keys that stay as they are until a restart.
    package let waiting: [Key]

    /// - Parameters:
    ///   - running: the present configuration.
    ///   - read: the configuration that was read now, checked.
    package init(from running: GatewayConfiguration, to read: GatewayConfiguration) {
        var configuration = running
        var applied: [Key] = []
        var waiting: [Key] = []
        for row in ConfigurationTable.rows {
            let key = Key(key: row.key, before: row.text(of: running), after: row.text(of: read))
            guard key.before != key.after else { continue }
            if row.isReloadable, row.set(&configuration, key.after) == nil {
                applied.append(key)
            } else {
                waiting.append(key)
            }
        }
        self.configuration = configuration
        self.applied = applied
        self.waiting = waiting
    }
}
