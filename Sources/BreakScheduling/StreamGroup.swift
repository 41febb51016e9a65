// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import BreakPlanning
package import CuecastBroadcast

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// One break on many streams: the same id on each, a start that each stream may have earlier or later, and ads of its own where it
/// has some.
///
/// The id of the break is the id of the group. Nothing else holds a group together, so that every other request works on its breaks.
package struct StreamGroup: Hashable, Sendable {
    /// A stream of a group.
    package struct Member: Hashable, Sendable {
        package var stream: String
        /// How much later its break starts than the group says, in milliseconds; negative: earlier.
        package var offsetMilliseconds: Int64
        package var ads: BreakAds

        package init(stream: String, offsetMilliseconds: Int64 = 0, ads: BreakAds) {
            self.stream = stream
            self.offsetMilliseconds = offsetMilliseconds
            self.ads = ads
        }
    }

    package typealias Start = GroupTiming.Start

    /// The result of a request for one stream.
    package struct Outcome: Sendable {
        package enum Result: Sendable {
            /// It has the break; ``isNew``: it did not have it before.
            case published(BreakStatus, isNew: Bool)
            case failed(BroadcastError)
        }

        package var stream: String
        package var result: Result

        /// Whether the stream has the break, and it can play.
        package var isPublished: Bool {
            guard case .published(let status, _) = self.result else { return false }
            return status.state != .cancelled && status.state != .expired
        }
    }

    /// Why no stream is asked.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        package let description: String

        fileprivate init(_ fault: GroupTiming.Fault) {
            self.description = fault.sentence(lead: "--in", instant: "--at")
        }
    }

    /// The break of one stream, of which each other one has the same but stream, start and ads.
    package let pattern: AdBreak
    /// Whether the break lasts as long as its ads, on each stream.
    package let lastsAsItsAds: Bool
    /// Each stream once; at least one.
    package let members: [Member]

    package init(pattern: AdBreak, lastsAsItsAds: Bool, members: [Member]) {
        self.pattern = pattern
        self.lastsAsItsAds = lastsAsItsAds
        self.members = members
    }

    private var timing: GroupTiming {
        GroupTiming(
            members: self.members.map {
                GroupTiming.Member(stream: $0.stream, offsetMilliseconds: $0.offsetMilliseconds)
            }
        )
    }

    /// When the group starts, as ``GroupTiming`` says it.
    package func time(
        of start: Start,
        present: [(stream: String, startMilliseconds: Int64?)],
        now: Int64
    ) throws(Fault) -> Int64? {
        do throws(GroupTiming.Fault) {
            return try self.timing.time(of: start, present: present, now: now)
        } catch {
            throw Fault(error)
        }
    }

    /// The break of a stream.
    ///
    /// - Parameters:
    ///   - member: the stream.
    ///   - time: when the group starts, in milliseconds since 1970; `nil`: it has no start.
    /// - Returns: the break.
    package func adBreak(of member: Member, at time: Int64?) -> AdBreak {
        var each = self.pattern
        each.stream = member.stream
        each.advertisements = member.ads.advertisements
        each.variants = member.ads.variants ?? []
        if let time { each.start = .at(ScheduleKeeper.date(time + member.offsetMilliseconds)) }
        if self.lastsAsItsAds { each.duration = each.advertisementsDuration }
        return each
    }

    /// Publishes the break on every stream; each has the whole of it, or nothing.
    ///
    /// The same again changes nothing where it was published, and publishes it where it was not.
    ///
    /// - Parameters:
    ///   - start: when the group starts; no stream may start before the clock is read.
    ///   - gateway: the gateway.
    ///   - clock: tells the gateway's time.
    /// - Returns: when the group starts, in milliseconds since 1970, and what became of each stream, in their order.
    /// - Throws: where the gateway cannot be asked which streams have it already.
    package func publish(
        at start: Start,
        to gateway: some ScheduleGateway,
        clock: () async throws(BroadcastError) -> Date
    ) async throws(BroadcastError) -> Result<(time: Int64?, outcomes: [Outcome]), Fault> {
        do throws(GroupTiming.Fault) {
            try self.timing.check(start)
        } catch {
            return .failure(Fault(error))
        }
        let present = try await gateway.breaks(stream: nil, breakID: self.pattern.id)
        let had = Set(present.map(\.stream))
        let now = ScheduleKeeper.milliseconds(try await clock())
        let time: Int64?
        do throws(Fault) {
            time = try self.time(
                of: start,
                present: present.map { ($0.stream, $0.start.map { ScheduleKeeper.milliseconds($0) }) },
                now: now
            )
        } catch {
            return .failure(error)
        }
        let outcomes = await self.each { (member) async throws(BroadcastError) in
            try await gateway.publish(self.adBreak(of: member, at: time), expectedRevision: nil)
        }
        return .success(
            (
                time,
                outcomes.map { stream, result in
                    switch result {
                    case .success(let status):
                        Outcome(stream: stream, result: .published(status, isNew: !had.contains(stream)))
                    case .failure(let error): Outcome(stream: stream, result: .failed(error))
                    }
                }
            )
        )
    }

    /// Calls the break off on every stream.
    ///
    /// - Parameter gateway: the gateway.
    /// - Returns: the result of each stream, in their order.
    package func cancel(at gateway: some ScheduleGateway) async -> [Outcome] {
        let id = self.pattern.id
        let outcomes = await self.each { (member) async throws(BroadcastError) in
            try await gateway.cancel(stream: member.stream, breakID: id, expectedRevision: nil)
        }
        return outcomes.map { stream, result in
            switch result {
            case .success(let status): Outcome(stream: stream, result: .published(status, isNew: false))
            case .failure(let error): Outcome(stream: stream, result: .failed(error))
            }
        }
    }

    /// Asks for something on every stream, some at a time.
    ///
    /// - Parameter ask: asks for one stream.
    /// - Returns: the results, in the order of the streams.
    private func each(
        _ ask: @escaping @Sendable (Member) async throws(BroadcastError) -> BreakStatus
    ) async -> [(stream: String, result: Result<BreakStatus, BroadcastError>)] {
        await withTaskGroup(of: (Int, Result<BreakStatus, BroadcastError>).self) { group in
            var results: [Int: Result<BreakStatus, BroadcastError>] = [:]
            for (index, member) in self.members.enumerated() {
                if index >= GroupTiming.requestsMax, let (done, result) = await group.next() { results[done] = result }
                group.addTask {
                    do throws(BroadcastError) {
                        return (index, .success(try await ask(member)))
                    } catch {
                        return (index, .failure(error))
                    }
                }
            }
            for await (done, result) in group { results[done] = result }
            return self.members.indices.compactMap { index in
                results[index].map { (self.members[index].stream, $0) }
            }
        }
    }
}
