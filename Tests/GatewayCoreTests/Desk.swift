// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Testing

/// A gateway in pure values: requests become entries, entries go into a log, and the log is folded into the board.
struct Desk {
    /// A broadcaster's answer, with the board's result for the entry if there was one.
    enum Reply: Equatable {
        case recorded(EntryResult)
        case answered(BroadcastReply.Body)

        var refusal: Refusal? {
            switch self {
            case .recorded(.refused(let refusal)), .answered(.refused(let refusal)): refusal
            default: nil
            }
        }

        var notice: Notice? {
            if case .recorded(.changed(_, let notice)) = self { notice } else { nil }
        }

        /// In a word, for tables: `available`, `silently`, `unchanged` or the status of a refusal.
        var word: String {
            switch self {
            case .recorded(let result): result.word
            case .answered(.break): "unchanged"
            case .answered(.list): "list"
            case .answered(.adList): "unchanged"
            case .answered(.adLists): "ad lists"
            case .answered(.cueRule): "cue rule"
            case .answered(.refused(let refusal)): refusal.status.name
            }
        }
    }

    var planner = BroadcastPlanner(policy: BreakPolicy())
    /// How many listeners every stream has.
    var listeners = 0
    private(set) var board: Board
    private(set) var log: [BreakGroup] = []
    /// Every notice in the order in which it was sent.
    private(set) var notices: [StreamNotice] = []

    init(_ board: Board = Board(epoch: Sample.epoch)) { self.board = board }

    mutating func ask(
        _ kind: BroadcastRequest.Kind,
        expecting revision: UInt64? = nil,
        at now: Timestamp,
        by principal: BroadcastPrincipal = .anybody,
        trace: TraceContext? = nil
    ) -> Reply {
        let request = BroadcastRequest(id: 1, expectedRevision: revision, kind: kind)
        let plan = self.planner.plan(
            request,
            by: principal,
            on: self.board,
            at: now,
            listeners: self.listeners,
            trace: trace
        )
        switch plan {
        case .answer(let body): return .answered(body)
        case .append(let entry): return .recorded(self.append([entry])[0])
        }
    }

    mutating func ask(
        _ kind: BroadcastRequest.Kind,
        expecting revision: UInt64? = nil,
        at seconds: Double,
        trace: TraceContext? = nil
    ) -> Reply {
        self.ask(kind, expecting: revision, at: Sample.at(seconds), trace: trace)
    }

    /// Does what is due, as often as something is.
    @discardableResult
    mutating func tick(at now: Timestamp) -> [EntryResult] {
        var results: [EntryResult] = []
        while true {
            let due = BreakTimers(policy: self.planner.policy)
                .due(on: self.board, at: now) { [listeners] _ in listeners }
            guard !due.entries.isEmpty else { return results }
            results += self.append(due.entries)
        }
    }

    @discardableResult
    mutating func tick(at seconds: Double) -> [EntryResult] { self.tick(at: Sample.at(seconds)) }

    /// Lets the log's own time go on to an instant, and lets go of all that is too old by it.
    mutating func runHousekeeping(at seconds: Double) {
        let time = Sample.at(seconds)
        var hasMore = true
        while hasMore || self.board.retentionTime < time {
            guard case .housekept(let done) = self.append([BreakEntry(at: time, kind: .housekeeping(time))])[0] else {
                preconditionFailure("housekeeping was refused")
            }
            hasMore = done.hasMore
        }
    }

    /// Appends one group, as the log would hand it back: through its bytes.
    @discardableResult
    mutating func append(_ entries: [BreakEntry]) -> [EntryResult] {
        let group = must { () throws(WireError) in
            try BreakGroup(decoding: BreakGroup(entries: entries).encoded())
        }
        self.log.append(group)
        let results = self.board.apply(group, offset: self.board.offset + 1)
        for case (.changed(let each, let notice?)) in results {
            self.notices.append(StreamNotice(stream: each.key.stream, notice: notice))
        }
        return results
    }

    subscript(id: String) -> Break? { self.board[Sample.key(id)] }
}

extension EntryResult {
    var word: String {
        switch self {
        case .changed(_, let notice?): "\(notice.kind)"
        case .changed(_, nil): "silently"
        case .unchanged: "unchanged"
        case .refused(let refusal): refusal.status.name
        case .housekept: "housekept"
        case .activated: "activated"
        case .list(_, .nothing): "unchanged"
        case .list(_, .put): "put"
        case .list(_, .removed): "removed"
        }
    }
}

extension BroadcastPrincipal {
    /// A broadcaster with the right to every stream.
    static func all(named name: String) -> BroadcastPrincipal {
        BroadcastPrincipal(name: name, streams: [StreamPattern("*")].compactMap(\.self))
    }
}
