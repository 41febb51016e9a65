// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The defaults of settings that more than one part of the gateway has.
///
/// ``LimitName`` declares those of limits.
package enum SettingDefaults {
    /// How often a stream's position is repeated when nothing else happens.
    package static let headInterval: Duration = .seconds(5)
    /// How long a session counts as listening after its last request.
    package static let lease: Duration = .seconds(300)
    /// The most sessions that connections from one address may begin within the time of a lease.
    package static let sessionsPerAddressMax = 20_000
    /// How long a listener may read nothing of its pending bytes.
    package static let stalledTimeout: Duration = .seconds(30)
    /// How long a connection may take for its greeting and handshake.
    package static let handshakeTimeout: Duration = .seconds(3)
    /// How long a connection may ask for nothing after its handshake.
    package static let unusedTimeout: Duration = .seconds(30)
    /// How long a line of the audit is kept.
    package static let auditKeepFor: Duration = .seconds(400 * 86_400)
    /// The most lines of the audit that are kept.
    package static let auditRecordsMax = 1_000_000
    /// How many checked copies of the ledger are kept.
    package static let ledgerCopiesKept = 3
    /// How long nothing may come from a source of cues until that is an alarm.
    package static let sourceSilentAfter: Duration = .seconds(60)
}
