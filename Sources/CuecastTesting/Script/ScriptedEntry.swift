// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// One break as the script has it, and what follows from it.
///
/// The rules are those of a real gateway.
struct ScriptedEntry: Sendable {
    /// How long a break lasts that has no duration and is not ended.
    static let safetyDuration = Duration.seconds(300)

    let key: BreakKey
    let number: BreakNumber
    let advertisements: [AdvertisementContent]
    let preStream: Bool
    let exact: Bool
    /// Until when a cued break is held, or a pre-stream break open.
    let holdUntil: Timestamp?
    var start: Timestamp?
    var duration: Duration?
    var ended: Timestamp?
    var cancelled: Timestamp?
    var endMode: EndMode
    /// The last notice about it.
    var notice: Notice?
    /// When players were told of it first.
    var announced: Timestamp?

    /// When it ends, or ended; `nil` while it is cued.
    var end: Timestamp? {
        if let cancelled = self.cancelled { return cancelled }
        if let ended = self.ended { return ended }
        if self.preStream { return self.holdUntil }
        guard let start = self.start else { return nil }
        return start + (self.duration ?? Self.safetyDuration)
    }

    /// When it is over for sure.
    var over: Timestamp { self.end ?? self.holdUntil ?? .latest }

    /// The most that it lasts as it stands; `nil`: until it is ended.
    var lasting: Duration? {
        guard let ended = self.ended, let start = self.start else { return self.duration }
        return ended - start
    }

    /// The part of the programme that no other break may have.
    var interval: Range<Timestamp>? {
        guard !self.preStream, self.cancelled == nil, let start = self.start, let end = self.end, start < end else {
            return nil
        }
        return start..<end
    }

    var isCued: Bool { self.start == nil && !self.preStream }

    func isOver(at now: Timestamp) -> Bool { self.cancelled != nil || self.over <= now }

    /// The ordinal of the first advertisement that a listener can still play whose playhead is there; `nil`: none.
    ///
    /// Who comes late begins with the advertisement that others hear now. Where the break is exact nothing is cut: the
    /// most advertisements from the end of the list that fit into the rest.
    func firstPlayable(at playhead: Timestamp) -> Int? {
        guard let start = self.start, let end = self.end else {
            guard self.end.map({ playhead < $0 }) ?? true else { return nil }
            let longest = self.duration ?? (self.preStream ? nil : Self.safetyDuration)
            return self.exact ? longest.map { self.firstFitting(into: $0) } ?? 0 : 0
        }
        guard playhead < end else { return nil }
        if self.exact { return self.firstFitting(into: end - max(start, playhead)) }
        var slotEnd = start
        return self.advertisements.firstIndex { advertisement in
            slotEnd = slotEnd + advertisement.duration
            return playhead < slotEnd
        }
    }

    private func firstFitting(into room: Duration) -> Int? {
        self.advertisements.indices.first { first in
            self.advertisements[first...].reduce(Duration.zero) { $0 + $1.duration } <= room
        }
    }

    func notice(_ kind: Notice.Kind, position: Position, at now: Timestamp) -> Notice {
        Notice(
            position: position,
            kind: kind,
            breakID: self.key.id,
            start: self.start,
            duration: self.lasting,
            // Nobody else asks: every player may ask at once.
            window: RequestWindow(from: now, by: now),
            expires: self.over,
            advertisementCount: self.advertisements.count,
            sent: now,
            preStream: self.preStream,
            exact: self.exact,
            endMode: self.endMode,
            cancelReason: self.cancelled == nil ? nil : .broadcaster
        )
    }
}
