// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CNATS
import CuecastWire
import GatewayCore
import TestSupport
import Testing

@testable import JetStreamLog

/// Sessions go out of a log on JetStream, and everything that reads it counts as before.
@Suite(.suiteLimit)
struct LogForgettingTests {
    private static let lane = Lane.acknowledgements(0)
    private let session = SessionID(high: 0xF0F0_1234_5678_9ABC, low: 0x0123_4567_89AB_CDEF)
    private let other = SessionID(high: 1, low: 2)

    /// A record in which both sessions were handed a batch of a break.
    private func record(_ number: UInt64, _ sessions: [SessionID]) -> [UInt8] {
        AcknowledgementGroup(
            deliveries: sessions.map {
                .init(
                    session: $0,
                    breakNumber: BreakNumber(rawValue: number),
                    at: Timestamp(microseconds: Int64(number))
                )
            }
        )
        .encoded()
    }

    private func sessions(_ records: [LoggedRecord]) throws -> [[SessionID]] {
        try records.map { try LedgerPosting($0).deliveries.map(\.session) }
    }

    private func everything(_ log: any EventLog) async throws -> [LoggedRecord] {
        let head = try await log.head(of: Self.lane)
        var all: [LoggedRecord] = []
        while case let last = all.last?.offset ?? 0, last < head {
            all += try await log.read(Self.lane, after: last, recordsMax: 3, bytesMax: 1 << 20)
        }
        return all
    }

    /// A log with ten records; the first, the last, and others name the session.
    private func log(_ servers: NATSServers, _ names: LogNames) async throws -> JetStreamLog {
        _ = try await makeLog(on: servers, names)
        let log = try await openLog(on: servers, names)
        for number in 1...10 as ClosedRange<UInt64> {
            let record = self.record(number, number % 3 == 1 ? [self.other, self.session] : [self.other])
            _ = try await log.append(record, id: AppendID(origin: 9, number: number), to: Self.lane)
        }
        return log
    }

    private func forgetting(_ servers: NATSServers, _ names: LogNames) async throws -> LogForgetting {
        let access = servers.access
        return try await eventually { try await LogForgetting.open(access, names: names) }
    }

    private let now = Timestamp(microseconds: 1_800_000_000_000_000)

    @Test(arguments: LogKind.allCases)
    func `records get other names, keep their places, and go on`(_ kind: LogKind) async throws {
        let servers = try (kind == .alone ? NATSServers.alone : NATSServers.three).get()
        let names = LogNames.random()
        let log = try await self.log(servers, names)
        let before = try await self.everything(log)
        let forgetting = try await self.forgetting(servers, names)
        #expect(try await forgetting.count(self.session) == 4)
        let order = try await forgetting.begin(self.session, at: self.now)
        #expect(try await forgetting.gatewaysAreTold(at: self.now))
        // Begun again, it is the same order with the same names.
        #expect(try await forgetting.begin(self.session, at: self.now) == order)
        let pending = try await forgetting.orders.read().pending
        #expect(pending == [order])
        let swept = try await forgetting.sweep(pending)
        #expect(swept.records == 4 && swept.heads == [Self.lane: 10])
        #expect(try await forgetting.sweep(pending).records == 0)
        #expect(try await forgetting.count(self.session) == 0)

        // A log that was open, one that is opened now, and one that is only inspected read the same.
        log.dropRecords()
        let again = try await openLog(on: servers, names)
        let access = servers.access
        let stored = try await eventually { try await StoredLog.open(access, names: names) }
        var inspected: [LoggedRecord] = []
        while (inspected.last?.offset ?? 0) < 10 {
            let after = inspected.last?.offset ?? 0
            let portion = try await stored.portion(of: Self.lane, after: after, recordsMax: 100, bytesMax: 1 << 20)
            try #require(portion.faults.isEmpty && !portion.records.isEmpty)
            inspected += portion.records
        }
        let others = try #require(order.names)
        for records in [try await self.everything(log), try await self.everything(again), inspected] {
            #expect(records.map(\.offset) == before.map(\.offset) && records.map(\.mark) == before.map(\.mark))
            #expect(records.map(\.isStandIn) == before.map { $0.offset % 3 == 1 })
            #expect(
                try self.sessions(records)
                    == before.map { record in
                        let number = BreakNumber(rawValue: record.offset)
                        let name = SessionPseudonyms(of: self.session, others)[number]
                        return record.offset % 3 == 1 ? [self.other, name] : [self.other]
                    }
            )
        }
        #expect(try await log.append(self.record(11, [self.other]), to: Self.lane) == 11)
        #expect(log.failure == nil && again.failure == nil)

