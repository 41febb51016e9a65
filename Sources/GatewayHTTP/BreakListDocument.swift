// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore

/// The breaks of the board as JSON: what `GET /v1/breaks` answers.
///
/// Keys that do not apply are absent. Instants are RFC 3339 in UTC; the names of the keys are a contract.
package struct BreakListDocument: Codable, Hashable, Sendable {
    package struct Break: Codable, Hashable, Sendable {
        package var stream: String
        package var `break`: String
        package var state: String
        package var start: String?
        package var end: String?
        package var durationMilliseconds: Int64?
        package var ads: Int
        package var firstAdTitle: String
        package var preStream: Bool
        package var exact: Bool
        /// The position of the last notice about it, as EPOCH:SEQUENCE; the epoch is hexadecimal.
        package var position: String?
        package var announce: String?
        package var holdUntil: String?
        package var published: String
        /// The broadcaster that published it; absent if broadcasters are not identified.
        package var broadcaster: String?
        /// 1 when it was published, and one more with each change.
        package var revision: UInt64
        /// Where a VAST document was sent: what of it is not in the break, each with its reason; absent where nothing is missing.
        package var leftOut: [String]?
    }

    /// The gateway's clock.
    package var now: String
    /// By stream, in the order in which they were published.
    package var breaks: [Break]
    /// The value of `after` for the next page; absent on the last one.
    package var after: String?
}

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
    init(_ board: Board, _ query: BreakListQuery, at now: Timestamp) {
        self.now = now.description
        self.breaks = []
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
        self.breaks = breaks
        self.after = after
    }
}

extension BreakListDocument.Break {
    init(_ info: BreakInfo) {
        self.stream = info.key.stream.description
        self.break = info.key.id.description
        self.state = info.state.name
        self.start = info.start?.description
        self.end = info.end?.description
        self.durationMilliseconds = info.duration.map { $0.inMicroseconds / 1_000 }
        self.ads = info.advertisementCount
        self.firstAdTitle = info.firstAdvertisementTitle
        self.preStream = info.preStream
        self.exact = info.exact
        self.position = info.position.map { "\($0)" }
        self.announce = info.announce?.description
        self.holdUntil = info.holdUntil?.description
        self.published = info.published.description
        self.broadcaster = info.broadcaster.isEmpty ? nil : info.broadcaster
        self.revision = info.revision
    }
}
