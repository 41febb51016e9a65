// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The sessions that were forgotten in a log that several gateways share, for a backup of it.
///
/// No record of the log names them any more. They are known by hashes only, and all gateways refuse them.
package struct ForgottenInLog: Hashable, Sendable {
    /// Of the hashes; `nil`: the log has no list.
    package var key: ForgottenSessions.Key?
    /// By hash: when each session was forgotten.
    package var sessions: [UInt64: Timestamp]

    package init(key: ForgottenSessions.Key? = nil, sessions: [UInt64: Timestamp] = [:]) {
        (self.key, self.sessions) = (key, sessions)
    }
}
