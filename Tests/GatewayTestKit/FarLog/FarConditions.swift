// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// How a log far away behaves: all times are virtual.
package struct FarConditions: Sendable {
    /// How long one way takes, to the log or back, in milliseconds: short ones are as frequent as long ones ten times as long.
    package var wayMilliseconds: ClosedRange<Int>
    /// How far behind a gateway reads, in milliseconds; each gateway has an upper end of its own in here.
    package var lagMilliseconds: ClosedRange<Int>
    /// After so long without an answer an append is `unanswered`; its record may come into the log later.
    package var answerWithin: Duration = .seconds(5)
    /// Of a thousand appends, how many never come into the log, and are not answered.
    package var lostPerMille = 0
    /// Of a thousand appends, how many come into the log, and their answers are lost.
    package var lostAnswersPerMille = 0
    /// Of a thousand records, how many have a record of another writer before them.
    package var strangersPerMille = 0
    /// Of a thousand records, how many stand at an offset that does not follow the one before.
    package var jumpsPerMille = 0
    /// The farthest that offsets jump.
    package var jumpMax: UInt64 = 0
    /// Whether the appends of one gateway come into a lane in the order in which they were called.
    package var keepsOrder = true

    package init(wayMilliseconds: ClosedRange<Int>, lagMilliseconds: ClosedRange<Int>) {
        self.wayMilliseconds = wayMilliseconds
        self.lagMilliseconds = lagMilliseconds
    }

    /// Slow, and nothing is lost: what every `EventLog` promises holds.
    package static let calm = FarConditions(wayMilliseconds: 1...500, lagMilliseconds: 0...0)

    /// Everything that may go wrong does.
    package static var stormy: FarConditions {
        var conditions = FarConditions(wayMilliseconds: 1...5_000, lagMilliseconds: 1...4_000)
        conditions.lostPerMille = 100
        conditions.lostAnswersPerMille = 100
        conditions.strangersPerMille = 200
        conditions.jumpsPerMille = 100
        conditions.jumpMax = 1_000
        conditions.keepsOrder = false
        return conditions
    }
}
