// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The outcomes and deliveries that were logged lately, by session, so that a repeat is not logged again.
///
/// A table of places, each for one outcome: a keyed hash of (session, break, ordinal), one of what happened, and the group that it
/// went into. The only error that it can make is to forget: then a repeat is logged once more, which the ledger folds. It never
/// takes an outcome for another one, except where two hashes of 128 bits agree by chance under a secret key.
///
/// The table grows up to its limit; from then on what is oldest gives its place away.
package struct RecentOutcomes: Sendable {
    /// The knowledge about an outcome.
    package enum Known: Hashable, Sendable {
        /// Nothing.
        case nothing
        /// The same is in a group that is not durable yet.
        case waits(group: UInt64)
        /// The same is durable.
        case durable
        /// Something else is remembered for this session and advertisement.
        case differs
    }

    /// How many outcomes that differ from the one remembered are logged for one session and advertisement.
    ///
    /// One is a contradiction that the ledger counts; a client that goes on is broken or wants to fill the disk.
    package static let contradictionsLoggedMax = LimitName.contradictionsLoggedMax.value
    /// Places that are looked at for one hash.
    private static let ways = 4
    /// Where a table begins: a gateway with few listeners stays small.
    private static let placesMin = 1_024
    /// The size to which a table that is too small grows, in one step: each step costs milliseconds, in which no request is
    /// answered.
    private static let placesUsual = 524_288
    /// Forgetting something younger than this means that the limit is reached.
    private static let youngSeconds: Int64 = 60

    private struct Place {
        /// 0: nothing is here.
        var tag: UInt64 = 0
        var digest: UInt64 = 0
        var group: UInt64 = 0
        /// By the gateway's clock.
        var seconds: Int32 = 0
        /// How many that differ were logged.
        var contradictions: Int32 = 0
    }

    /// The hash of a session and a break, from which those of its outcomes are made.
    package struct Key: Sendable {
        fileprivate let tag: UInt64
        fileprivate let digest: UInt64
    }

    /// The most outcomes and deliveries that are remembered; a power of two.
    package let outcomesMax: Int
    /// How often something young had to give its place away.
    package private(set) var displacedCount = 0
    private var displacedTaken = 0
    /// The number of the group that gathers; every number is given once.
    package private(set) var gathering: UInt64 = 1
    /// Handed to the log, and not answered yet: a few.
    private var inFlight: [UInt64] = []
    /// The content of groups before this one is not known any more, because one of them failed.
    private var knownFrom: UInt64 = 0
    private var places: [Place]
    private var used = 0
    private let secrets: (UInt64, UInt64, UInt64, UInt64)

    /// A memory without anything in it.
    ///
    /// - Parameters:
    ///   - outcomesMax: rounded down to a power of two; 0: it remembers nothing.
    ///   - fixedSecret: the seed for the secrets of its hashes, for measurements; `nil`: they are new and unknown.
    package init(outcomesMax: Int, fixedSecret: UInt64? = nil) {
        let places = outcomesMax < Self.ways ? 0 : 1 << (Int.bitWidth - 1 - outcomesMax.leadingZeroBitCount)
        self.outcomesMax = places
        self.places = Array(repeating: Place(), count: min(places, Self.placesMin))
        var generator = SystemRandomNumberGenerator()
        self.secrets =
            fixedSecret.map {
                ($0, $0 &* 0x9E37_79B9_7F4A_7C15, $0 &* 0xBF58_476D_1CE4_E5B9, $0 &* 0x94D0_49BB_1331_11EB)
            }
            ?? (generator.next(), generator.next(), generator.next(), generator.next())
    }

    // MARK: - Groups

    /// The group that gathers goes to the log.
    ///
    /// - Returns: its number.
    package mutating func close() -> UInt64 {
        self.inFlight.append(self.gathering)
        self.gathering += 1
        return self.gathering - 1
    }

    /// The log has answered about a group; what a failed one held is forgotten, with all that is older.
    package mutating func answered(_ group: UInt64, isDurable: Bool) {
        self.inFlight.removeAll { $0 == group }
        if !isDurable { self.knownFrom = self.gathering }
    }

    /// Whether something young had to give its place away since this was asked last.
    package mutating func takeDisplaced() -> Bool {
        defer { self.displacedTaken = self.displacedCount }
        return self.displacedCount > self.displacedTaken
    }

    // MARK: - Outcomes

    package func key(_ session: SessionID, _ number: BreakNumber) -> Key {
        let first = Self.mix(session.high ^ self.secrets.0, session.low ^ self.secrets.1)
        let second = Self.mix(session.high ^ self.secrets.2, session.low ^ self.secrets.3)
        return Key(
            tag: Self.mix(first ^ number.rawValue, self.secrets.2),
            digest: Self.mix(second ^ number.rawValue, self.secrets.0)
        )
    }

    /// The knowledge about an outcome of this session and break.
    package func known(_ key: Key, ordinal: UInt32, _ details: OutcomeDetails) -> Known {
        guard let place = self.find(self.tag(key, ordinal)) else { return .nothing }
        guard self.places[place].digest == self.digest(key, details) else { return .differs }
        return self.state(of: self.places[place].group)
    }

    /// Remembers that an outcome goes into the group that gathers.
    package mutating func remember(_ key: Key, ordinal: UInt32, _ details: OutcomeDetails, at now: Timestamp) {
        self.insert(self.tag(key, ordinal), digest: self.digest(key, details), at: now)
    }

    /// Whether one more outcome that differs from the one remembered is logged.
    package func mayContradict(_ key: Key, ordinal: UInt32) -> Bool {
        self.find(self.tag(key, ordinal)).map { self.places[$0].contradictions < Self.contradictionsLoggedMax } ?? true
    }

    /// One more that differs is logged.
    package mutating func countContradiction(_ key: Key, ordinal: UInt32) {
        if let place = self.find(self.tag(key, ordinal)) { self.places[place].contradictions += 1 }
    }

    // MARK: - Deliveries

    /// Remembers that a batch goes into the group that gathers.
    ///
    /// - Parameters:
    ///   - key: the session and the break of the outcome.
    ///   - first: the ordinal of its first advertisement.
    ///   - now: the gateway's clock.
    /// - Returns: whether that is news: `false` where the same batch, or a larger one, is remembered.
    package mutating func noteDelivery(_ key: Key, from first: UInt32, at now: Timestamp) -> Bool {
        let tag = self.tag(key, .max)
        if let place = self.find(tag), self.places[place].digest <= UInt64(first) { return false }
        self.insert(tag, digest: UInt64(first), at: now)
        return true
    }

    // MARK: - Places

    private func state(of group: UInt64) -> Known {
        group == self.gathering || self.inFlight.contains(group) ? .waits(group: group) : .durable
    }

    /// Where the outcome with this tag is.
    @inline(__always)
    private func find(_ tag: UInt64) -> Int? {
        guard !self.places.isEmpty else { return nil }
        let start = self.start(of: tag)
        for place in start..<(start + Self.ways)
        where self.places[place].tag == tag && self.places[place].group >= self.knownFrom {
            return place
        }
        return nil
    }

    @inline(__always)
    private func start(of tag: UInt64) -> Int {
        Int(truncatingIfNeeded: tag) & (self.places.count - 1) & ~(Self.ways - 1)
    }

    private mutating func insert(_ tag: UInt64, digest: UInt64, at now: Timestamp) {
        guard self.outcomesMax > 0 else { return }
        if self.used > self.places.count / 2, self.places.count < self.outcomesMax { self.grow() }
        var oldest = self.place(for: tag)
        // Before anything that is known gives its place away, there are more places.
        while self.places.count < self.outcomesMax, self.isKnown(self.places[oldest], besides: tag) {
            self.grow()
            oldest = self.place(for: tag)
        }
        let seconds = Int32(truncatingIfNeeded: now.microseconds / 1_000_000)
        let before = self.places[oldest]
        var contradictions: Int32 = 0
        if before.tag == tag, before.group >= self.knownFrom {
            contradictions = before.contradictions
        } else if before.tag == 0 {
            self.used += 1
        } else if before.group >= self.knownFrom,
            Int64(seconds) - Int64(before.seconds) < Self.youngSeconds
        {
            self.displacedCount += 1
        }
        self.places[oldest] = Place(
            tag: tag,
            digest: digest,
            group: self.gathering,
            seconds: seconds,
            contradictions: contradictions
        )
    }

    /// Where an outcome goes: its own place, a free one, or that of the oldest of those that share its ways.
    @inline(__always)
    private func place(for tag: UInt64) -> Int {
        let start = self.start(of: tag)
        var oldest = start
        for place in start..<(start + Self.ways) {
            if self.places[place].tag == tag { return place }
            if self.places[place].group < self.places[oldest].group { oldest = place }
        }
        return oldest
    }

    /// Whether something else than this outcome is remembered here.
    @inline(__always)
    private func isKnown(_ place: Place, besides tag: UInt64) -> Bool {
        place.tag != 0 && place.tag != tag && place.group >= self.knownFrom
    }

    /// More places: what shared the ways of one hash is spread over several.
    private mutating func grow() {
        let old = self.places
        self.places = Array(repeating: Place(), count: min(self.outcomesMax, max(2 * old.count, Self.placesUsual)))
        self.used = 0
        for place in old where place.tag != 0 && place.group >= self.knownFrom {
            let start = self.start(of: place.tag)
            for free in start..<(start + Self.ways) where self.places[free].tag == 0 {
                self.places[free] = place
                self.used += 1
                break
            }
        }
    }

    // MARK: - Hashes

    /// Combines two words into one, as wyhash does it: hashes never leave the gateway, and the secrets are new with every start.
    @inline(__always)
    private static func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let product = left.multipliedFullWidth(by: right)
        return product.high ^ product.low
    }

    @inline(__always)
    private func tag(_ key: Key, _ ordinal: UInt32) -> UInt64 {
        // 0 means that a place is free.
        max(1, Self.mix(key.tag ^ UInt64(ordinal), self.secrets.3))
    }

    @inline(__always)
    private func digest(_ key: Key, _ details: OutcomeDetails) -> UInt64 {
        var word = UInt64(details.heardMilliseconds)
        word = word << 10 | UInt64(details.vastError)
        word = word << 4 | UInt64(details.reason?.rawValue ?? 0)
        word = word << 3 | UInt64(details.quartiles)
        word = word << 2 | UInt64(details.kind.rawValue)
        word = word << 2 | UInt64(details.evidence.rawValue)
        word = word << 2 | (details.muted ? 2 : 0) | (details.clicked ? 1 : 0)
        let occurred = UInt64(bitPattern: details.occurred.microseconds)
        return Self.mix(key.digest ^ word, self.secrets.1 ^ occurred)
    }
}
