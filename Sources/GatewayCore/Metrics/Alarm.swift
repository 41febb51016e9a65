// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The faults that an operator should examine although requests are accepted and counted.
///
/// A fault that keeps a gateway from accepting requests is no alarm: then it is not ready.
package enum Alarm: String, CaseIterable, Hashable, Sendable {
    /// The configuration or the file of broadcasters could not be read again: what was there before goes on.
    case reload
    /// The audit of who changed what is not kept, or was begun anew.
    case audit
    /// The gateway's clock does not follow the wall clock any more: they are too far apart.
    case clock
    /// The control socket could not be made: commands of the command line cannot reach the gateway.
    case control
    /// The event log went on in a new epoch at this start: something happened to the files of the stores.
    case epoch
    /// Records were lost before they were counted: the counts of some breaks are not complete.
    case history
    /// The ledger was lost or damaged and is being counted anew, or a check of it is not done yet.
    case ledger
    /// The ledger could not be copied: the log keeps everything until there are two copies again.
    case ledgerCopies
    /// Retention stands still: at the start the wall clock was far ahead of the books, and it is not confirmed yet.
    case retention
    /// The event log has not answered for long: nothing that needs it is confirmed, and everything else goes on.
    case logSilent
    /// The event log uses most of its limit, or all of it.
    case logNearlyFull
    /// The disk of the data directory is nearly full.
    case diskNearlyFull
    /// So many connections are open that no more are accepted.
    case connections
    /// The trace file cannot be written: the spans are lost, and everything else goes on.
    case traceFile
    /// The servers of the shared log do not answer: nothing that needs it is confirmed, and everything else goes on.
    case logCutOff
    /// The shared log is not what it was: nothing is confirmed, and the gateway ends where that does not pass.
    case logWentBack
    /// Another gateway of the log signs with other keys, or accepts other ones.
    case signingKeysDiffer
    /// The clock of another gateway of the log is too far from this one's.
    case gatewayClocksDiffer
    /// Another gateway of the log has made another board of the same records.
    case boardsDiffer
    /// A gateway of the log lacks records that another one has applied, for too long or too many.
    case gatewayLate
    /// The newest signals of a source were all refused.
    case cuesRefused
    /// Nothing comes from a source of cues, or it has no watcher any more.
    case sourceSilent
}

extension Alarm {
    /// A few words for the alarm, for a heading.
    package var title: String {
        switch self {
        case .reload: "A reload failed"
        case .audit: "The audit is not kept"
        case .clock: "The clocks are too far apart"
        case .control: "No control socket"
        case .epoch: "The log began a new epoch"
        case .history: "Records were lost"
        case .ledger: "The ledger is being counted anew"
        case .ledgerCopies: "No copies of the ledger"
        case .retention: "Retention stands still"
        case .logSilent: "The event log does not answer"
        case .logNearlyFull: "The event log is nearly full"
        case .diskNearlyFull: "The disk is nearly full"
        case .connections: "No more connections"
        case .traceFile: "The trace file is not written"
        case .logCutOff: "The shared log is out of reach"
        case .logWentBack: "The shared log went back"
        case .signingKeysDiffer: "Another gateway has other signing keys"
        case .gatewayClocksDiffer: "Another gateway's clock differs"
        case .boardsDiffer: "Another gateway has another board"
        case .gatewayLate: "A gateway is late with the log"
        case .cuesRefused: "Cues are refused in a row"
        case .sourceSilent: "A source of cues is silent"
        }
    }

