// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Gateway
import GatewayCore
import GatewayDocuments

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
        self.init(
            now: now,
            streams: page.map { Stream($0, overview, board, at: now) },
            after: query.order == .stream && first + page.count < ids.endIndex ? page.last : nil,
            total: ids.count
        )
    }
}

extension StreamListDocument.Stream {
    /// A stream as it is now; one of which nothing is known has neither listeners nor breaks.
    init(_ id: StreamID, _ overview: StreamOverview, _ board: Board, at now: Timestamp) {
        let (running, next) = board.stream(id)?.present(at: now) ?? (nil, nil)
        self.init(
            stream: id,
            listeners: overview.listenerCount(of: id),
            running: running.map { StreamListDocument.Break($0, at: now) },
            next: next.map { StreamListDocument.Break($0, at: now) }
        )
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
