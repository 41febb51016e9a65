// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import Testing

/// The wrappers fail where a test says so, with or without effect.
@Suite(.suiteLimit)
struct FailingStoreTests {
    private let lane = Books.lane

    @Test(arguments: [LogKind.inMemory, .sqlite])
    func `an append fails before or after it is durable`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        let log = FailingEventLog(try await harness.open())
        log.fail(.append, at: 2)
        log.fail(.append, at: 4, .happened)
        var offsets: [UInt64?] = []
        for number in 1...5 { offsets.append(try? await log.append([UInt8(number)], to: self.lane)) }
        #expect(offsets == [1, nil, 2, nil, 4])
        #expect(try await log.everything(in: self.lane).map(\.bytes) == [[1], [3], [4], [5]])
        await harness.close()
    }

    @Test(arguments: [LogKind.inMemory, .sqlite])
    func `answers are held back and given in another order`(_ kind: LogKind) async throws {
        var harness = try LogHarness(kind)
        let log = FailingEventLog(try await harness.open())
        log.holdAnswers()
        log.fail(.append, at: 3)
        let (order, sink) = AsyncStream.makeStream(of: UInt64.self, bufferingPolicy: .bufferingOldest(10))
        for _ in 1...3 { log.append([1], to: self.lane) { sink.yield((try? $0.get()) ?? 0) } }
        await log.answersHeld(3)
        #expect(try await log.head(of: self.lane) == 2)
        log.releaseAnswers(.reversed)
        var seen: [UInt64] = []
        for await offset in order {
            seen.append(offset)
            if seen.count == 3 { break }
        }
        #expect(seen.filter { $0 > 0 } == [2, 1])
        #expect(try await log.append([1], to: self.lane) == 3)
        await harness.close()
    }

    @Test func `every call of a log can fail`() async throws {
        let log = FailingEventLog(InMemoryEventLog())
        _ = try await log.append([1], to: self.lane)
        let snapshot = SnapshotPortion.single(1, ["a": [1]])
        let calls: [(FailingEventLog.Call, () async throws -> Void)] = [
            (.append, { _ = try await log.append([1], to: self.lane) }),
            (.read, { _ = try await log.read(self.lane, after: 0, recordsMax: 1, bytesMax: 1) }),
            (.head, { _ = try await log.head(of: self.lane) }),
            (.save, { try await log.save(snapshot, of: self.lane) }),
            (.snapshot, { _ = try await log.snapshotOffset(of: self.lane) }),
            (.prune, { try await log.prune(.breaks, through: 1) }),
        ]
        for (call, body) in calls {
            log.failEvery(call)
            await #expect(throws: FailingEventLog.error) { try await body() }
            await #expect(throws: FailingEventLog.error) { try await body() }
            log.heal()
            try await body()
        }
    }

    @Test(arguments: [StoreKind.inMemory, .sqlite])
    func `an applied batch that was reported as failed is applied once`(_ kind: StoreKind) async throws {
        var harness = try LedgerHarness(kind)
        let ledger = FailingLedger(try await harness.open())
        let posting = LedgerPosting(
            offset: 1,
            deliveries: [Books.delivery(1)],
            outcomes: [try Books.outcome(1, 0), try Books.outcome(1, 0)]
        )
        ledger.fail(.apply, at: 1)
        ledger.fail(.apply, at: 2, .happened)
        ledger.fail(.record, at: 1, .happened)
        for _ in 1...2 {
            await #expect(throws: FailingLedger.error) { try await ledger.apply([posting], of: self.lane) }
        }
        #expect(try await ledger.appliedOffset(of: self.lane) == 1)
        try await ledger.apply([posting], of: self.lane)
        await #expect(throws: FailingLedger.error) { try await ledger.record([try Books.summary()], through: 1) }
        try await ledger.record([try Books.summary()], through: 1)
        let counts = try await ledger.counts()
        #expect(counts[0].played == 1 && counts[0].repeats == 1 && counts.map(\.delivered) == [1, 1, 1])
        await harness.close()
    }
}
