// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The state of one break after some records of the log, apart from changes that time alone decides.
package struct BreakRecord: Hashable, Sendable {
    /// The steps of a break's life that records of the log make.
    ///
    /// Live and complete follow from the clock.
    package enum Phase: Int, CaseIterable, Sendable {
        case scheduled = 1
        case announced = 2
        case cancelled = 3
        case expired = 4
    }

    package var number: BreakNumber
    package var published: Timestamp
    package var broadcaster: String
    /// As it was published, to know a repeat.
    package var publish: BreakEntry.Publish
    package var start: Timestamp?
    package var duration: Duration?
    /// As they are now, in the order of their ordinals.
    package var advertisements: [AdvertisementContent]
    /// The variants as they are now, beside `advertisements`.
    package var variants: [AudienceVariant]
    package var announce: Timestamp
    package var window: RequestWindow
    package var phase: Phase
    /// Where it was ended early.
    package var ended: Timestamp?
    package var endMode: EndMode
    /// When it was cancelled or expired.
    package var closed: Timestamp?
    /// The start that the broadcaster's punch had, to recognise a repeat.
    package var punchedAs: BreakStart?
    /// The last notice about it.
    package var lastNotice: Notice?
    /// When listeners were told of it first; `nil` before that.
    package var announced: Timestamp?
    /// Whether only the essentials of its advertisements are kept, because no listener can ask for them any more.
    package var condensed: Bool
    /// 1 when it was published, and one more with each change: by a broadcaster, or by a timer.
    package var revision: UInt64
    /// The trace of the newest request about it, while a timer will tell listeners of what was asked; `nil`: that is not traced, or no
    /// timer will.
    package var trace: TraceContext?
    /// The signals about it; `nil`: there are none.
    package var signals: BreakSignals?
    /// The id with which a broadcaster published it after a signal had opened it; `nil`: none did.
    package var alias: BreakID?

    package init(number: BreakNumber, published: Timestamp, broadcaster: String, publish: BreakEntry.Publish) {
        self.number = number
        self.published = published
        self.broadcaster = broadcaster
        self.publish = publish
        self.start = publish.start
        self.duration = publish.request.duration
        self.advertisements = publish.request.advertisements
        self.variants = publish.request.variants
        self.announce = publish.announce
        self.window = publish.window
        self.phase = .scheduled
        self.endMode = publish.request.endMode
        self.condensed = false
        self.revision = 1
    }
}

extension BreakRecord {
    /// Its name, and the one of its alias.
    package var keys: [BreakKey] {
        let key = self.publish.request.key
        guard let alias = self.alias else { return [key] }
        return [key, BreakKey(stream: key.stream, id: alias)]
    }
}

/// The state of one stream beside its breaks.
package struct StreamRecord: Hashable, Sendable {
    package var stream: StreamID
    package var sequence: UInt64
    package var recentNotices: [Notice]

    package init(stream: StreamID, sequence: UInt64, recentNotices: [Notice]) {
        self.stream = stream
        self.sequence = sequence
        self.recentNotices = recentNotices
    }
}