        // The names are erased in the end; another session of the same records is forgotten later.
        try await forgetting.finish(order)
        #expect(try await forgetting.orders.read().pending == [])
        let second = try await forgetting.begin(self.other, at: self.now)
        #expect(try await forgetting.sweep([second]).records == 11)
        let last = try await eventually { try await StoredLog.open(access, names: names) }
        let rest = try await last.portion(of: Self.lane, after: 0, recordsMax: 100, bytesMax: 1 << 20)
        #expect(rest.faults.isEmpty && rest.records.count == 11)
        #expect(try self.sessions(rest.records).allSatisfy { !$0.contains(self.other) && !$0.contains(self.session) })
        await log.close()
        await again.close()
    }

    @Test func `a sweep that ended between two steps is done again`() async throws {
        let servers = try NATSServers.alone.get()
        let names = LogNames.random()
        let log = try await self.log(servers, names)
        let forgetting = try await self.forgetting(servers, names)
        let order = try await forgetting.begin(self.session, at: self.now)
        let access = servers.access
        let newNames = try #require(order.names)
        let record = try AcknowledgementGroup(decoding: self.record(4, [self.other, self.session]))
        let group = try #require(try record.forgetting([newNames]))
        // The record that stands for one is stored twice, and nothing is erased.
        try await blocking {
            let connection = try NATSConnection(access)
            for _ in 0..<2 {
                _ = try connection.store(
                    group.encoded(),
                    headers: [
                        (StandInHeader.order, "\(order.number)"), (StandInHeader.time, "2026-11-28T04:36:07Z"),
                        (AppendHeader.name, AppendHeader.text(AppendID(origin: 9, number: 4))),
                    ],
                    on: names.forgotten.standIn(for: 5, of: Self.lane),
                    in: names.forgottenStream
                )
            }
        }
        #expect(try await self.everything(log).map(\.isStandIn).contains(true) == false)
        #expect(try await forgetting.sweep([order]).records == 4)
        #expect(try await forgetting.sweep([order]).records == 0)
        let counts = try await blocking {
            try NATSConnection(access)
                .messages(
                    from: 1,
                    of: names.forgottenStream,
                    messagesMax: 100,
                    bytesMax: 1 << 20,
                    on: names.forgotten.standIns
                )
        }
        #expect(counts.count == 4)
        log.dropRecords()
        #expect(try await self.everything(log).count == 10)
        #expect(log.failure == nil)
        await log.close()
    }

    @Test func `a command that ended between names and order is gone on with`() async throws {
        let servers = try NATSServers.alone.get()
        let names = LogNames.random()
        let log = try await self.log(servers, names)
        let forgetting = try await self.forgetting(servers, names)
        #expect(try await forgetting.pending(at: self.now) == [])
        let access = servers.access
        let pseudonyms = SessionPseudonyms(of: self.session).names
        let hash = try #require(try await forgetting.orders.read().key).hash(of: self.session)
        try await blocking {
            _ = try NATSConnection(access)
                .store(pseudonyms.bytes, on: names.forgotten.names(hash), in: names.forgottenStream)
        }
        #expect(try await forgetting.orders.read().pending == [])
        let order = try #require(try await forgetting.pending(at: self.now).first)
        #expect(order.names == pseudonyms)
        #expect(try await forgetting.begin(self.session, at: self.now) == order)
        #expect(try await forgetting.pending(at: self.now) == [order])
        #expect(try await forgetting.sweep([order]).records == 4)

        // Ended again when it had erased the names, and begun anew: a new order, also for a reader that knows the old one.
        try await forgetting.finish(order)
        #expect(try await forgetting.pending(at: self.now) == [])
        try await blocking {
            _ = try NATSConnection(access)
                .store(pseudonyms.bytes, on: names.forgotten.names(hash), in: names.forgottenStream)
        }
        let again = try await forgetting.pending(at: self.now)
        #expect(again.count == 1 && again.allSatisfy { $0.number > order.number })
        await log.close()
    }

    @Test func `gateways are told again of what a sweep that was cut off had replaced`() async throws {
        let servers = try NATSServers.alone.get()
        let names = LogNames.random()
        let log = try await self.log(servers, names)
        let forgetting = try await self.forgetting(servers, names)
        var order = try await forgetting.begin(self.session, at: self.now)
        let swept = try await forgetting.sweep([order])
        #expect(swept.hasToBeTold(of: order))
        order.erased = try await forgetting.markErased(order, through: swept.heads)
        #expect(!(try await forgetting.sweep([order])).hasToBeTold(of: order))
        // A gateway that had not heard of the order appends; the command ends when the record is replaced.
        _ = try await log.append(self.record(11, [self.session]), id: AppendID(origin: 9, number: 11), to: Self.lane)
        #expect(try await forgetting.sweep([order]).records == 1)
        let next = try await forgetting.sweep([order])
        #expect(next.records == 0 && next.hasToBeTold(of: order))
        order.erased = try await forgetting.markErased(order, through: next.heads)
        #expect(!(try await forgetting.sweep([order])).hasToBeTold(of: order))
        await log.close()
    }

    @Test func `gateways of an older log have a minute to tell that they are there`() {
        func areTold(madeAfter: Int64, askedAfter: Int64) -> Bool {
            LogForgetting.areTold(
                streamMade: madeAfter * 1_000_000_000,
                logMade: 0,
                now: Timestamp(microseconds: (madeAfter + askedAfter) * 1_000_000)
            )
        }
        #expect(areTold(madeAfter: 59, askedAfter: 0))
        #expect(!areTold(madeAfter: 60, askedAfter: 0))
        #expect(!areTold(madeAfter: 86_400, askedAfter: 60))
        #expect(areTold(madeAfter: 86_400, askedAfter: 61))
    }

    @Test func `records of an order are handed out when the books follow it`() async throws {
        let servers = try NATSServers.alone.get()
        let names = LogNames.random()
        let log = try await self.log(servers, names)
        await log.close()
        let forgetting = try await self.forgetting(servers, names)
        let order = try await forgetting.begin(self.session, at: self.now)
        _ = try await forgetting.sweep([order])
        let access = servers.access
        let waiting = try await eventually { try await JetStreamLog.open(access, names: names, followed: 0) }
        await #expect(throws: EventLogError.unanswered) {
            try await waiting.read(Self.lane, after: 0, recordsMax: 1, bytesMax: 1)
        }
        waiting.follow(through: order.number)
        #expect(try await self.everything(waiting).count == 10)
        await waiting.close()
    }

    @Test func `a session that is being forgotten has its names for every reader`() async throws {
        let servers = try NATSServers.alone.get()
        let names = LogNames.random()
        let log = try await self.log(servers, names)
        let forgetting = try await self.forgetting(servers, names)
        let order = try await forgetting.begin(self.session, at: self.now)
        log.rename([try #require(order.names)])
        let renamed = try self.sessions(try await self.everything(log))
        _ = try await forgetting.sweep([order])
        log.dropRecords()
        #expect(try self.sessions(try await self.everything(log)) == renamed)
        #expect(renamed.allSatisfy { !$0.contains(self.session) })
        await log.close()
    }

    @Test func `a message that was erased and has no record in its place stops the log`() async throws {
        let servers = try NATSServers.alone.get()
        let names = LogNames.random()
        let log = try await self.log(servers, names)
        let forgetting = try await self.forgetting(servers, names)
        let order = try await forgetting.begin(self.session, at: self.now)
        _ = try await forgetting.sweep([order])
        let access = servers.access
        try await blocking { try NATSConnection(access).erase(3, of: names.stream(of: Self.lane)) }
        #expect(await log.stopped()?.contains("deleted") == true)
        await log.close()
        await #expect(throws: NATSError.self) { try await JetStreamLog.open(access, names: names) }
        let stored = try await StoredLog.open(access, names: names)
        let portion = try await stored.portion(of: Self.lane, after: 0, recordsMax: 100, bytesMax: 1 << 20)
        #expect(portion.faults.first?.offsets == 2...2)
    }

    @Test func `gateways tell how far their books are`() async throws {
        let servers = try NATSServers.alone.get()
        let names = LogNames.random()
        let log = try await self.log(servers, names)
        let forgetting = try await self.forgetting(servers, names)
        var books = ForgettingBooks(id: "ab12")
        try await forgetting.orders.tell(books)
        (books.refused, books.done, books.version) = (7, 9, "1.2.3")
        try await forgetting.orders.tell(books)
        try await forgetting.orders.tell(ForgettingBooks(id: "cd34"))
        #expect(try await forgetting.orders.books() == [books, ForgettingBooks(id: "cd34")])
        try await forgetting.drop("cd34")
        #expect(try await forgetting.orders.books() == [books])
        #expect(try await forgetting.serversAway() == [])
        await log.close()
    }
}
#endif
