// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayTestKit
import HashTreeCollections

/// The gateway's own decisions, all of them, with an event log in memory and without threads or sockets.
struct CoreGateway: Sendable {
    let stream: StreamID
    private(set) var board: Board
    /// How often it was started.
    private(set) var instance: UInt64 = 100
    private(set) var handler: ListenerRequestHandler
    /// The lane of acknowledgements: what is in here is durable.
    private(set) var groups: [LoggedRecord] = []
    private(set) var requests = 0
    private let planner: BroadcastPlanner
    private let timers: BreakTimers

    init(stream: StreamID) {
        var policy = BreakPolicy()
        policy.announceAhead = .seconds(5)
        self.stream = stream
        self.planner = BroadcastPlanner(policy: policy)
        self.timers = BreakTimers(policy: policy)
        self.board = Board(epoch: 7)
        self.handler = Self.handler(instance: self.instance, board: self.board)
    }

    private static func handler(instance: UInt64, board: Board) -> ListenerRequestHandler {
        ListenerRequestHandler(settings: .init(instance: instance), board: board, metrics: MetricRegistry())
    }

    var head: Position { self.board.position(of: self.stream) }

    /// What listeners were told last about each break.
    var breaks: [BreakID: Break] {
        let breaks = self.board.stream(self.stream)?.breaks.values.map { ($0.key.id, $0) } ?? []
        return Dictionary(uniqueKeysWithValues: breaks)
    }

    subscript(id: BreakID) -> Break? { self.board[BreakKey(stream: self.stream, id: id)] }

    // MARK: The broadcaster's side

    /// What the broadcaster asks; gives the notices that come of it.
    mutating func ask(_ kind: BroadcastRequest.Kind, at now: Timestamp) -> [Notice] {
        let request = BroadcastRequest(id: 1, kind: kind)
        switch self.planner.plan(request, by: "", on: self.board, at: now, listeners: 1) {
        case .answer: return []
        case .append(let entry): return self.append([entry])
        }
    }

    /// Does what its time has come for; gives the notices, and when to look again.
    mutating func runTimers(at now: Timestamp) -> (notices: [Notice], next: Timestamp?) {
        var notices: [Notice] = []
        while true {
            let (entries, next) = self.timers.due(on: self.board, at: now) { _ in 1 }
            guard !entries.isEmpty else { return (notices, next) }
            notices += self.append(entries)
        }
    }

    private mutating func append(_ entries: [BreakEntry]) -> [Notice] {
        let results = self.board.apply(BreakGroup(entries: entries), offset: self.board.offset + 1)
        self.handler.board = self.board
        return results.compactMap { result in
            guard case .changed(_, let notice) = result else { return nil }
            return notice
        }
    }

    // MARK: The listeners' side

    /// Answers a request, once what it records is durable.
    mutating func answer(_ frame: [UInt8], at now: Timestamp) -> [UInt8] {
        self.requests += 1
        switch self.handler.handle(frame, from: PeerFacts(transport: "simulated"), at: now) {
        case .now(let reply): return reply.frame
        case .afterGroup(let deferred):
            self.flush()
            return self.handler.finish(deferred, isDurable: true, at: now).frame
        }
    }

    /// Ends before what a request asks to be recorded is durable.
    mutating func fail(_ frame: [UInt8], at now: Timestamp) {
        _ = self.handler.handle(frame, from: PeerFacts(transport: "simulated"), at: now)
        self.restart(losesHistory: false)
    }

    private mutating func flush() {
        let (number, group) = self.handler.takeGroup()
        self.handler.answered(number, isDurable: true, deliveries: group.deliveries)
        guard !group.isEmpty else { return }
        self.groups.append(LoggedRecord(offset: UInt64(self.groups.count + 1), bytes: group.encoded()))
    }

    /// Begins another run: what was not durable is gone.
    ///
    /// Positions of the run before mean nothing where it `losesHistory`.
    mutating func restart(losesHistory: Bool) {
        self.instance += 1
        if losesHistory { self.board = Board(epoch: self.board.epoch + 1, self.board.record) }
        self.handler = Self.handler(instance: self.instance, board: self.board)
    }

    // MARK: The books

    /// The report that the ledger gives when everything is settled.
    mutating func report() async throws -> Report {
        self.flush()
        let ledger = InMemoryLedger()
        let breaks = self.breaks.values.sorted { $0.number < $1.number }
        try await ledger.record(breaks.map(\.summary), through: self.board.offset)
        try await ledger.apply(self.groups.map { try LedgerPosting($0) }, of: .acknowledgements(0))
        var all: [Report.Break] = []
        var before: BreakNumber?
        while true {
            let page = try await ledger.report(
                ReportQuery(before: before, limit: ReportQuery.breaksMax, now: .latest)
            )
            all += page.breaks
            guard page.more, let last = page.breaks.last else { break }
            before = last.summary.number
        }
        return Report(breaks: all, offsets: [:], more: false)
    }
}
