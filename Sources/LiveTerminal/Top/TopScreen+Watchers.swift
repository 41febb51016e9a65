// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayDocuments

/// The watchers of the stream that is looked at.
extension TopScreen {
    /// The most watchers that have a line: those beyond are counted.
    private static let watchersMax = 2

    /// A line for each watcher: whether it is there, and when something came from its source.
    func watchers(_ now: Double?) -> [ScreenLine] {
        let isGone = { (each: SignalListDocument.Watcher) in each.state == "gone" }
        // What is amiss comes first.
        let watchers = self.state.watchers.filter(isGone) + self.state.watchers.filter { !isGone($0) }
        guard !watchers.isEmpty else { return [] }
        var lines = watchers.prefix(Self.watchersMax)
            .map { each in
                var facts = [
                    "watched by \(each.watcher) for \(each.source) (\(each.kind))",
                    each.heard.flatMap { Self.ago($0, now) }.map { "heard \($0)" } ?? "nothing came yet",
                ]
                if isGone(each) { facts.insert("GONE, reported \(Self.ago(each.reported, now) ?? "-")", at: 1) }
                if let address = each.address { facts.append(address) }
                if let problem = each.problem { facts.append(problem) }
                return ScreenLine(facts.joined(separator: "   "), TextStyle(isGone(each) ? .yellow : nil))
            }
        if watchers.count > Self.watchersMax {
            lines.append(ScreenLine("and \(watchers.count - Self.watchersMax) more watchers"))
        }
        return lines + [ScreenLine()]
    }

    private static func ago(_ instant: String, _ now: Double?) -> String? {
        guard let now, let moment = TopText.seconds(instant) else { return nil }
        return "\(TopText.duration(now - moment)) ago"
    }
}
