// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// The things that a watcher saw and has not reported yet.
///
/// What goes into a report stays as it is until the gateway has it: a report that is sent again has the same number and the same
/// content, and counts once.
struct WatchGathering: Hashable, Sendable {
    /// The content of one report.
    struct Part: Hashable, Sendable {
        /// From 1 on.
        var number: UInt64
        var ignored: UInt32 = 0
        var unusable: UInt32 = 0
        /// One for each reason, with the newest words about it.
        var cues: [BroadcastRequest.WatchReport.Cue] = []
    }

    private var gathered = Part(number: 1)
    /// Was sent, and is not known to have arrived.
    private var sent: Part?

    /// Keeps something that was seen; beyond `WireLimits.watchedCuesPerReportMax` reasons it is counted only.
    ///
    /// - Parameters:
    ///   - isUnusable: whether it should mean something, and could not be used.
    ///   - seen: the words of the source.
    ///   - reason: the reason why no signal was sent.
    mutating func note(isUnusable: Bool, seen: String, reason: String) {
        let most = UInt32.max
        if isUnusable {
            guard self.gathered.unusable < most else { return }
            self.gathered.unusable += 1
        } else {
            guard self.gathered.ignored < most else { return }
            self.gathered.ignored += 1
        }
        let cue = BroadcastRequest.WatchReport.Cue(
            isUnusable: isUnusable,
            // Metadata of radio streams says in a query what plays.
            seen: WatchText.line(seen, hasQueries: true),
            reason: WatchText.line(reason)
        )
        let place = self.gathered.cues.firstIndex { $0.isUnusable == isUnusable && $0.reason == cue.reason }
        if let place {
            self.gathered.cues[place].times += 1
            self.gathered.cues[place].seen = cue.seen
        } else if self.gathered.cues.count < WireLimits.watchedCuesPerReportMax {
            self.gathered.cues.append(cue)
        }
    }

    /// The content of the next report.
    mutating func part() -> Part {
        if let sent = self.sent { return sent }
        let part = self.gathered
        self.sent = part
        self.gathered = Part(number: part.number + 1)
        return part
    }

    /// The gateway has the report, or will never take it.
    mutating func settled() { self.sent = nil }
}
