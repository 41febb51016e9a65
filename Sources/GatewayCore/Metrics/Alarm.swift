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
}

/// An alarm that is raised, and why.
package struct RaisedAlarm: Codable, Hashable, Sendable {
    /// The alarm by its name.
    package let alarm: String
    /// One sentence for people: what is wrong, and what to do.
    package let sentence: String

    package init(alarm: String, sentence: String) {
        self.alarm = alarm
        self.sentence = sentence
    }

    package init(_ alarm: Alarm, _ sentence: String) {
        self.init(alarm: alarm.rawValue, sentence: sentence)
    }
}
