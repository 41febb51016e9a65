// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import Synchronization
import TestSupport
import Testing

@testable import Gateway

/// A gateway on a shared log that does not answer, or that may have gone back, while no request comes.
@Suite(.suiteLimit)
struct CutOffTests {
    /// A log that says of itself what a test tells it to.
    private final class SilentLog: EventLog {
        struct Said {
            var silence: Duration = .zero
            var doubt: String?
        }

        let base: any EventLog
        let said = Mutex(Said())

        init(_ base: any EventLog) { self.base = base }

        var identity: LogIdentity { self.base.identity }
        var silence: Duration { self.said.withLock(\.silence) }
        var doubt: String? { self.said.withLock(\.doubt) }

        func append(
            _ record: [UInt8],
            id: AppendID?,
            to lane: Lane,
            done: @escaping @Sendable (Result<UInt64, EventLogError>) -> Void
        ) { self.base.append(record, id: id, to: lane, done: done) }

        func read(
            _ lane: Lane,
            after offset: UInt64,
            recordsMax: Int,
            bytesMax: Int
        ) async throws(EventLogError) -> [LoggedRecord] {
            try await self.base.read(lane, after: offset, recordsMax: recordsMax, bytesMax: bytesMax)
        }

        func head(of lane: Lane) async throws(EventLogError) -> UInt64 { try await self.base.head(of: lane) }
        func close() async { await self.base.close() }
    }

    private func alarms(_ running: RunningGateway) -> [String] { running.gateway.readiness.alarms.map(\.alarm) }

    @Test func `it says why it is not ready, and is ready again without a request`() async throws {
        let far = FarServer(.calm).connect()
        let log = SilentLog(try await WriterLog(over: far, settledAfter: .milliseconds(50)))
        var configuration = GatewayConfiguration.forTests
        configuration.timerRecheck = .milliseconds(20)
        try await withGateway(
            configuration: configuration,
            parts: LogParts(log: log, snapshots: far, watermarks: far, maintenance: nil),
            ledger: InMemoryLedger()
        ) { running in
            try await until("it is ready") { running.gateway.readiness.missing.isEmpty }
            log.said.withLock { $0.silence = EventLogLimits.cutOffAfter }
            try await until("it says so") {
                running.gateway.readiness.missing == [.log] && self.alarms(running) == ["logCutOff"]
            }
            log.said.withLock { $0.silence = .zero }
            try await until("it is ready again") {
                running.gateway.readiness.missing.isEmpty && self.alarms(running).isEmpty
            }
            log.said.withLock { $0.doubt = "the lane breaks ends at offset 3, and offset 7 was there before" }
            try await until("it says so") {
                running.gateway.readiness.missing == [.log] && self.alarms(running) == ["logWentBack"]
            }
            #expect(running.gateway.readiness.alarms.first?.sentence.contains("offset 7 was there before") == true)
            log.said.withLock { $0.doubt = nil }
            try await until("it is ready again") {
                running.gateway.readiness.missing.isEmpty && self.alarms(running).isEmpty
            }
        }
    }
}
