// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
import Gateway
import GatewayCore
import JetStreamLog
import SQLiteStore

/// The questions that a backup and a restore of a shared log ask.
extension ClusterAccess {
    #if JetStream
    /// The sessions that are forgotten in a log.
    static func forgotten(_ settings: SharedLogSettings, of logID: LogID) async throws -> ForgottenInLog {
        try await self.telling {
            try await onAThread { () throws(NATSError) in
                try LogCluster(try Self.connect(settings), names: settings.names).forgotten(of: logID)
            }
        }
    }

    /// Makes the streams of a log that comes back.
    static func makeRestored(
        _ identity: LogIdentity,
        key: ForgottenSessions.Key?,
        _ settings: SharedLogSettings,
        replicas: Int
    ) async throws -> LogIdentity {
        try await self.telling {
            try await onAThread { () throws(NATSError) in
                try LogCluster(try Self.connect(settings), names: settings.names)
                    .makeRestored(identity, key: key, replicas: replicas)
            }
        }
    }

    /// Refuses forgotten sessions again.
    static func restoreForgotten(
        _ forgotten: ForgottenInLog,
        through heads: [Lane: UInt64],
        _ settings: SharedLogSettings,
        _ logID: LogID
    ) async throws {
        try await self.telling {
            try await onAThread { () throws(NATSError) in
                try LogCluster(try Self.connect(settings), names: settings.names)
                    .restoreForgotten(forgotten, through: heads, of: logID)
            }
        }
    }
    #else
    static func forgotten(_ settings: SharedLogSettings, of logID: LogID) async throws -> ForgottenInLog {
        throw self.refuse()
    }

    static func makeRestored(
        _ identity: LogIdentity,
        key: ForgottenSessions.Key?,
        _ settings: SharedLogSettings,
        replicas: Int
    ) async throws -> LogIdentity { throw self.refuse() }

    static func restoreForgotten(
        _ forgotten: ForgottenInLog,
        through heads: [Lane: UInt64],
        _ settings: SharedLogSettings,
        _ logID: LogID
    ) async throws { throw self.refuse() }
    #endif
}
