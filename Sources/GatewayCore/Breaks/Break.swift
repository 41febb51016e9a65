// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// One break on the board: its record, and what follows from it.
///
/// The board's trees copy a whole node for one change, and a record has dozens of fields: it lies in memory of its own, so that the
/// copy of a break is one reference, whatever is in it.
package struct Break: Sendable {
    /// Safety: it is changed only through a reference that is known to be the only one; what is shared is constant.
    private final class Kept: @unchecked Sendable {
        // Safety: only a break that holds the one reference changes it, and a break is a value, whose accesses the compiler keeps apart.
        @safe @exclusivity(unchecked) var record: BreakRecord
        /// By the number of the variant.
        @safe @exclusivity(unchecked) var encoded: [EncodedAdvertisements]?
        @safe @exclusivity(unchecked) var contentBytes: Int

        init(_ record: BreakRecord, encoded: [EncodedAdvertisements]?, contentBytes: Int) {
            self.record = record
            self.encoded = encoded
            self.contentBytes = contentBytes
        }

        func copy() -> Kept { Kept(self.record, encoded: self.encoded, contentBytes: self.contentBytes) }
    }

    private var kept: Kept

    package init(_ record: BreakRecord) {
        var record = record
        // One list in memory where both are the same.
        if record.advertisements == record.publish.request.advertisements {
            record.advertisements = record.publish.request.advertisements
        }
        if record.variants == record.publish.request.variants { record.variants = record.publish.request.variants }
        let encoded = record.condensed ? nil : record.lists.map { EncodedAdvertisements($0) }
        self.kept = Kept(record, encoded: encoded, contentBytes: Self.contentBytes(of: record, encoded))
    }

    package internal(set) var record: BreakRecord {
        // Coroutines, so that neither reading one field nor writing it copies all the others.
        _read { yield self.kept.record }
        _modify {
            if !isKnownUniquelyReferenced(&self.kept) { self.kept = self.kept.copy() }
            yield &self.kept.record
        }
    }

    /// The advertisements as bytes for batches, by the number of the variant; `nil` once no listener can ask for them any more.
    package var encoded: [EncodedAdvertisements]? { self.kept.encoded }
    /// The size at which its advertisements are counted.
    private var contentBytes: Int { self.kept.contentBytes }

    /// Lets it be the break that a broadcaster published, from now on.
    ///
    /// Listeners may know its id: it keeps that one, and the id of the publication is its alias.
    ///
    /// - Parameters:
    ///   - publish: the publication.
    ///   - broadcaster: the publisher.
    mutating func become(_ publish: BreakEntry.Publish, of broadcaster: String) {
        var record = self.record
        record.alias = publish.request.key.id
        record.publish = publish
        record.publish.request.key = self.key
        record.broadcaster = broadcaster
        record.advertisements = publish.request.advertisements
        record.variants = publish.request.variants
        record.endMode = publish.request.endMode
        record.signals?.opened = false
        self = Break(record)
    }

    /// Gives it other advertisements.
    ///
    /// - Parameters:
    ///   - advertisements: those of `default`.
    ///   - variants: the other ones.
    mutating func setAdvertisements(_ advertisements: [AdvertisementContent], _ variants: [AudienceVariant]) {
        var record = self.record
        record.advertisements = advertisements
        record.variants = variants
        let encoded = record.lists.map { EncodedAdvertisements($0) }
        self.kept = Kept(record, encoded: encoded, contentBytes: Self.contentBytes(of: record, encoded))
    }

    private static func contentBytes(of record: BreakRecord, _ encoded: [EncodedAdvertisements]?) -> Int {
        let published = record.publish.request
        var bytes = published.advertisements.reduce(0) { $0 + $1.memoryBytes }
        bytes += published.variants.reduce(0) { $0 + $1.memoryBytes }
        bytes += encoded?.reduce(0) { $0 + $1.bytes.count } ?? 0
        if record.advertisements != published.advertisements {
            bytes += record.advertisements.reduce(0) { $0 + $1.memoryBytes }
        }
        if record.variants != published.variants { bytes += record.variants.reduce(0) { $0 + $1.memoryBytes } }
        return bytes
    }

    /// About how many bytes it takes in memory.
    package var bytes: Int {
        let claims = (self.record.signals?.claims.count ?? 0) * BoardLimits.claimBytes
        let alias = self.record.alias == nil ? 0 : BoardLimits.aliasBytes
        return BoardLimits.breakBytes + self.contentBytes + claims + alias
    }

    package var key: BreakKey { self.record.publish.request.key }
    package var number: BreakNumber { self.record.number }
    package var preStream: Bool { self.record.publish.request.preStream }
    package var exact: Bool { self.record.publish.request.exact }

    /// Whether it is cued and waits to be punched.
    package var waitsForPunch: Bool {
        self.record.phase == .announced && self.record.start == nil && !self.preStream
    }

    /// When it ends, or ended, by whatever way; `nil` while it is cued.
    package var end: Timestamp? {
        if let closed = self.record.closed { return closed }
        if let ended = self.record.ended { return ended }
        if self.preStream { return self.record.publish.holdUntil }
        guard let start = self.record.start else { return nil }
        return start + (self.record.duration ?? self.record.publish.safetyDuration)
    }

    /// From when on listeners can know of it; `nil`: no listener was told yet.
    package var announced: Timestamp? { self.record.announced }

    /// When it is over for sure: its end, or the end of its hold.
    package var over: Timestamp {
        self.end ?? self.record.publish.holdUntil ?? self.record.published
    }

    /// The most that it lasts as it stands, in whole milliseconds as the wire has it; `nil`: until it is ended.
    package var lasting: Duration? {
        guard let ended = self.record.ended, let start = self.record.start else { return self.record.duration }
        return .milliseconds((ended - start).inMilliseconds)
    }

    /// When it needs a timer's record: that it is announced, or that its hold is over; `nil`: never, as it stands.
    package var timer: Timestamp? {
        if self.record.phase == .scheduled { return self.record.announce }
        return self.waitsForPunch ? self.record.publish.holdUntil : nil
    }

    /// When a part of it is dropped, by the log's own time.
    ///
    /// All but the essentials of its advertisements are dropped once no listener can ask for them. A withdrawn break drops them at
    /// once. The rest is dropped once the break can no longer be acknowledged.
    ///
    /// `nil` while it waits for something: an open break is kept, however old it is.
    var due: BreakInstant? {
        guard self.timer == nil else { return nil }
        let wait: Duration =
            self.record.condensed
            ? BoardLimits.acknowledgeWithin : self.record.closed == nil ? BoardLimits.batchesWithin : .zero
        return BreakInstant(at: self.over + wait, number: self.number)
    }

    /// With only the essentials of its advertisements, for when no listener can ask for them any more.
    var condensed: Break {
        var record = self.record
        record.condensed = true
        record.advertisements = record.advertisements.map(\.condensed)
        record.publish.request.advertisements = record.publish.request.advertisements.map(\.condensed)
        record.variants = record.variants.map(\.condensed)
        record.publish.request.variants = record.publish.request.variants.map(\.condensed)
        return Break(record)
    }

    /// The part of the programme that no other break of the stream may have.
    package var interval: Range<Timestamp>? {
        guard !self.preStream, self.record.closed == nil, let start = self.record.start, let end = self.end,
            start < end
        else { return nil }
        return start..<end
    }

    /// Where it stands in its life.
    package func state(at now: Timestamp) -> BreakState {
        switch self.record.phase {
        case .cancelled: return .cancelled
        case .expired: return .expired
        case .scheduled: return .scheduled
        case .announced:
            guard let end = self.end else { return .cued }
            if now >= end { return .complete }
            guard let start = self.record.start, now >= start else { return .announced }
            return .live
        }
    }

    /// Whether nothing more can happen to it.
    package func isOver(at now: Timestamp) -> Bool {
        switch self.state(at: now) {
        case .complete, .cancelled, .expired: true
        case .scheduled, .cued, .announced, .live: false
        }
    }

    /// The break as broadcasters and operators see it.
    package func info(at now: Timestamp) -> BreakInfo {
        BreakInfo(
            key: self.key,
            state: self.state(at: now),
            start: self.record.start,
            duration: self.record.duration,
            advertisementCount: self.record.advertisements.count,
            preStream: self.preStream,
            exact: self.exact,
            position: self.record.lastNotice?.position,
            announce: self.record.phase == .scheduled ? self.record.announce : nil,
            end: self.end,
            holdUntil: self.record.publish.holdUntil,
            published: self.record.published,
            firstAdvertisementTitle: self.record.advertisements.first?.title ?? "",
            broadcaster: self.record.broadcaster,
            revision: self.record.revision,
            signals: self.record.signals?.byPrecedence ?? [],
            publishedAs: self.record.alias,
            variants: self.record.variants.map { VariantInfo($0) }
        )
    }

    /// The ledger's data about it.
    package var summary: BreakSummary {
        BreakSummary(
            number: self.number,
            key: self.key,
            broadcaster: self.record.broadcaster,
            published: self.record.published,
            start: self.record.start,
            end: self.end,
            cancelled: self.record.phase == .cancelled,
            expired: self.record.phase == .expired,
            preStream: self.preStream,
            advertisements: self.record.lists.enumerated()
                .flatMap { variant, list in
                    list.map { BreakSummary.Advertisement($0, variant: UInt32(variant)) }
                },
            variants: self.record.variants.map(\.name)
        )
    }

    /// A notice about it as it stands.
    ///
    /// - Parameters:
    ///   - kind: the kind of the notice.
    ///   - position: the notice's.
    ///   - now: when it is made.
    ///   - trace: of the request that led to it; `nil`: that is not traced.
    /// - Returns: the notice.
    func notice(_ kind: Notice.Kind, position: Position, at now: Timestamp, trace: TraceContext?) -> Notice {
        Notice(
            position: position,
            kind: kind,
            breakID: self.key.id,
            start: self.record.start,
            duration: self.lasting,
            window: self.record.window,
            expires: self.over,
            advertisementCount: self.record.advertisements.count,
            sent: now,
            preStream: self.preStream,
            exact: self.exact,
            endMode: self.record.endMode,
            cancelReason: self.record.phase == .cancelled
                ? .broadcaster : self.record.phase == .expired ? .notStarted : nil,
            trace: trace
        )
    }
}

