// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// The findings of a process; the outcomes of processes are merged.
package struct RunOutcome: Codable, Sendable {
    package struct Break: Codable, Hashable, Sendable {
        package var stream: String
        package var id: String
        package var isOurs: Bool
        package var tally: BreakTally

        package init(stream: String, id: String, isOurs: Bool, tally: BreakTally) {
            self.stream = stream
            self.id = id
            self.isOurs = isOurs
            self.tally = tally
        }
    }

    package var statistics: RunStatistics
    package var breaks: [Break]
    package var cpuSeconds: Double
    /// Whether it ended as planned.
    package var isComplete: Bool
    /// When what it found was judged.
    package var ended: Microseconds

    /// The findings of one process's listeners.
    package init(_ world: LoadWorld, cpuSeconds: Double, isComplete: Bool, ended: Microseconds) {
        self.ended = ended
        self.statistics = world.statistics
        self.breaks = world.streams.flatMap { stream in
            // Those that were only planned are no part of what happened.
            stream.breaks.filter { $0.isDue || !$0.isOurs }
                .map {
                    Break(
                        stream: stream.id.description,
                        id: $0.id.description,
                        isOurs: $0.isOurs,
                        tally: $0.tally
                    )
                }
        }
        self.cpuSeconds = cpuSeconds
        self.isComplete = isComplete
    }

    /// Finds that a run of which nothing else can be said has tested nothing: not one batch of its breaks was handed out.
    ///
    /// To be called once, when the outcomes of all processes are together.
    package mutating func judgeBatches() {
        let ours = self.breaks.filter(\.isOurs)
        guard self.isComplete, self.statistics.findings.isEmpty, !ours.isEmpty,
            ours.allSatisfy({ $0.tally.batches == 0 })
        else { return }
        self.statistics.findings.add(
            .batchesMissing,
            count: ours.count,
            "not one batch was handed out, of no break: nothing was tested"
        )
    }

    package mutating func merge(_ other: RunOutcome) {
        self.statistics.merge(other.statistics)
        self.cpuSeconds += other.cpuSeconds
        self.isComplete = self.isComplete && other.isComplete
        self.ended = max(self.ended, other.ended)
        var places: [[String]: Int] = [:]
        for (place, each) in self.breaks.enumerated() { places[[each.stream, each.id]] = place }
        for each in other.breaks {
            if let place = places[[each.stream, each.id]] {
                self.breaks[place].isOurs = self.breaks[place].isOurs || each.isOurs
                self.breaks[place].tally.merge(each.tally)
            } else {
                self.breaks.append(each)
            }
        }
    }
}