/// The board, or a part of it, as its snapshot in the event log holds it.
package struct BoardRecord: Hashable, Sendable {
    package var offset: UInt64
    /// The log's own time; `nil` before the first entry.
    package var retention: Timestamp?
    /// The newest instant that an entry carried.
    package var newest: Timestamp?
    /// The highest sequence of a stream that is no longer kept.
    package var retiredSequence: UInt64
    /// The hashes of the names that are reserved, in the order in which they were.
    package var retiredHashes: [UInt64]
    package var streams: [StreamRecord]
    /// Breaks of any stream.
    package var breaks: [BreakRecord]
    package var adLists: [AdListRecord]
    /// How far each writer of the lane is, where several gateways share the log.
    package var writers: [WriterRecord]
    /// The version of the fold's rules; `nil` in parts that do not say it.
    package var rules: UInt32?

    package init(
        offset: UInt64 = 0,
        retention: Timestamp? = nil,
        newest: Timestamp? = nil,
        retiredSequence: UInt64 = 0,
        retiredHashes: [UInt64] = [],
        streams: [StreamRecord] = [],
        breaks: [BreakRecord] = [],
        adLists: [AdListRecord] = [],
        writers: [WriterRecord] = [],
        rules: UInt32? = nil
    ) {
        self.offset = offset
        self.retention = retention
        self.newest = newest
        self.retiredSequence = retiredSequence
        self.retiredHashes = retiredHashes
        self.streams = streams
        self.breaks = breaks
        self.adLists = adLists
        self.writers = writers
        self.rules = rules
    }

    /// Reads a snapshot of the lane `breaks`, or a part of one.
    package init(decoding bytes: [UInt8]) throws(WireError) {
        let wire = try decode(
            Cuecast_V1_BoardState.self,
            from: bytes,
            atMost: .max,
            limit: "snapshot",
            what: "a snapshot of the board"
        )
        guard wire.offset < BreakGroup.offsetMax else {
            throw .invalid(field: "offset", rule: "no log has so many groups")
        }
        self.offset = wire.offset
        self.retention = wire.hasRetentionUs ? Timestamp(microseconds: wire.retentionUs) : nil
        self.newest = wire.hasNewestUs ? Timestamp(microseconds: wire.newestUs) : nil
        guard wire.retiredSequence <= UInt64(Int64.max) else {
            throw .invalid(field: "retired_sequence", rule: "no stream has so many notices")
        }
        self.retiredSequence = wire.retiredSequence
        self.retiredHashes = wire.retiredHashes
        self.breaks = try wire.breaks.map { (record) throws(WireError) in try BreakRecord(wire: record) }
        self.streams = try wire.streams.map { (stream) throws(WireError) in try StreamRecord(wire: stream) }
        guard Set(self.streams.map(\.stream)).count == self.streams.count else {
            throw .invalid(field: "streams", rule: "one is listed twice")
        }
        // Most parts have one break.
        let names = self.breaks.flatMap(\.keys)
        guard names.count < 2 || Set(names).count == names.count else {
            throw .invalid(field: "breaks", rule: "one is listed twice")
        }
        self.adLists = try wire.adLists.map { (record) throws(WireError) in try AdListRecord(wire: record) }
        guard Set(self.adLists.map(\.name)).count == self.adLists.count else {
            throw .invalid(field: "ad_lists", rule: "one stands there twice")
        }
        self.writers = wire.writers.map { WriterRecord(wire: $0) }
        guard Set(self.writers.map(\.writer)).count == self.writers.count else {
            throw .invalid(field: "writers", rule: "one stands there twice")
        }
        self.rules = wire.rules == 0 ? nil : try FoldRules.version(wire.rules)
    }

    /// The snapshot's bytes.
    ///
    /// Stream by stream, and break by break: one message of them all could pass the 2 GiB that a protobuf library encodes.
    package func encoded() -> [UInt8] {
        var bytes = encode(
            Cuecast_V1_BoardState.with {
                $0.offset = self.offset
                if let retention = self.retention { $0.retentionUs = retention.microseconds }
                if let newest = self.newest { $0.newestUs = newest.microseconds }
                $0.retiredSequence = self.retiredSequence
                $0.retiredHashes = self.retiredHashes
                $0.writers = self.writers.map(\.wire)
                if let rules = self.rules { $0.rules = rules }
            }
        )
        for stream in self.streams {
            bytes += encode(Cuecast_V1_BoardState.with { $0.streams = [stream.wire] })
        }
        for each in self.breaks { bytes += encode(Cuecast_V1_BoardState.with { $0.breaks = [each.wire] }) }
        for list in self.adLists { bytes += encode(Cuecast_V1_BoardState.with { $0.adLists = [list.wire] }) }
        return bytes
    }
}

extension StreamRecord {
    init(wire: Cuecast_V1_StreamState) throws(WireError) {
        self.stream = try StreamID(wire.stream)
        guard wire.sequence <= UInt64(Int64.max) else {
            throw .invalid(field: "sequence", rule: "no stream has so many notices")
        }
        self.sequence = wire.sequence
        self.recentNotices = try wire.recentNotices.map { (notice) throws(WireError) in try Notice(wire: notice) }
        // A recovery from them is called complete: they must follow each other up to the last.
        let recent = UInt64(self.recentNotices.count)
        guard recent <= self.sequence,
            self.recentNotices.map(\.position.sequence).elementsEqual(self.sequence - recent + 1..<self.sequence + 1)
        else {
            throw .invalid(field: "recent_notices", rule: "they are not the last ones without a gap")
        }
    }

    var wire: Cuecast_V1_StreamState {
        .with {
            $0.stream = self.stream.description
            $0.sequence = self.sequence
            $0.recentNotices = self.recentNotices.map(\.wire)
        }
    }
}

