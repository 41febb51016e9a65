// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CNATS
import CuecastWire
import GatewayCore
import TestSupport
import Testing

@testable import JetStreamLog

/// A log whose servers lost it comes back from its records.
@Suite(.suiteLimit)
struct LogRestoreTests {
    private static let lane = Lane.acknowledgements(0)
    private let now = Timestamp(microseconds: 1_800_000_000_000_000)

    /// A log's records, and which log it is.
    private struct Kept {
        var identity: LogIdentity
        var records: [Lane: [LoggedRecord]]
        var heads: [Lane: UInt64] { self.records.mapValues { $0.last?.offset ?? 0 } }
    }

    /// All that a log has, read as its servers have it.
    private func kept(_ servers: NATSServers, _ names: LogNames) async throws -> Kept {
        let access = servers.access
        let stored = try await eventually { try await StoredLog.open(access, names: names) }
        var kept = Kept(identity: stored.identity, records: [:])
        for lane in LogNames.lanes {
            var records: [LoggedRecord] = []
            let head = try await stored.head(of: lane)
            while case let last = records.last?.offset ?? 0, last < head {
                let portion = try await stored.portion(of: lane, after: last, recordsMax: 7, bytesMax: 1 << 20)
                try #require(portion.faults.isEmpty && !portion.records.isEmpty)
                records += portion.records
            }
            kept.records[lane] = records
        }
        return kept
    }

    private func made(
        _ servers: NATSServers,
        _ names: LogNames,
        _ identity: LogIdentity,
        key: ForgottenSessions.Key? = nil
    ) async throws -> LogIdentity {
        let access = servers.access
        return try await eventually {
            try await blocking {
                try LogCluster(NATSConnection(access), names: names)
                    .makeRestored(identity, key: key, replicas: servers.count)
            }
        }
    }

