// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// A notice as listeners need it: all numbers but for a rare request to move, so that handing it to thousands costs nothing.
package struct NoticeFacts: Hashable, Sendable {
    package var position: Position
    package var kind: Notice.Kind
    /// The break's number in `StreamKnowledge.breaks`; -1 in `head` notices.
    package var breakIndex: Int32
    package var window: RequestWindow?
    package var start: Timestamp?
    package var expires: Timestamp
    package var sent: Timestamp
    package var preStream: Bool
    /// In a head of a gateway that is about to stop.
    package var move: Move?
}

/// A load process's knowledge about one break.
package struct BreakKnowledge: Sendable {
    package let id: BreakID
    /// The id as bytes of the wire.
    package let wireID: [UInt8]
    /// Whether this run publishes it: only such breaks are compared with the gateway's books.
    package let isOurs: Bool
    package var content: BreakContent
    /// When this run meant to publish it.
    package var plannedPublication: Microseconds?
    /// When it was to be announced, where that was later than its publication, by the gateway's clock.
    package var plannedAnnouncement: Timestamp?
    /// When it is over, by the last notice that a listener read; nothing before the first one.
    package var expires: Timestamp?
    /// The time of its publication has come.
    package var isDue = false
    /// The gateway did not take it.
    package var isRefused = false
    package var tally = BreakTally()

    package init(id: BreakID, isOurs: Bool, content: BreakContent) {
        self.id = id
        self.wireID = Array(id.description.utf8)
        self.isOurs = isOurs
        self.content = content
    }
}

/// A load process's knowledge about one stream, which its listeners share.
package struct StreamKnowledge: Sendable {
    /// The most breaks of other broadcasters that are followed on one stream; notices of further ones are counted only.
    package static let foreignBreaksMax = 100_000
    private static let cacheSize = 64

    /// Whether listeners may get another variant of breaks than `default`: by their tokens, the only attributes that they have.
    private let mayHaveVariants: Bool
    package let id: StreamID
    package let wireID: [UInt8]
    package let topic: [UInt8]
    package private(set) var breaks: [BreakKnowledge] = []
    /// The highest position that any listener has seen.
    package private(set) var head: Position?
    private var indexes: [BreakID: Int32] = [:]
    /// Frames that were read lately, by a checksum of their bytes: each of thousands of listeners reads the same.
    private var cache: [(frame: [UInt8], facts: NoticeFacts)?]

    package init(id: StreamID, mayHaveVariants: Bool = false) {
        self.mayHaveVariants = mayHaveVariants
        self.id = id
        self.wireID = Array(id.description.utf8)
        self.topic = NoticeFrame.topic(of: id)
        self.cache = Array(repeating: nil, count: Self.cacheSize)
    }

    /// Makes a break of ours known before it is published.
    ///
    /// - Returns: its number.
    @discardableResult
    package mutating func add(_ id: BreakID, content: [AdvertisementFacts], planned: Microseconds) -> Int {
        var each = BreakKnowledge(id: id, isOurs: true, content: BreakContent(published: content))
        each.plannedPublication = planned
        return Int(self.add(each))
    }

    private mutating func add(_ each: BreakKnowledge) -> Int32 {
        let index = Int32(clamping: self.breaks.count)
        self.indexes[each.id] = index
        self.breaks.append(each)
        return index
    }

    /// Changes what is known of a break.
    package mutating func update<Result>(_ index: Int, _ change: (inout BreakKnowledge) -> Result) -> Result {
        change(&self.breaks[index])
    }

    /// The number of a break that is known.
    package func index(of id: BreakID) -> Int? { self.indexes[id].map(Int.init) }

    /// Reads a frame of this stream; `nil` where it is no notice.
    package mutating func facts(of frame: Span<UInt8>) -> NoticeFacts? {
        let slot = Int(ContentChecksum.of(0..<frame.count, in: frame) % UInt64(Self.cacheSize))
        if let known = self.cache[slot], known.frame.count == frame.count, frame.starts(with: known.frame) {
            return known.facts
        }
        guard frame.count <= WireLimits.noticeFrameBytesMax else { return nil }
        let bytes = frame.indices.map { frame[$0] }
        guard case .notice(let notice, let stream)? = try? NoticeFrame(decoding: bytes), stream == self.id else {
            return nil
        }
        let facts = self.facts(of: notice)
        self.cache[slot] = (bytes, facts)
        return facts
    }

    /// A notice that came with the answer to a join.
    package mutating func facts(of notice: Notice) -> NoticeFacts {
        self.saw(notice.position)
        let breakIndex = notice.breakID.map { self.index(of: $0, in: notice) } ?? -1
        if breakIndex >= 0 { self.breaks[Int(breakIndex)].expires = notice.expires }
        return NoticeFacts(
            position: notice.position,
            kind: notice.kind,
            breakIndex: breakIndex,
            window: notice.window,
            start: notice.start,
            expires: notice.expires,
            sent: notice.sent,
            preStream: notice.preStream,
            move: notice.move
        )
    }

    /// The stream's position as an answer told it.
    package mutating func saw(_ position: Position) {
        guard let head, head.epoch == position.epoch, head.sequence >= position.sequence else {
            self.head = position
            return
        }
    }

    private mutating func index(of id: BreakID, in notice: Notice) -> Int32 {
        if let index = self.indexes[id] { return index }
        guard self.breaks.count < Self.foreignBreaksMax else { return -1 }
        let content = BreakContent(announced: notice.advertisementCount, mayBeOfVariant: self.mayHaveVariants)
        return self.add(BreakKnowledge(id: id, isOurs: false, content: content))
    }
}
