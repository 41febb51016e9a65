// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// One thing that a player's client library keeps, so that nothing is lost when the app ends in between.
///
/// Entries apply to the session that the last `session` before them named, unless they name one themselves.
package struct JournalEntry: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// A session began, or something of it changed.
        case session(Session)
        /// A batch arrived, which begins `skipped` behind the start of its break; `nil`: it is not known how far.
        case batch(Notice, ListenerReply.Batch, skipped: Duration?)
        /// The app was given an advertisement.
        case handedOut(BreakID, AdvertisementID)
        /// A report of the app about an advertisement that it plays.
        case progress(BreakID, AdvertisementID, Progress)
        /// The break is over for this listener; a batch that still arrives is ignored for the reason.
        case breakClosed(BreakID, Outcome.Reason)
        /// One outcome to be told: an acknowledgement with its session and ticket, whose id counts outcomes.
        case outcome(ListenerRequest)
        /// Outcomes were confirmed, or are not told any more for the reason given.
        case settled([UInt64], givenUp: GivenUp?)
        /// The outcome of an advertisement is unknown, and the app was told so.
        case forgotten(SessionID, BreakID, AdvertisementID)
        /// The listening has ended: the session is not used again.
        case sessionOver
        /// The session goes on.
        case alive
        /// The state of the tracking of URLs, in a form of its own.
        case tracking([UInt8])
        /// Entries of these calls are not needed any more.
        case trackingForgotten([UInt64])
    }

    package struct Session: Hashable, Sendable {
        package var id: SessionID
        package var stream: StreamID
        package var ticket: [UInt8]
        /// Whether the first join was answered: advertisements that play before the stream are no longer taken.
        package var streamBegun: Bool

        package init(id: SessionID, stream: StreamID, ticket: [UInt8] = [], streamBegun: Bool = false) {
            self.id = id
            self.stream = stream
            self.ticket = ticket
            self.streamBegun = streamBegun
        }
    }

    /// Why outcomes are not told any more.
    package struct GivenUp: Hashable, Sendable {
        /// The raw values are those of the proto file.
        package enum Reason: Int, CaseIterable, Hashable, Sendable {
            /// Known to a later version only.
            case unknown = 0
            case tooOld = 1
            case tooMany = 2
            case breakTooOld = 3
            case refused = 4
            case notRecorded = 5
        }

        package var reason: Reason
        /// For people.
        package var sentence: String

        package init(_ reason: Reason, _ sentence: String) {
            self.reason = reason
            self.sentence = sentence
        }
    }

    package struct Progress: Hashable, Sendable {
        package var started: Bool
        package var quartiles: Int
        package var muted: Bool
        package var heard: Duration
        package var clicked: Bool

        package init(
            started: Bool = false,
            quartiles: Int = 0,
            muted: Bool = false,
            heard: Duration = .zero,
            clicked: Bool = false
        ) {
            self.started = started
            self.quartiles = quartiles
            self.muted = muted
            self.heard = heard
            self.clicked = clicked
        }
    }

    /// The longest encoded entry: a batch as long as a reply may be, and its notice.
    package static let bytesMax = WireLimits.replyFrameBytesMax + WireLimits.noticeFrameBytesMax
    /// The most bytes of a tracking entry.
    package static let trackingBytesMax = 16_384
    /// The longest sentence that says why outcomes are given up; longer ones are cut.
    package static let reasonBytesMax = 512

    /// The device's clock when it was written.
    package var written: Timestamp
    package var kind: Kind

    package init(written: Timestamp, kind: Kind) {
        self.written = written
        self.kind = kind
    }
}

extension JournalEntry {
    /// Reads one entry; never traps.
    package init(decoding bytes: [UInt8]) throws(WireError) {
        let wire = try decode(
            Cuecast_V1_JournalEntry.self,
            from: bytes,
            atMost: Self.bytesMax,
            limit: "JournalEntry.bytesMax",
            what: "a journal entry"
        )
        guard let kind = wire.kind else { throw .unsupported }
        self.init(written: Timestamp(microseconds: wire.writtenUs), kind: try Kind(wire: kind))
    }

    /// The entry's bytes.
    package func encoded() -> [UInt8] {
        encode(
            Cuecast_V1_JournalEntry.with {
                $0.writtenUs = self.written.microseconds
                $0.kind = self.kind.wire
            }
        )
    }
}

