// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import GatewayDocuments

/// Which breaks of the board are asked for.
struct BreakListQuery: Hashable, Sendable {
    /// The most breaks on one page.
    static let breaksMax = 500

    /// Where a page ended: `STREAM/NUMBER`.
    struct Mark: Hashable, Sendable {
        let stream: StreamID
        let number: BreakNumber

        init(stream: StreamID, number: BreakNumber) {
            self.stream = stream
            self.number = number
        }

        init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, let stream = try? StreamID(String(parts[0])), let number = UInt64(parts[1]) else {
                return nil
            }
            self.init(stream: stream, number: BreakNumber(rawValue: number))
        }

        var text: String { "\(self.stream)/\(self.number.rawValue)" }
    }

    var stream: StreamID?
    var after: Mark?
    var limit = 100
    /// Whether only breaks of `stream` are asked for that are not over.
    var isOpen = false
}

extension BreakListDocument {
    /// One page.
    init(_ board: Board, _ query: BreakListQuery, at now: Timestamp) {
        var last: BreakListQuery.Mark?
        var after: String?
        var breaks: [Break] = []
        let mark = query.after.map { BreakMark(stream: $0.stream, number: $0.number) }
        func add(_ each: GatewayCore.Break) -> Bool {
            guard breaks.count < query.limit else {
                after = last?.text
                return false
            }
            breaks.append(Break(each.info(at: now)))
            last = BreakListQuery.Mark(stream: each.key.stream, number: each.number)
            return true
        }
        if query.isOpen, let stream = query.stream {
            let open = mark.map { $0.stream <= stream } ?? true ? board.stream(stream)?.open(at: now) ?? [] : []
            for each in open where mark.map({ $0.stream < stream || $0.number < each.number }) ?? true {
                guard add(each) else { break }
            }
        } else {
            board.scan(of: query.stream, after: mark, add)
        }
        self.init(now: now, breaks: breaks, after: after)
    }
}
