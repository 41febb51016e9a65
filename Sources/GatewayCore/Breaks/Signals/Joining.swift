// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

// A publication and the signals of one break may come in any order.
//
//   publication, then OUT   the break has the id of the publication, and the OUT is a claim on it (SignalFold.swift)
//   OUT, then publication   the break keeps the id that listeners may know, and the id of the publication is its alias
//
// In both orders it is a break that a broadcaster published, and its start, its end and its ads are the same, those of its variants too.
// Where listeners know its ads, a publication with other ads, or with variants, cannot be carried out and is refused: listeners that were
// handed the ads of the list would belong to no variant. A signal fills a break from a list, which has no variants.
extension StreamBoard {
    /// The break that signals opened and that a publication is about; `nil`: the publication is a break of its own.
    ///
    /// - Parameters:
    ///   - publish: as the planner resolved it; its id is not known.
    ///   - now: the time.
    /// - Returns: of the breaks that start close enough, the closest, and of two the first.
    func signalledBreak(of publish: BreakEntry.Publish, at now: Timestamp) -> Break? {
        // Without a start it may begin at any time.
        guard let start = publish.start else { return nil }
        return self.starting(around: start, within: SignalLimits.toleranceMax)
            .filter { $0.record.signals?.opened == true && !$0.isOver(at: now) }
            .compactMap { each in each.gap(to: start).map { (gap: $0, each: each) } }
            .filter { $0.gap <= $0.each.record.signals?.tolerance ?? .zero }
            .min { ($0.gap, $0.each.number) < ($1.gap, $1.each.number) }?
            .each
    }

    /// Has a break that signals opened become the one that a broadcaster publishes.
    ///
    /// - Parameters:
    ///   - publish: the publication.
    ///   - each: the break.
    ///   - entry: the entry of the publication.
    ///   - room: how many bytes the board has left.
    /// - Returns: the step.
    /// - Throws: the reason why the break cannot be as it was published.
    func join(
        _ publish: BreakEntry.Publish,
        to each: inout Break,
        asked entry: BreakEntry,
        room: Int
    ) throws(Refusal) -> Step {
        let (before, now) = (each, entry.at)
        let request = publish.request
        if before.record.phase != .scheduled {
            guard before.record.advertisements == request.advertisements, before.record.variants == request.variants,
                before.exact == request.exact
            else {
                throw Refusal(
                    .breakOverlap,
                    "A signal opened the break \(before.key.id) of that time, and listeners know its ads: update, end or cancel it."
                )
            }
        }
        each.become(publish, of: entry.broadcaster)
        guard each.bytes - before.bytes <= max(0, room) else { throw .boardFull() }
        if let start = publish.start, before.state(at: now) != .live {
            each.move(to: start, announce: publish.announce, window: publish.window, at: now)
        }
        (each.record.duration, each.record.ended) = (request.duration, nil)
        // A publication without a length lasts as signals say, whichever came first.
        if request.duration == nil { try each.last(SignalledTimes(each.record.signals)) }
        let step = try self.moved(&each, at: now)
        let isSame =
            each.record.start == before.record.start && each.end == before.end && each.lasting == before.lasting
            && each.record.endMode == before.record.endMode
        // Listeners know all that already.
        return before.record.phase != .scheduled && isSame ? .silently : step
    }
}
