// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import Dispatch
import GatewayCore
import JetStreamLog
import TestSupport

/// The event logs that keep the contract.
enum LogKind: String, CaseIterable, Sendable {
    /// Streams on one server.
    case alone
    /// Streams of which three servers have copies.
    case three
}

/// Opens a log on JetStream, closes it, and opens it again.
struct LogHarness: ~Copyable {
    private let servers: NATSServers
    private let names: LogNames
    private var isMade = false
    private var current: JetStreamLog?

    init(_ kind: LogKind) throws {
        self.servers = try (kind == .alone ? NATSServers.alone : NATSServers.three).get()
        self.names = .random()
    }

    /// Closes the log that is open, and opens it anew.
    mutating func open() async throws -> any EventLog {
        await self.current?.close()
        self.current = nil
        if !self.isMade {
            _ = try await makeLog(on: self.servers, self.names)
            self.isMade = true
        }
        let log = try await openLog(on: self.servers, self.names)
        self.current = log
        return log
    }

    consuming func close() async { await self.current?.close() }
}

extension LogNames {
    /// Names of a log of its own on servers that several tests share.
    static func random() -> LogNames {
        LogNames(prefix: "t\(String(UInt64.random(in: 0 ... .max), radix: 36))") ?? LogNames()
    }
}

/// Does something that blocks, on a thread of its own.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "tests-blocking").async { continuation.resume(with: Result { try body() }) }
    }
}

/// Makes a log as soon as the servers are ready.
func makeLog(on servers: NATSServers, _ names: LogNames, access: NATSAccess? = nil) async throws -> LogIdentity {
    let access = access ?? servers.access
    return try await eventually {
        try await blocking { try LogCluster(NATSConnection(access), names: names).make(replicas: servers.count) }
    }
}

/// Opens a log as soon as its servers are ready.
func openLog(
    on servers: NATSServers,
    _ names: LogNames,
    doubtfulFor: Duration = JetStreamLimits.doubtfulFor
) async throws -> JetStreamLog {
    let access = servers.access
    return try await eventually { try await JetStreamLog.open(access, names: names, doubtfulFor: doubtfulFor) }
}

/// Tries again while the servers do not answer.
func eventually<Value: Sendable>(_ body: @Sendable () async throws -> Value) async throws -> Value {
    let end = ContinuousClock.now + TestPatience.condition
    while true {
        do {
            return try await body()
        } catch let error as NATSError {
            guard ContinuousClock.now < end else { throw error }
            switch error {
            case .noAnswer, .refused: try await Task.sleep(for: .milliseconds(50))
            // Servers that have just started do not know their streams at once.
            case .noStream: try await Task.sleep(for: .milliseconds(50))
            case .unusable: throw error
            }
        }
    }
}
#else
import GatewayCore

/// Built without JetStream: there is no log that keeps the contract.
enum LogKind: CaseIterable, Sendable {}

struct LogHarness: ~Copyable {
    init(_ kind: LogKind) throws {}

    mutating func open() async throws -> any EventLog { throw EventLogError.closed }

    consuming func close() async {}
}
#endif
