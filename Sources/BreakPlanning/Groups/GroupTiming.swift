// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// When the breaks of a group of streams start.
///
/// A start that is relative counts once. Streams that have the break already say what it led to, so that the same request again means the
/// same time.
package struct GroupTiming: Hashable, Sendable {
    /// A stream of a group.
    package struct Member: Hashable, Sendable {
        package let stream: String
        /// How much later its break starts than the group says, in milliseconds; negative: earlier.
        package let offsetMilliseconds: Int64

        package init(stream: String, offsetMilliseconds: Int64) {
            self.stream = stream
            self.offsetMilliseconds = offsetMilliseconds
        }
    }

    /// When a group starts, as it is said.
    package enum Start: Hashable, Sendable {
        /// At an instant, in milliseconds since 1970.
        case at(Int64)
        /// So many milliseconds after the gateway's clock is read.
        case after(Int64)
        /// It has none: it is cued, or plays before the stream.
        case none
    }

    /// Why no stream is asked.
    package enum Fault: Error, Hashable, Sendable {
        /// A stream would start before the clock is read.
        case beforeNow(stream: String, milliseconds: Int64)
        /// Streams that have the break start at times that do not fit.
        case different(first: String, second: String)

        /// One sentence for people, without its stop.
        ///
        /// - Parameters:
        ///   - lead: the name by which a start after a while is said.
        ///   - instant: the name by which an instant is said.
        /// - Returns: the sentence.
        package func sentence(lead: String, instant: String) -> String {
            switch self {
            case .beforeNow(let stream, let milliseconds):
                "on \(stream) the break would start \(milliseconds) ms before now: give a later start with \(lead) or \(instant)"
            case .different(let first, let second):
                "the break starts at times that do not fit on \(first) and \(second): say with \(instant) when the group starts"
            }
        }
    }

    /// How long after the gateway's clock was read a group starts that is to start now (2 s), in milliseconds.
    ///
    /// The gateway puts its own time in the place of a start that is over, so the streams would start at different times, and the same
    /// request again would mean another time.
    package static let nowLeadMilliseconds: Int64 = 2_000
    /// The most streams that are asked at one time: a gateway answers 32 requests of a connection at once.
    package static let requestsMax = 16
    /// Starts that differ by less are one: the gateway's clock is finer than what is said.
    private static let toleranceMilliseconds: Int64 = 2

    /// Each stream once.
    package let members: [Member]

    package init(members: [Member]) { self.members = members }

    /// Checks that no stream starts before the clock is read.
    ///
    /// - Parameter start: the start, as it is said.
    /// - Throws: where one would.
    package func check(_ start: Start) throws(Fault) {
        guard case .after(let lead) = start,
            let first = self.members.min(by: { $0.offsetMilliseconds < $1.offsetMilliseconds }),
            lead + first.offsetMilliseconds < 0
        else { return }
        throw .beforeNow(stream: first.stream, milliseconds: -lead - first.offsetMilliseconds)
    }

    /// When the group starts.
    ///
    /// - Parameters:
    ///   - start: the start, as it is said.
    ///   - present: the breaks of the group's id that the gateway has.
    ///   - now: the gateway's time, in milliseconds since 1970.
    /// - Returns: the time, in milliseconds since 1970; `nil`: it has none.
    /// - Throws: where streams of the group start at times that do not fit.
    package func time(
        of start: Start,
        present: [(stream: String, startMilliseconds: Int64?)],
        now: Int64
    ) throws(Fault) -> Int64? {
        switch start {
        case .none: return nil
        case .at(let time): return time
        case .after(let lead):
            let starts = Dictionary(
                present.compactMap { each in each.startMilliseconds.map { (each.stream, $0) } },
                uniquingKeysWith: { first, _ in first }
            )
            var known: (stream: String, time: Int64)?
            for member in self.members {
                guard let own = starts[member.stream] else { continue }
                let time = own - member.offsetMilliseconds
                if let known, abs(known.time - time) >= Self.toleranceMilliseconds {
                    throw .different(first: known.stream, second: member.stream)
                }
                known = known ?? (member.stream, time)
            }
            return known?.time ?? now + lead
        }
    }
}