extension Break: Hashable {
    package static func == (left: Self, right: Self) -> Bool {
        left.kept === right.kept
            || left.record == right.record && left.encoded == right.encoded && left.contentBytes == right.contentBytes
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.record)
    }
}

extension Break {
    /// The ads that a listener can still play.
    package enum Playable: Hashable, Sendable {
        /// All from the advertisement with this ordinal on.
        case from(Int)
        case nothing
    }

    /// Which advertisements a listener can still play whose playhead is at `playhead`.
    package func playable(at playhead: Timestamp) -> Playable {
        self.playableSteps.first { playhead < $0.until }.map { .from($0.first) } ?? .nothing
    }

    /// The ads that a listener can still play, by its playhead: the first step that is not over holds, and after the last one
    /// nothing can be played.
    ///
    /// A listener that comes late begins with the advertisement that others hear now, so that there is no dead air; the
    /// last one is cut at the end. Where the break is exact nothing is cut: the listener gets the most advertisements
    /// from the end of the list that fit into the rest.
    package var playableSteps: [PlayableStep] { self.playableSteps(of: self.record.advertisements) }

    /// The same of another variant's list.
    package func playableSteps(of advertisements: [AdvertisementContent]) -> [PlayableStep] {
        guard let start = self.record.start, let end = self.end else {
            // Cued or pre-stream: what follows from the start is not known, or does not count.
            let longest = self.record.duration ?? (self.preStream ? nil : self.record.publish.safetyDuration)
            let first = self.exact ? longest.map { advertisements.firstFitting(into: $0) } ?? 0 : 0
            guard first < advertisements.count || !self.exact else { return [] }
            return [PlayableStep(until: self.end ?? .latest, first: first)]
        }
        var steps: [PlayableStep] = []
        if self.exact {
            guard start < end else { return [] }
            let first = advertisements.firstFitting(into: end - start)
            for (ordinal, rest) in zip(advertisements.indices, advertisements.rests).dropFirst(first) {
                // Exactly as long as the rest of the list fits.
                steps.append(PlayableStep(until: min(end, (end - rest) + .microseconds(1)), first: ordinal))
            }
            return steps
        }
        var slotEnd = start
        for (ordinal, advertisement) in advertisements.enumerated() where slotEnd < end {
            slotEnd = slotEnd + advertisement.duration
            steps.append(PlayableStep(until: min(slotEnd, end), first: ordinal))
        }
        return steps
    }