extension BreakRecord {
    init(wire: Cuecast_V1_BreakRecord) throws(WireError) {
        self.init(
            number: BreakNumber(rawValue: wire.breakNumber),
            published: Timestamp(microseconds: wire.publishedUs),
            broadcaster: wire.broadcaster,
            publish: try BreakEntry.Publish(wire: wire.publish)
        )
        self.start = wire.hasStartUs ? Timestamp(microseconds: wire.startUs) : nil
        self.duration = try breakDuration(wire.hasDurationMs ? .milliseconds(wire.durationMs) : nil)
        // Those that were published stand there once.
        if !wire.advertisementsAsPublished {
            self.advertisements = try AdvertisementContent.list(wire: wire.advertisements)
        }
        if !wire.variantsAsPublished { self.variants = try AudienceVariant.list(wire: wire.variants) }
        self.announce = Timestamp(microseconds: wire.announceUs)
        self.window = RequestWindow(wire: wire.window)
        self.phase = try requireKnown(wire.phase, field: "phase") { Phase(rawValue: $0.rawValue) }
        self.ended = wire.hasEndedUs ? Timestamp(microseconds: wire.endedUs) : nil
        self.endMode = EndMode(wire: wire.endMode) ?? .cut
        self.closed = wire.hasClosedUs ? Timestamp(microseconds: wire.closedUs) : nil
        self.punchedAs = wire.hasPunchedAs ? try BreakStart(wire: wire.punchedAs) : nil
        self.lastNotice = wire.hasLastNotice ? try Notice(wire: wire.lastNotice) : nil
        self.condensed = wire.condensed
        self.announced = wire.hasAnnouncedUs ? Timestamp(microseconds: wire.announcedUs) : nil
        self.revision = try breakRevision(wire.revision, field: "revision")
        self.trace = TraceContext(bytes: wire.trace)
        self.signals = wire.hasSignals ? try BreakSignals(wire: wire.signals) : nil
        self.alias = wire.alias.isEmpty ? nil : try BreakID(wire.alias)
    }

    var wire: Cuecast_V1_BreakRecord {
        .with {
            $0.breakNumber = self.number.rawValue
            $0.publishedUs = self.published.microseconds
            $0.broadcaster = self.broadcaster
            $0.publish = self.publish.wire
            if let start = self.start { $0.startUs = start.microseconds }
            if let duration = self.duration { $0.durationMs = duration.inMilliseconds }
            if self.advertisements == self.publish.request.advertisements {
                $0.advertisementsAsPublished = true
            } else {
                $0.advertisements = self.advertisements.map(\.wire)
            }
            // A break without variants has no field about them.
            if self.variants != self.publish.request.variants {
                $0.variants = self.variants.map(\.wire)
            } else if !self.variants.isEmpty {
                $0.variantsAsPublished = true
            }
            $0.announceUs = self.announce.microseconds
            $0.window = self.window.wire
            $0.phase = .init(rawValue: self.phase.rawValue) ?? .unspecified
            if let ended = self.ended { $0.endedUs = ended.microseconds }
            $0.endMode = self.endMode.wire
            if let closed = self.closed { $0.closedUs = closed.microseconds }
            if let punchedAs = self.punchedAs { $0.punchedAs = punchedAs.wire }
            if let lastNotice = self.lastNotice { $0.lastNotice = lastNotice.wire }
            $0.condensed = self.condensed
            if let announced = self.announced { $0.announcedUs = announced.microseconds }
            $0.revision = self.revision
            if let trace = self.trace { $0.trace = Data(trace.bytes) }
            if let signals = self.signals { $0.signals = signals.wire }
            if let alias = self.alias { $0.alias = alias.description }
        }
    }
}

extension BreakEntry.Publish {
    init(wire: Cuecast_V1_PublishEntry) throws(WireError) {
        self.init(
            request: try BroadcastRequest.Publish(wire: wire.publish),
            start: wire.hasStartUs ? Timestamp(microseconds: wire.startUs) : nil,
            announce: Timestamp(microseconds: wire.announceUs),
            window: RequestWindow(wire: wire.window),
            holdUntil: wire.hasHoldUntilUs ? Timestamp(microseconds: wire.holdUntilUs) : nil,
            safetyDuration: .milliseconds(wire.safetyDurationMs)
        )
    }
}
