// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

extension PlayQueue {
    /// The rest of one break's batch.
    struct Batch: Hashable, Sendable {
        let breakID: BreakID
        var advertisements: [Advertisement]
        var limit: PlayLimit
        let exact: Bool
        let endMode: EndMode
        /// When the first one begins in the programme; `nil` before the stream.
        let contentStart: Timestamp?
        /// Whether something else was queued or playing when this was queued.
        var waits = false

        /// The break begins where the listener is by now: leaves out what should have been heard before.
        ///
        /// - Returns: What is left out.
        mutating func trim(playhead: Timestamp) -> [Advertisement] {
            guard let start = self.contentStart else { return [] }
            var end: Timestamp?
            if case .playhead(let limit) = self.limit { end = limit }
            let trimmed = Trimmed(self.advertisements, start: start, end: end, exact: self.exact, playhead: playhead)
            self.advertisements = trimmed.kept
            return trimmed.dropped
        }

        /// Whether the end of the break would cut its next advertisement short where none may be.
        func cutsFirstShort(playhead: Timestamp) -> Bool {
            guard self.exact, case .playhead(let end) = self.limit, let first = self.advertisements.first else {
                return false
            }
            return playhead + first.exactDuration > end + PlayQueue.exactTolerance
        }
    }

    /// An advertisement that was handed out and has no outcome yet.
    struct Open: Hashable, Sendable {
        var playback: Playback
        let endMode: EndMode
        /// Whether it was taken to be shown and not to be heard: only reports count, and no other one waits for it.
        var isShown = false
        /// Where in the programme it must stop, because its break ends there.
        var stopAt: Timestamp?
        /// When that is, as the app was told last.
        var toldStop: LocalInstant?
        /// Whether it no longer keeps others waiting.
        var isReleased = false

        var advertisement: Advertisement { self.playback.advertisement }

        /// When it stops: where its break ends, or at its own end.
        func stop(at moment: Moment) -> LocalInstant {
            let ownEnd = moment.now + self.playback.rest(at: moment.now)
            return self.stopAt.map { min(moment.local(playhead: $0), ownEnd) } ?? ownEnd
        }
    }

    enum Effect: Hashable, Sendable {
        case outcome(AdvertisementOutcome)
        /// Nothing was heard of it any more.
        case unknown(Advertisement)
        case handOutRefused(current: Advertisement)
        /// The playback is as it was after the report.
        case reported(AdvertisementReport, Playback)
        case reportRefused(AdvertisementReport, Advertisement, ReportRefusal)
        /// The queue is not empty, and what kept it waiting is over: tell the observers again.
        case released
        case withdrawn(
            BreakID,
            AdvertisementWithdrawal.Reason,
            dropped: [Advertisement],
            current: Advertisement?,
            stopAt: LocalInstant?
        )
    }
}