    /// Which advertisements are heard by who hears the break from its beginning, as it stands: an exact one leaves out at the start what does not
    /// fit, and in others what would begin at the end or after it never begins.
    ///
    /// - Parameter advertisements: the list of a variant.
    /// - Returns: their places in the list.
    package func heardFromTheBeginning(of advertisements: [AdvertisementContent]) -> Range<Int> {
        let steps = self.playableSteps(of: advertisements)
        guard let first = steps.first?.first, let last = steps.last?.first else { return 0..<0 }
        let isOpen = self.exact || self.record.start == nil || self.end == nil
        return first..<(isOpen ? advertisements.count : last + 1)
    }
}

extension [AdvertisementContent] {
    /// How long the list lasts from each advertisement on.
    fileprivate var rests: [Duration] {
        var rest: Duration = .zero
        return self.reversed()
            .map { advertisement in
                rest += advertisement.duration
                return rest
            }
            .reversed()
    }

    /// Where the longest tail of the list begins that lasts at most so long; the number of advertisements: none does.
    fileprivate func firstFitting(into longest: Duration) -> Int {
        self.rests.firstIndex { $0.inMicroseconds <= longest.inMicroseconds } ?? self.count
    }
}

/// Until when a listener's batch begins with an advertisement.
package struct PlayableStep: Hashable, Sendable {
    /// By the listener's playhead; at this instant it is over.
    package let until: Timestamp
    /// The place of the first advertisement in its list.
    package let first: Int
}