    private func refusal(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return ""
        } catch {
            return "\(error)"
        }
    }

    /// Brings a log back under other names, and cuts it off in the middle once.
    private func restore(_ kept: Kept, _ servers: NATSServers, _ names: LogNames) async throws -> LogIdentity {
        let access = servers.access
        let wanted = try #require(kept.identity.restored(heads: kept.heads, at: self.now))
        let identity = try await self.made(servers, names, wanted)
        #expect(identity == wanted)
        let target = try await LogImport.open(access, names: names, isRestoring: true)
        let breaks = kept.records[.breaks] ?? []
        try await target.append(kept.records[Self.lane] ?? [], to: Self.lane)
        try await target.append(Array(breaks.prefix(breaks.count / 2)), to: .breaks)

        // Nothing opens it before everything is there.
        for refused in [
            await self.refusal { _ = try await JetStreamLog.open(access, names: names) },
            await self.refusal { _ = try await StoredLog.open(access, names: names) },
            await self.refusal { _ = try await LogForgetting.open(access, names: names) },
        ] {
            #expect(refused.contains("a restore of the log did not end"), "\(refused)")
        }
        let states = try await blocking { try LogCluster(NATSConnection(access), names: names).states() }
        #expect(states.map { $0.unfinished == nil } == [false, true])

        // The next try goes on with the epoch of the first one.
        let again = try #require(kept.identity.restored(heads: kept.heads, at: self.now + .seconds(60)))
        #expect(again != identity)
        #expect(try await self.made(servers, names, again) == identity)
        let next = try await LogImport.open(access, names: names, isRestoring: true)
        let head = try await next.head(of: .breaks)
        #expect(head == breaks[breaks.count / 2 - 1].offset)
        // An answer of the first try was lost: one record comes twice, and is stored once.
        try await next.append(Array(breaks.dropFirst(breaks.count / 2 - 1)), to: .breaks)
        return identity
    }

    private func everything(_ log: any EventLog, _ lane: Lane) async throws -> [LoggedRecord] {
        let head = try await log.head(of: lane)
        var all: [LoggedRecord] = []
        while case let last = all.last?.offset ?? 0, last < head {
            all += try await log.read(lane, after: last, recordsMax: 7, bytesMax: 1 << 20)
        }
        return all
    }

    @Test(arguments: LogKind.allCases)
    func `records keep their offsets and writers, and what comes is far above, twice`(_ kind: LogKind) async throws {
        let servers = try (kind == .alone ? NATSServers.alone : NATSServers.three).get()
        let first = LogNames.random()
        _ = try await makeLog(on: servers, first)
        let log = try await openLog(on: servers, first)
        for number in 1...21 as ClosedRange<UInt64> {
            let id = number % 3 == 0 ? nil : AppendID(origin: .max - number % 2, number: number)
            _ = try await log.append([UInt8(number)], id: id, to: .breaks)
            if number < 5 { _ = try await log.append([UInt8(number), 9], id: id, to: Self.lane) }
        }
        await log.close()
        var kept = try await self.kept(servers, first)
        #expect(kept.heads == [.breaks: 21, Self.lane: 4])

        for round in 1...2 {
            let names = LogNames.random()
            let identity = try await self.restore(kept, servers, names)
            let base = identity.current.base
            #expect(identity.logID == kept.identity.logID && identity.epochs.count == round + 1)
            let one = try await openLog(on: servers, names)
            #expect(one.identity == identity)
            for lane in LogNames.lanes {
                #expect(try await self.everything(one, lane) == kept.records[lane])
                #expect(try await one.head(of: lane) == kept.heads[lane])
            }
            // A second gateway that follows, and one that begins later, read over the jump.
            let two = try await openLog(on: servers, names)
            for number in 1...3 as ClosedRange<UInt64> {
                let id = AppendID(origin: UInt64(round), number: number)
                #expect(try await one.append([200], id: id, to: .breaks) == base + number)
            }
            let three = try await openLog(on: servers, names)
            for reader in [one, two, three] {
                let head = kept.heads[.breaks] ?? 0
                var read: [LoggedRecord] = []
                while read.count < 3 {
                    let last = read.last?.offset ?? head
                    read += try await reader.read(.breaks, after: last, recordsMax: 9, bytesMax: .max)
                }
                #expect(read.map(\.offset) == [base + 1, base + 2, base + 3])
                #expect(read.map(\.previous) == [head, base + 1, base + 2])
                #expect(
                    try await self.everything(reader, .breaks).map(\.bytes)
                        == (kept.records[.breaks] ?? []).map(\.bytes) + [[200], [200], [200]]
                )
                #expect(try await reader.head(of: .breaks) == base + 3 && reader.failure == nil)
                // A record that was left out is none of another's.
                let missing = try await reader.read(.breaks, after: head + 4, recordsMax: 1, bytesMax: 1)
                #expect(missing.map(\.offset) == [base + 1])
            }
            for each in [one, two, three] { await each.close() }
            let states = try await blocking { [access = servers.access] in
                try LogCluster(NATSConnection(access), names: names).states()
            }
            #expect(states.map(\.head) == [base + 3, 4] && states.allSatisfy { $0.unfinished == nil })
            let before = kept
            kept = try await self.kept(servers, names)
            #expect(kept.records[.breaks]?.dropLast(3) == before.records[.breaks]?[...])
            #expect(kept.records[.breaks]?.compactMap(\.mark?.at).count == 14 + 3 * round)
        }
    }

    @Test
    func `records that are missing before and behind a jump are told of`() async throws {
        let servers = try NATSServers.alone.get()
        let first = LogNames.random()
        _ = try await makeLog(on: servers, first)
        let log = try await openLog(on: servers, first)
        for number in 1...6 { _ = try await log.append([UInt8(number)], to: .breaks) }
        await log.close()
        let names = LogNames.random()
        let identity = try await self.restore(try await self.kept(servers, first), servers, names)
        let base = identity.current.base
        let one = try await openLog(on: servers, names)
        for _ in 1...4 { _ = try await one.append([7], to: .breaks) }
        await one.close()
        let access = servers.access
        try await blocking {
            let connection = try NATSConnection(access)
            for sequence in [2, 7, 8, 11] as [UInt64] {
                var code = jsErrCode(0)
                let status = unsafe js_DeleteMsg(connection.context, names.stream(of: .breaks), sequence, nil, &code)
                try NATSCall.check(status, "js_DeleteMsg")
            }
        }
        let stored = try await StoredLog.open(access, names: names)
        var all = InspectedPortion()
        while case let last = all.end ?? 0, last < base + 4 {
            let portion = try await stored.portion(of: .breaks, after: last, recordsMax: 3, bytesMax: 1 << 20)
            try #require(portion.end ?? 0 > last)
            all.records += portion.records
            all.faults += portion.faults
        }
        #expect(all.records.map(\.offset) == [2, 3, 4, 5, base + 2, base + 3])
        let gone = [1, 6, base + 1, base + 4]
        #expect(gone.allSatisfy { offset in all.faults.contains { $0.offsets.contains(offset) } })
        #expect(!all.records.contains { record in all.faults.contains { $0.offsets.contains(record.offset) } })
    }

    @Test
    func `a log that is there, one that was used, and one of another backup are refused`() async throws {
        let servers = try NATSServers.alone.get()
        let (first, names) = (LogNames.random(), LogNames.random())
        let there = try await makeLog(on: servers, first)
        let wanted = try #require(there.restored(heads: [.breaks: 0, Self.lane: 0], at: self.now))
        #expect(
            await self.refusal { _ = try await self.made(servers, first, wanted) }.contains("there is a log already")
        )
        // A backup without records is a log at once.
        #expect(try await self.made(servers, names, wanted) == wanted)
        let log = try await openLog(on: servers, names)
        #expect(try await log.append([1], to: .breaks) == wanted.current.base + 1)
        await log.close()
        let access = servers.access
        #expect(
            await self.refusal { _ = try await LogImport.open(access, names: names) }
                .contains("was restored from a backup")
        )
        let target = try await LogImport.open(access, names: names, isRestoring: true)
        #expect(try await target.head(of: .breaks) == wanted.current.base + 1)
        let other = try #require(LogIdentity().restored(heads: [.breaks: 0, Self.lane: 0], at: self.now))
        let more = try #require(there.restored(heads: [.breaks: 3, Self.lane: 0], at: self.now))
        for each in [other, more] {
            #expect(
                await self.refusal { _ = try await self.made(servers, names, each) }.contains("there is a log already")
            )
        }
    }

    @Test(
        arguments: [
            (Lane.breaks, Lane.acknowledgements(0), "gateways have used it since"),
            (Lane.acknowledgements(0), Lane.breaks, "gateways have used it since"),
            (nil, Lane.acknowledgements(0), "it was lost or went back since"),
            (nil, Lane.breaks, "it was lost or went back since"),
        ] as [(Lane?, Lane, String)]
    )
    func `a restored log that lost a stream is not filled again`(
        _ used: Lane?,
        _ lost: Lane,
        _ sentence: String
    ) async throws {
        let servers = try NATSServers.alone.get()
        let access = servers.access
        let (first, names) = (LogNames.random(), LogNames.random())
        _ = try await makeLog(on: servers, first)
        let log = try await openLog(on: servers, first)
        for number in 1...4 as ClosedRange<UInt8> {
            for lane in LogNames.lanes { _ = try await log.append([number], to: lane) }
        }
        await log.close()
        let kept = try await self.kept(servers, first)
        let identity = try await self.restore(kept, servers, names)
        var heads = kept.heads
        if let used {
            let log = try await openLog(on: servers, names)
            heads[used] = try await log.append([5], to: used)
            await log.close()
            #expect(heads[used] == identity.current.base + 1)
        }
        try await blocking {
            var code = jsErrCode(0)
            let connection = try NATSConnection(access)
            let status = unsafe js_DeleteStream(connection.context, names.stream(of: lost), nil, &code)
            try NATSCall.check(status, "js_DeleteStream")
        }

        // The other lane is shown as it is.
        let states = try await blocking { try LogCluster(NATSConnection(access), names: names).states() }
        #expect(states.map(\.lane) == LogNames.lanes)
        for state in states { #expect(state.head == (state.lane == lost ? nil : heads[state.lane])) }

        let again = try #require(kept.identity.restored(heads: kept.heads, at: self.now + .seconds(60)))
        for wanted in [again, identity] {
            #expect(await self.refusal { _ = try await self.made(servers, names, wanted) }.contains(sentence))
        }
        // Nothing was made in its place.
        let error = await #expect(throws: NATSError.self) {
            try await blocking { try NATSConnection(access).facts(of: names.stream(of: lost), in: names, lane: lost) }
        }
        guard case .noStream = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test
    func `forgotten sessions are refused again, under the same key`() async throws {
        let servers = try NATSServers.alone.get()
        let access = servers.access
        let first = LogNames.random()
        let identity = try await makeLog(on: servers, first)
        let session = SessionID(high: 1, low: 2)
        let forgetting = try await LogForgetting.open(access, names: first)
        let order = try await forgetting.begin(session, at: self.now)
        let heads: [Lane: UInt64] = [.breaks: 0, Self.lane: 0]
        @Sendable func forgotten(_ names: LogNames) async throws -> ForgottenInLog {
            try await blocking { try LogCluster(NATSConnection(access), names: names).forgotten(of: identity.logID) }
        }
        #expect(await self.refusal { _ = try await forgotten(first) }.contains("a session is being forgotten"))
        try await forgetting.markErased(order, through: heads)
        #expect(await self.refusal { _ = try await forgotten(first) }.contains("a session is being forgotten"))
        try await forgetting.finish(order)
        let kept = try await forgotten(first)
        #expect(kept.key?.hash(of: session) == order.hash && kept.sessions == [order.hash: self.now])

        let names = LogNames.random()
        let wanted = try #require(identity.restored(heads: heads, at: self.now))
        #expect(try await self.made(servers, names, wanted, key: kept.key) == wanted)
        for _ in 1...2 {
            try await blocking {
                try LogCluster(NATSConnection(access), names: names)
                    .restoreForgotten(kept, through: heads, of: identity.logID)
            }
            #expect(try await forgotten(names) == kept)
        }
        #expect(
            await self.refusal { _ = try await self.made(servers, names, wanted, key: .random()) }
                .contains("another key")
        )
    }
}
#endif