extension JournalEntry.Kind {
    init(wire: Cuecast_V1_JournalEntry.OneOf_Kind) throws(WireError) {
        switch wire {
        case .session(let session):
            try requireAtMost(WireLimits.ticketBytesMax, session.ticket.count, limit: "ticketBytesMax")
            self = .session(
                JournalEntry.Session(
                    id: try SessionID(bytes: session.session),
                    stream: try StreamID(session.stream),
                    ticket: Array(session.ticket),
                    streamBegun: session.streamBegun
                )
            )
        case .batch(let batch):
            guard batch.skippedUs >= 0 else { throw .invalid(field: "skipped_us", rule: "it is not negative") }
            self = .batch(
                try Notice(wire: batch.notice),
                try ListenerReply.Batch(wire: batch.batch),
                skipped: batch.hasSkippedUs ? .microseconds(batch.skippedUs) : nil
            )
        case .handedOut(let each):
            self = .handedOut(try BreakID(each.breakID), try AdvertisementID(each.advertisementID))
        case .progress(let each):
            guard each.quartiles <= 4 else { throw .invalid(field: "quartiles", rule: "it is 0 to 4") }
            let progress = JournalEntry.Progress(
                started: each.started,
                quartiles: Int(each.quartiles),
                muted: each.muted,
                heard: .milliseconds(each.heardMs),
                clicked: each.clicked
            )
            self = .progress(try BreakID(each.breakID), try AdvertisementID(each.advertisementID), progress)
        case .breakClosed(let each):
            let reason = Outcome.Reason(rawValue: each.reason.rawValue) ?? .expired
            self = .breakClosed(try BreakID(each.breakID), reason)
        case .outcome(let request):
            let request = try ListenerRequest(wire: request)
            guard case .acknowledge(let acknowledge) = request.kind, acknowledge.outcomes.count == 1 else {
                throw .invalid(field: "outcome", rule: "it is an acknowledgement of one advertisement")
            }
            self = .outcome(request)
        case .settled(let each):
            let reason = JournalEntry.GivenUp.Reason(rawValue: each.givenUpReason.rawValue) ?? .unknown
            let givenUp = each.givenUp.isEmpty ? nil : JournalEntry.GivenUp(reason, each.givenUp)
            self = .settled(each.numbers, givenUp: givenUp)
        case .forgotten(let each):
            self = .forgotten(
                try SessionID(bytes: each.session),
                try BreakID(each.breakID),
                try AdvertisementID(each.advertisementID)
            )
        case .sessionOver: self = .sessionOver
        case .alive: self = .alive
        case .tracking(let bytes):
            try requireAtMost(JournalEntry.trackingBytesMax, bytes.count, limit: "JournalEntry.trackingBytesMax")
            self = .tracking(Array(bytes))
        case .trackingForgotten(let each): self = .trackingForgotten(each.ids)
        }
    }

    var wire: Cuecast_V1_JournalEntry.OneOf_Kind {
        switch self {
        case .session(let session):
            .session(
                .with {
                    $0.session = Data(session.id.bytes)
                    $0.stream = session.stream.description
                    $0.ticket = Data(session.ticket)
                    $0.streamBegun = session.streamBegun
                }
            )
        case .batch(let notice, let batch, let skipped):
            .batch(
                .with {
                    $0.notice = notice.wire
                    $0.batch = batch.wire
                    if let skipped { $0.skippedUs = skipped.inMicroseconds }
                }
            )
        case .handedOut(let id, let advertisementID):
            .handedOut(
                .with {
                    $0.breakID = id.description
                    $0.advertisementID = advertisementID.description
                }
            )
        case .progress(let id, let advertisementID, let progress):
            .progress(
                .with {
                    $0.breakID = id.description
                    $0.advertisementID = advertisementID.description
                    $0.started = progress.started
                    $0.quartiles = UInt32(clamping: progress.quartiles)
                    $0.muted = progress.muted
                    $0.heardMs = progress.heard.inMilliseconds
                    $0.clicked = progress.clicked
                }
            )
        case .breakClosed(let id, let reason):
            .breakClosed(
                .with {
                    $0.breakID = id.description
                    $0.reason = .init(rawValue: reason.rawValue) ?? .unspecified
                }
            )
        case .outcome(let request): .outcome(request.wire)
        case .settled(let numbers, let givenUp):
            .settled(
                .with {
                    $0.numbers = numbers
                    guard let givenUp else { return }
                    $0.givenUp = Self.cut(givenUp.sentence)
                    $0.givenUpReason = .init(rawValue: givenUp.reason.rawValue) ?? .unspecified
                }
            )
        case .forgotten(let session, let id, let advertisementID):
            .forgotten(
                .with {
                    $0.session = Data(session.bytes)
                    $0.breakID = id.description
                    $0.advertisementID = advertisementID.description
                }
            )
        case .sessionOver: .sessionOver(.init())
        case .alive: .alive(.init())
        case .tracking(let bytes): .tracking(Data(bytes))
        case .trackingForgotten(let ids): .trackingForgotten(.with { $0.ids = ids })
        }
    }

    /// Not empty, because an empty one says that they were confirmed.
    private static func cut(_ reason: String) -> String {
        guard !reason.isEmpty else { return "no reason is known" }
        return String(decoding: reason.utf8.prefix(JournalEntry.reasonBytesMax), as: UTF8.self)
    }
}