extension BreakRecord {
    /// All lists of advertisements, by the number of the variant.
    package var lists: [[AdvertisementContent]] { [self.advertisements] + self.variants.map(\.advertisements) }

    /// The list of a variant; `nil`: there is no such variant.
    package func list(of variant: UInt32) -> [AdvertisementContent]? {
        if variant == 0 { return self.advertisements }
        return variant <= self.variants.count ? self.variants[Int(variant) - 1].advertisements : nil
    }
}

extension AudienceVariant {
    /// About what it takes in memory.
    fileprivate var memoryBytes: Int {
        var bytes = 128 + self.name.utf8.count + self.advertisements.reduce(0) { $0 + $1.memoryBytes }
        for each in self.conditions {
            bytes += each.values.reduce(64 + each.key.utf8.count) { $0 + 32 + $1.utf8.count }
        }
        return bytes
    }
}

extension AdvertisementContent {
    /// About what it takes in memory: its texts, and the values that hold them.
    var memoryBytes: Int {
        var bytes = 512 + self.id.description.utf8.count + self.title.utf8.count + self.text.utf8.count
        bytes += self.advertiser.utf8.count + self.clickThroughURL.utf8.count
        for each in self.media { bytes += 128 + each.url.utf8.count + each.type.utf8.count + each.codec.utf8.count }
        for each in self.trackers { bytes += 96 + each.event.utf8.count + each.url.utf8.count }
        if let banner = self.banner {
            bytes += banner.imageURL.utf8.count + banner.targetURL.utf8.count + banner.alternativeText.utf8.count
        }
        bytes += self.supplements.memoryBytes
        return bytes
    }
}
