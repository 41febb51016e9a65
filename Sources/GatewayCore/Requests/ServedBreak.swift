// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// A break as the answers to requests need it: everything that does not depend on who asks is worked out once.
package final class ServedBreak: Sendable {
    /// The content of a batch beside the delivery, for one first advertisement.
    struct Batch: Sendable {
        /// The fields of the batch behind its delivery, encoded.
        let fields: [UInt8]
        /// The advertisements, encoded.
        let advertisements: ArraySlice<UInt8>
    }

    /// The list of one variant.
    private struct List: Sendable {
        let name: String
        let advertisementIDs: [AdvertisementID]
        let advertisementBytes: [[UInt8]]
        let steps: [PlayableStep]
        /// By the place of the first advertisement; empty where no listener can ask for a batch.
        let batches: [Batch]

        init(
            _ name: String,
            _ advertisements: [AdvertisementContent],
            _ encoded: EncodedAdvertisements?,
            of each: Break
        ) {
            self.name = name
            self.advertisementIDs = advertisements.map(\.id)
            self.advertisementBytes = self.advertisementIDs.map { Array($0.description.utf8) }
            self.steps = each.playableSteps(of: advertisements)
            self.batches =
                encoded.map { encoded in
                    advertisements.indices.map { first in
                        let batch = ListenerReply.Batch(
                            delivery: [],
                            start: each.record.start,
                            duration: each.lasting,
                            skipped: first,
                            endMode: each.record.endMode,
                            exact: each.exact,
                            advertisements: []
                        )
                        return Batch(fields: batch.encodedFields(), advertisements: encoded.tail(from: first))
                    }
                } ?? []
        }
    }

    let key: BreakKey
    let number: BreakNumber
    /// Whether its stream asks for a token.
    let isProtected: Bool
    /// When listeners were told of it first; `nil`: they were not.
    let announced: Timestamp?
    /// The name of its state where it was withdrawn; `nil`: it was not.
    let withdrawn: String?
    /// Until when acknowledgements are accepted.
    let acknowledgeUntil: Timestamp
    private let streamBytes: [UInt8]
    private let idBytes: [UInt8]
    /// By the number of the variant.
    private let lists: [List]
    private let variants: [AudienceVariant]

    init(_ each: Break, isProtected: Bool, at now: Timestamp) {
        self.key = each.key
        self.isProtected = isProtected
        self.number = each.number
        self.announced = each.announced
        self.withdrawn = each.record.closed == nil ? nil : each.state(at: now).name
        self.acknowledgeUntil = each.over + BoardLimits.acknowledgeWithin
        self.streamBytes = Array(each.key.stream.description.utf8)
        self.idBytes = Array(each.key.id.description.utf8)
        let names = [AudienceVariant.defaultName] + each.record.variants.map(\.name)
        self.lists = zip(names, each.record.lists).enumerated()
            .map { variant, list in List(list.0, list.1, each.encoded?[variant], of: each) }
        self.variants = each.record.variants
    }

    // MARK: - Variants

    /// Whether listeners are told apart by their attributes.
    @inline(__always)
    var hasVariants: Bool { self.lists.count > 1 }

    /// Whether there is a variant of this number.
    @inline(__always)
    func has(variant: UInt32) -> Bool { variant < self.lists.count }

    func name(ofVariant variant: UInt32) -> String { self.lists[Int(variant)].name }

    /// The number of the variant for a listener with these attributes.
    func variant(for attributes: [String: String]) -> UInt32 { self.variants.choose(for: attributes) }

    /// The names of the variants that have an advertisement.
    func variants(with id: AdvertisementID) -> [String] {
        self.lists.filter { $0.advertisementIDs.contains(id) }.map(\.name)
    }

    // MARK: - Batches and advertisements

    /// Whether listeners were told of it.
    var isAnnounced: Bool { self.announced != nil }

    func advertisementCount(of variant: UInt32) -> Int { self.lists[Int(variant)].advertisementIDs.count }

    func advertisementID(_ ordinal: UInt32) -> AdvertisementID {
        self.lists[Int(AdOrdinal.variant(of: ordinal))].advertisementIDs[AdOrdinal.place(of: ordinal)]
    }

    /// The place in its variant's list of the first advertisement that a listener can still play whose playhead is there.
    func firstPlayable(of variant: UInt32, at playhead: Timestamp) -> Int? {
        let list = self.lists[Int(variant)]
        guard let first = list.steps.first(where: { playhead < $0.until })?.first, first < list.batches.count else {
            return nil
        }
        return first
    }

    /// The batch of a variant that begins at a place of its list.
    func batch(of variant: UInt32, from first: Int) -> Batch { self.lists[Int(variant)].batches[first] }

    /// The place in a variant's list of the advertisement whose id lies at `range`; `near` is looked at first.
    @inline(__always)
    func place(of frame: Span<UInt8>, at range: Range<Int>, in variant: UInt32, near: Int) -> Int? {
        let names = self.lists[Int(variant)].advertisementBytes
        if near < names.count, frame.holds(names[near], at: range) { return near }
        for place in names.indices where frame.holds(names[place], at: range) { return place }
        return nil
    }

    fileprivate func isNamed(_ frame: Span<UInt8>, stream: Range<Int>, id: Range<Int>) -> Bool {
        frame.holds(self.idBytes, at: id) && frame.holds(self.streamBytes, at: stream)
    }

    fileprivate var hash: UInt64 {
        let both = self.streamBytes + self.idBytes
        return ServedBreaks.hash(both.span, 0..<self.streamBytes.count, self.streamBytes.count..<both.count)
    }
}

/// The breaks that were asked for since the board last changed, found by the bytes of their names.
///
/// Bounded: a break that falls on the place of another takes it.
struct ServedBreaks: Sendable {
    private static let places = 4_096

    private var table: [ServedBreak?] = Array(repeating: nil, count: Self.places)
    private var isEmpty = true

    func find(_ frame: Span<UInt8>, stream: Range<Int>, id: Range<Int>) -> ServedBreak? {
        guard let served = self.table[Self.place(Self.hash(frame, stream, id))],
            served.isNamed(frame, stream: stream, id: id)
        else { return nil }
        return served
    }

    mutating func insert(_ served: ServedBreak) {
        self.table[Self.place(served.hash)] = served
        self.isEmpty = false
    }

    mutating func removeAll() {
        guard !self.isEmpty else { return }
        for place in self.table.indices { self.table[place] = nil }
        self.isEmpty = true
    }

    private static func place(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash ^ hash >> 32) & (Self.places - 1) }

    /// FNV-1a: names chosen to collide only cost their owners a slower answer.
    static func hash(_ frame: Span<UInt8>, _ stream: Range<Int>, _ id: Range<Int>) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for index in stream { hash = (hash ^ UInt64(frame[index])) &* 0x100_0000_01B3 }
        hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        for index in id { hash = (hash ^ UInt64(frame[index])) &* 0x100_0000_01B3 }
        return hash
    }
}

extension Span<UInt8> {
    /// Whether these bytes lie at `range`.
    @inline(__always)
    fileprivate func holds(_ bytes: [UInt8], at range: Range<Int>) -> Bool {
        guard bytes.count == range.count else { return false }
        for index in bytes.indices where bytes[index] != self[range.lowerBound + index] { return false }
        return true
    }
}
