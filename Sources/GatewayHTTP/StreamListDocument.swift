// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore

/// Streams with what happens on them now, as JSON: what `GET /v1/streams` answers.
///
/// Members that have no value are `null`, so that every line has the same ones; the names are a contract.
package struct StreamListDocument: Codable, Hashable, Sendable {
    /// A break as far as a line has room for it.
    package struct Break: Codable, Hashable, Sendable {
        package var `break`: String
        package var state: String
        @OrNull package var start: String?
        @OrNull package var end: String?
        /// 1 when it was published, and one more with each change.
        package var revision: UInt64
    }

    /// One stream.
    package struct Stream: Codable, Hashable, Sendable {
        package var stream: String
        /// How many sessions listen now.
        package var listeners: Int
        /// The break that runs now.
        @OrNull package var running: Break?
        /// The break that comes next.
        @OrNull package var next: Break?
    }

    /// The gateway's clock.
    package var now: String
    /// In the order that was asked for.
    package var streams: [Stream]
    /// The value of `after` for the next page; `nil` on the last one.
    @OrNull package var after: String?
    /// How many streams there are that fit, on all pages.
    package var total: Int
}

/// Which streams are asked for.
struct StreamListQuery: Hashable, Sendable {
    /// The most streams on one page.
    static let streamsMax = 200
    /// How many where nothing is said.
    static let streamsUsual = 50

    /// In which order streams are listed.
    enum Order: String, CaseIterable {
        case stream
        /// Those with most listeners first, on one page: the order of the next moment is another one.
        case listeners
    }

    var order = Order.stream
    /// A part of the id, in lower case; `nil`: all.
    var search: String?
    /// Only streams behind this one.
    var after: StreamID?
    var limit = Self.streamsUsual
}

extension StreamListDocument {
    /// One page.
    init(_ overview: StreamOverview, _ query: StreamListQuery, at now: Timestamp) {
        var ids = overview.streamIDs
        if let search = query.search {
            let wanted = Array(search.utf8)
            ids = ids.filter { $0.contains(lowercased: wanted) }
        }
        var first = ids.startIndex
        if let after = query.after { first = ids.partitioningIndex { $0 > after } }
        let page: [StreamID]
        switch query.order {
        case .stream: page = Array(ids[first...].prefix(query.limit))
        case .listeners:
            page = ids.map { (id: $0, listeners: overview.listenerCount(of: $0)) }
                .sorted { $0.listeners != $1.listeners ? $0.listeners > $1.listeners : $0.id < $1.id }
                .prefix(query.limit).map(\.id)
        }
        let board = overview.board
        self.now = now.description
        self.streams = page.map { Stream($0, overview, board, at: now) }
        self.after = query.order == .stream && first + page.count < ids.endIndex ? page.last?.description : nil
        self.total = ids.count
    }
}

extension StreamListDocument.Stream {
    /// A stream as it is now; one of which nothing is known has neither listeners nor breaks.
    init(_ id: StreamID, _ overview: StreamOverview, _ board: Board, at now: Timestamp) {
        let (running, next) = board.stream(id)?.present(at: now) ?? (nil, nil)
        self.stream = id.description
        self.listeners = overview.listenerCount(of: id)
        self.running = running.map { StreamListDocument.Break($0, at: now) }
        self.next = next.map { StreamListDocument.Break($0, at: now) }
    }
}

extension StreamListDocument.Break {
    fileprivate init(_ each: GatewayCore.Break, at now: Timestamp) {
        self.break = each.key.id.description
        self.state = each.state(at: now).name
        self.start = each.record.start?.description
        self.end = each.end?.description
        self.revision = each.record.revision
    }
}

extension StreamID {
    /// Whether these bytes, in lower case, stand somewhere in it, in either case: an id has no letters but those of ASCII.
    fileprivate func contains(lowercased wanted: [UInt8]) -> Bool {
        let bytes = self.description.utf8.map { byte in
            (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
        }
        guard wanted.count <= bytes.count else { return false }
        return (0...(bytes.count - wanted.count)).contains { bytes[$0...].starts(with: wanted) }
    }
}

extension RandomAccessCollection {
    /// The first place whose element is behind a border, where all behind it are too.
    fileprivate func partitioningIndex(where isBehind: (Element) -> Bool) -> Index {
        var (low, count) = (self.startIndex, self.count)
        while count > 0 {
            let half = count / 2
            let middle = self.index(low, offsetBy: half)
            if isBehind(self[middle]) {
                count = half
            } else {
                low = self.index(after: middle)
                count -= half + 1
            }
        }
        return low
    }
}