    /// The meaning of the alarm, for operators, in Markdown.
    package var meaning: String {
        switch self {
        case .reload: "A reload found a fault. The gateway runs with its previous settings, keys and certificates."
        case .audit: "The audit cannot be written, or was begun anew."
        case .clock: "The wall clock and the gateway's clock are too far apart; the gateway does not follow."
        case .control:
            "The control socket could not be made. Commands such as `cuecast clock` and `cuecast backup` cannot reach the gateway. Check owner and mode of the data directory, and restart."
        case .epoch:
            "At this start the event log began a new epoch, because files of the stores were changed or lost. The alarm ends with the next start."
        case .history: "Records were lost before they were counted. The counts of some breaks are incomplete."
        case .ledger:
            "The ledger was lost or damaged and is being counted anew, is not checked yet, or cannot be written."
        case .ledgerCopies: "The ledger cannot be copied. The log keeps everything until there are two copies again."
        case .retention: "Nothing old is deleted: at the start the wall clock was far ahead of the log."
        case .logSilent: "The event log has not answered for 10 s. Nothing that needs it is confirmed."
        case .logNearlyFull: "The event log uses at least 80 % of `log.bytesMax`."
        case .diskNearlyFull: "The disk of the data directory has less than 1 GiB free."
        case .connections: "The descriptors for connections are in use. New connections wait."
        case .traceFile: "The trace file cannot be written. Spans are lost."
        case .logCutOff:
            "The servers of the shared log have not answered for 8 s. Nothing that needs it is confirmed; it goes on by itself."
        case .logWentBack:
            "The shared log lacks records that were in it, or has other ones. Nothing is confirmed; after 10 s the gateway ends."
        case .signingKeysDiffer:
            "Another gateway of the log has other signing keys. Players that move between the two may be refused."
        case .gatewayClocksDiffer: "The clock of another gateway of the log is more than 50 ms from this one's."
        case .boardsDiffer: "Another gateway of the log has made another board of the same records."
        case .gatewayLate:
            "A gateway of the log, this one or another, lacks records of breaks that another one has applied: for more than 10 s, or more than 10,000 of them (`gatewayLateAfter`, `gatewayLateRecordsMax`)."
        case .cuesRefused:
            "Five signals in a row of one source were refused (`refusedInARow`). The alarm ends with a signal that is taken, or an hour after the last one."
        case .sourceSilent:
            "No playlist, packet or title came from a source for `breaks.sourceSilentAfter`, or its watchers report no more. The alarm ends when one hears the source, says goodbye, or has been gone for an hour."
        }
    }

    /// The page that says what to do.
    package var page: ReferenceLink {
        switch self {
        case .reload: ReferenceLink("Reload", "operations/run.md#reload")
        case .audit: ReferenceLink("The audit", "operations/audit.md#the-alarm-audit")
        case .clock: ReferenceLink("Clocks", "operations/clocks.md")
        case .control: ReferenceLink("Data directory", "operations/data-directory.md")
        case .epoch:
            ReferenceLink(
                "Files that do not belong together",
                "operations/backup-and-restore.md#files-that-do-not-belong-together"
            )
        case .history, .ledger, .ledgerCopies:
            ReferenceLink("The ledger", "operations/ledger.md#when-the-ledger-is-lost-or-damaged")
        case .retention: ReferenceLink("Clocks", "operations/clocks.md#at-the-start")
        case .logSilent, .logNearlyFull, .diskNearlyFull: ReferenceLink("Disk failures", "operations/disk-failures.md")
        case .connections: ReferenceLink("Connections", "operations/connections.md#connections-and-descriptors")
        case .traceFile: ReferenceLink("Traces", "operations/traces.md#spans")
        case .logCutOff: ReferenceLink("Several gateways", "operations/cluster.md#when-something-fails")
        case .logWentBack: ReferenceLink("Several gateways", "operations/cluster.md#the-log-went-back")
        case .signingKeysDiffer, .gatewayClocksDiffer, .boardsDiffer, .gatewayLate:
            ReferenceLink("Several gateways", "operations/cluster.md#alarms")
        case .cuesRefused: ReferenceLink("Breaks from signals", "broadcasters/signals.md#what-became-of-a-signal")
        case .sourceSilent: ReferenceLink("Breaks from signals", "broadcasters/signals.md#watchers")
        }
    }
}

/// An alarm that is raised, and why.
package struct RaisedAlarm: Codable, Hashable, Sendable {
    /// The alarm by its name.
    package let alarm: String
    /// A few words for it, for a heading.
    package let title: String
    /// One sentence for people: what is wrong, and what to do.
    package let sentence: String

    package init(_ alarm: Alarm, _ sentence: String) {
        self.alarm = alarm.rawValue
        self.title = alarm.title
        self.sentence = sentence
    }
}
