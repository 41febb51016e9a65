// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// The configuration of a gateway for breaks.
///
/// It decides once, when a request is received; the decisions go into the event log, so that a later configuration does
/// not change what was decided.
package struct BreakPolicy: Hashable, Sendable {
    /// How long before its start a break is announced. (SCTE-35 asks for 4 s at least.)
    package var announceAhead: Duration = .seconds(8)
    /// The least time between receipt and start that is accepted.
    package var leadTimeMin: Duration = .zero
    /// Absolute starts up to this late count as now.
    package var startLateMax: Duration = .seconds(2)
    /// The furthest ahead that a start may be.
    package var startAheadMax: Duration = .seconds(6 * 3_600)
    /// How long after the punch a cued break starts, where the punch gives no start.
    package var punchLead: Duration = .seconds(2)
    /// How long a cued break is held, or a pre-stream break open, where the broadcaster gives no time.
    package var hold: Duration = .seconds(1_800)
    /// The longest that a break without a duration lasts.
    package var safetyDuration: Duration = .seconds(300)
    /// How many batch requests a second this gateway serves with ease; sizes the request window.
    package var batchRequestsPerSecond: Double = 20_000
    /// How long before the start the request window ends at the latest, so that media can be fetched.
    package var windowEndsAhead: Duration = .seconds(1)
    /// The longest window of a break that starts without any lead.
    package var windowLateMax: Duration = .seconds(5)

    package init() {}

    /// When listeners ask for their batches.
    ///
    /// The window is as long as the gateway needs to serve all listeners evenly, and where there is lead at least a quarter of it:
    /// a longer window costs listeners nothing, and gives the gateway more spare capacity. It ends before the start where there is
    /// lead, and opens at once where there is none.
    ///
    /// - Parameters:
    ///   - opens: when the notice goes out.
    ///   - start: when the break starts; `nil` for cued and pre-stream breaks.
    ///   - listeners: how many are expected to ask.
    ///   - hold: how long a cued break is held, or a pre-stream break open; `nil`: as the policy says.
    /// - Returns: the window; empty (`from == by`) when there is no lead and no listener is expected.
    package func window(
        opens: Timestamp,
        start: Timestamp?,
        listeners: Int,
        hold: Duration? = nil
    ) -> RequestWindow {
        let needed = Duration.seconds(Double(listeners) / max(1, self.batchRequestsPerSecond))
        guard let start else { return RequestWindow(from: opens, by: opens + min(needed, (hold ?? self.hold) / 2)) }
        let lead = start - opens
        guard lead > .zero else { return RequestWindow(from: opens, by: opens + min(needed, self.windowLateMax)) }
        // Half the lead at least is for asking, however short it is.
        let room = max(lead - self.windowEndsAhead, lead / 2)
        return RequestWindow(from: opens, by: opens + min(max(needed, lead / 4), room))
    }
}

/// The bounds of the board.
///
/// They are the same at every gateway that reads one log: a record must have the same effect
/// everywhere.
package enum BoardLimits {
    /// The most streams.
    package static let streamsMax = LimitName.streamsMax.value
    /// The most breaks of one stream that are not over yet.
    package static let openBreaksPerStreamMax = 64
    /// The most breaks of one stream that are kept for acknowledgements.
    package static let keptBreaksPerStreamMax = 20_000
    /// The most notices of one stream that a listener can recover.
    package static let recoveryNoticesMax = 256
    /// How long after a break's end acknowledgements are accepted (7 days in the outbox of a client, and a day more).
    package static let acknowledgeWithin: Duration = .seconds(8 * 86_400)
    /// How long after a break's end, by the log's own time, the ledger keeps who did what: a day longer than acknowledgements
    /// are accepted.
    package static let keepRowsFor: Duration = Self.acknowledgeWithin + .seconds(86_400)
    /// The most bytes that the board comes to, by what its parts are counted as; more is not published.
    package static let boardBytesMax = LimitName.boardBytesMax.value
    /// The size that a stream counts as, without its breaks and notices.
    package static let streamBytes = 1_024
    /// The size that a recoverable notice counts as.
    package static let noticeBytes = 256
    /// The size that a break counts as, without its advertisements.
    package static let breakBytes = 2_048
    /// The size that what the signals of one event say about a break counts as.
    package static let claimBytes = 256
    /// The size that a second id of a break counts as.
    package static let aliasBytes = 192
    /// The size that an ad list counts as, without its advertisements.
    package static let adListBytes = 512
    /// The most breaks that one record of housekeeping drops.
    package static let housekeepingBreaksMax = 1_024
    /// The most that one record takes the log's own time on, by which things are too old: a wrong clock does no more
    /// harm.
    package static let retentionStepMax: Duration = .seconds(3_600)
    /// How long after a break's end a listener that hears the stream late can ask for its batch.
    package static let batchesWithin: Duration =
        .milliseconds(Int64(WireLimits.delayMillisecondsMax)) + .seconds(60)
}
