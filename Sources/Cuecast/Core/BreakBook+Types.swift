// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

extension BreakBook {
    struct Batch: Hashable, Sendable {
        var advertisements: [Advertisement]
        /// How far behind the start of the break the first of them begins, because of those before it; `nil`: that is not
        /// known, and they begin where the listener is.
        ///
        /// Counted from the start because that may still be moved, or not be known yet.
        var skipped: Duration? = .zero

        /// When the first of them begins in the programme, for a break that starts at `start` now.
        func contentStart(_ start: Timestamp, playhead: Timestamp) -> Timestamp {
            self.skipped.map { start + $0 } ?? max(start, playhead)
        }
    }

    enum Phase: Hashable, Sendable {
        /// The batch is to be asked for, when its time has come and not before `retryAt`.
        case waiting(retryAt: LocalInstant?)
        case requested
        /// The batch is here; the listener does not hear the break yet.
        case held(Batch)
        /// The batch was given to the queue.
        case queued
    }

    struct Entry: Sendable {
        /// The latest notice of the break.
        var notice: Notice
        var phase = Phase.waiting(retryAt: nil)
        /// How far behind the gateway the listener was when the batch was asked for: by this the gateway leaves out what is
        /// over for the listener.
        var delayAsked = Duration.zero
        var retries: Backoff
        /// Whether the app has agreed that its batch is fetched, where it wants to be asked.
        var isWanted = true
        /// Whether an earlier run of the app left it and the gateway has not said yet where it is now.
        var isStale = false

        /// How far behind the start of the break a batch that arrives now begins; `nil`: that is not known.
        ///
        /// The gateway says how many advertisements it left out and not how long they are. Where it left some out, the rest
        /// begins where the listener is: as the gateway was told, or further on where the listener went ahead meanwhile.
        func skipped(_ batch: ListenerReply.Batch, at moment: Moment) -> Duration? {
            guard batch.skipped > 0 else { return .zero }
            let playhead = max(moment.playhead, moment.gateway - self.delayAsked)
            guard let start = batch.start ?? self.notice.start, playhead > start else { return nil }
            return playhead - start
        }
    }

    /// The effect of a break's change on other parts.
    enum Effect: Hashable, Sendable {
        /// The break is new, or its times have changed.
        case announced(Notice)
        /// Ask the app whether the batch is to be fetched.
        case askApp(Notice)
        /// Ask for the batch.
        case request(BreakID)
        /// The batch is here.
        case ready(Notice, [Advertisement])
        /// Queue these; they begin at `contentStart` in the programme.
        case queue(Notice, [Advertisement], contentStart: Timestamp?)
        /// These are not played, for a reason that is told to the gateway.
        case ignored([Advertisement], IgnoreReason)
        /// Advertisements that were not queued yet are withdrawn.
        case withdrawn(BreakID, AdvertisementWithdrawal.Reason, [Advertisement])
        /// A queued break is cancelled.
        case queuedCancelled(BreakID, AdvertisementWithdrawal.Reason)
        /// The end of a queued break has changed.
        case queuedEnds(BreakID, at: Timestamp, early: Bool)
        /// Nothing of the break will be played by this listener.
        case missed(Notice, MissedReason)
    }
}

extension Notice {
    /// The end of the break in the programme; `nil`: open.
    var end: Timestamp? {
        guard let start = self.start, let duration = self.duration else { return nil }
        return start + duration
    }

    /// Until when advertisements of the break may be handed out.
    var playLimit: PlayLimit {
        if self.preStream || self.start == nil { return .gateway(self.expires) }
        return .playhead(self.end ?? self.expires)
    }
}

extension AdvertisementWithdrawal.Reason {
    var ignoreReason: IgnoreReason {
        switch self {
        case .cancelled: .cancelled
        case .endedEarly: .endedEarly
        case .notStarted: .notStarted
        }
    }
}
