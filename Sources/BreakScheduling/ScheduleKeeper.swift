// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastBroadcast

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The requests that a schedule makes to the gateway.
package protocol ScheduleGateway: Sendable {
    /// The breaks of a stream.
    func breaks(stream: String?, breakID: String?) async throws(BroadcastError) -> [BreakStatus]
    func publish(_ adBreak: AdBreak, expectedRevision: UInt64?) async throws(BroadcastError) -> BreakStatus
    func update(
        stream: String,
        breakID: String,
        _ change: BreakChange,
        expectedRevision: UInt64?
    ) async throws(BroadcastError) -> BreakStatus
    func cancel(stream: String, breakID: String, expectedRevision: UInt64?) async throws(BroadcastError) -> BreakStatus
}

extension BroadcastClient: ScheduleGateway {}

/// Puts a schedule into the gateway, and says what became of each break.
///
/// A change expects the revision that was compared, so that what someone else changed meanwhile is not overwritten. All of it may be
/// done again, and by several at the same time.
package struct ScheduleKeeper: Sendable {
    /// The most requests at one time: the gateway answers 32 of a connection at once.
    private static let requestsMax = 16
    /// A revision that no break reaches.
    private static let revisionNever: UInt64 = 1 << 62

    private let gateway: any ScheduleGateway
    private let stream: String
    /// Decides what is changed.
    package var planner: SchedulePlanner
    /// By id: the revision at which the break had these ads, so that the gateway is not asked again.
    private var known: [String: (revision: UInt64, ads: BreakAds)] = [:]

    package init(gateway: any ScheduleGateway, stream: String, planner: SchedulePlanner) {
        self.gateway = gateway
        self.stream = stream
        self.planner = planner
    }

    /// The difference between a schedule and the gateway; nothing changes.
    ///
    /// - Parameters:
    ///   - wanted: the breaks of the schedule.
    ///   - clock: the time, in milliseconds since 1970, where the gateway has no break that tells its own.
    /// - Returns: the changes to make.
    /// - Throws: where the gateway cannot be asked.
    package mutating func difference(
        _ wanted: [WantedBreak],
        clock: Int64
    ) async throws(BroadcastError) -> [ScheduleChange] {
        let statuses = try await self.gateway.breaks(stream: self.stream, breakID: nil)
        let now = statuses.first.map { Self.milliseconds($0.gatewayTime) } ?? clock
        var present = statuses.map { PresentBreak($0, planner: self.planner) }
        try await self.compareAds(of: wanted, with: &present, now: now)
        return self.planner.plan(wanted, present: present, now: now)
    }

    /// Does what a difference says: what goes first, then what moves, then what comes.
    ///
    /// - Returns: the same changes; those that the gateway refused have its reason.
    /// - Throws: where the gateway cannot be asked any more.
    package mutating func apply(_ changes: [ScheduleChange]) async throws(BroadcastError) -> [ScheduleChange] {
        var results = changes
        let gone = changes.indices.filter { changes[$0].kind == .gone }
        let later = changes.indices.filter { changes[$0].kind == .changed && Self.shift(changes[$0]) > 0 }
        let sooner = changes.indices.filter { changes[$0].kind == .changed && Self.shift(changes[$0]) <= 0 }
        let new = changes.indices.filter { changes[$0].kind == .new }
        try await self.run(gone, &results)
        // What moves to later makes room from the last one on, what moves to sooner from the first one on.
        for index in later.reversed() + sooner { try await self.run([index], &results) }
        let blocked = (later + sooner)
            .filter { results[$0].reason.hasPrefix(BroadcastRefusal.Status.breakOverlap.rawValue) }
        for index in blocked {
            results[index] = changes[index]
            try await self.run([index], &results)
        }
        try await self.run(new, &results)
        return results
    }

    /// Fills a break, in one change for all its variants.
    ///
    /// - Parameters:
    ///   - change: a change whose ``ScheduleChange/isFillingDue`` is true.
    ///   - ads: the ads of `default` and of the variants; `nil`: none were found, and the break stays as it is.
    ///   - source: where they are from, for people.
    /// - Returns: the change as it ended; `nil`: someone else changed the break meanwhile, and the next difference decides anew.
    /// - Throws: where the gateway cannot be asked any more.
    package mutating func fill(
        _ change: ScheduleChange,
        with ads: BreakAds?,
        from source: String
    ) async throws(BroadcastError) -> ScheduleChange? {
        var result = change
        result.isFillingDue = false
        guard let present = change.present, let wanted = change.wanted else { return result }
        guard let ads else {
            self.planner.filling.decide(present)
            return result
        }
        var update = ads.change
        if wanted.lastsAsItsAds { update.duration = ads.playingTime }
        result.kind = .filled
        result.reason = source
        result.wanted?.advertisements = ads.advertisements
        result.wanted?.variants = ads.variants
        do throws(BroadcastError) {
            _ = try await self.gateway.update(
                stream: self.stream,
                breakID: change.id,
                update,
                expectedRevision: present.revision
            )
        } catch .refused(let refusal) where refusal.status == .revisionConflict {
            return nil
        } catch {
            guard let reason = Self.reason(error) else { throw error }
            result.kind = .refused
            result.reason = "the ads of \(source) were not taken: \(reason)"
        }
        self.planner.filling.decide(present)
        return result
    }

    /// Remembers that a break was filled by someone else, and stays so.
    package mutating func leaveFilled(_ change: ScheduleChange) {
        if let present = change.present { self.planner.filling.decide(present) }
    }

    // MARK: Requests

    /// Why the gateway does not take a change, and never will; `nil`: it may yet, or was not reached.
    private static func reason(_ error: BroadcastError) -> String? {
        switch error {
        case .refused(let refusal) where !refusal.mayBeTriedSoon: refusal.description
        case .invalid(let field, let reason): "the field \(field) is not valid: \(reason)"
        case .tooLarge(let limit, let maximum, let found): "the limit \(limit) is \(maximum), and this has \(found)"
        default: nil
        }
    }

    private mutating func run(_ indices: [Int], _ changes: inout [ScheduleChange]) async throws(BroadcastError) {
        var rest = indices[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.requestsMax)
            rest = rest.dropFirst(part.count)
            let asked = part.map { ($0, changes[$0]) }
            let keeper = self
            let outcomes = await withTaskGroup(of: (Int, Result<BreakStatus, BroadcastError>).self) { group in
                for (index, change) in asked {
                    group.addTask { (index, await keeper.ask(change)) }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            for (index, change) in asked {
                switch outcomes[index] {
                case .success(let status): self.took(status, change, &changes[index])
                case .failure(.refused(let refusal)) where refusal.status == .tooFarAhead && change.kind == .new:
                    // The gateway's limit is configurable.
                    changes[index].kind = .later
                    changes[index].reason = refusal.description
                case .failure(let error):
                    guard let reason = Self.reason(error) else { throw error }
                    changes[index].kind = .refused
                    changes[index].reason = reason
                case nil: break
                }
            }
        }
    }

    private mutating func took(_ status: BreakStatus, _ change: ScheduleChange, _ result: inout ScheduleChange) {
        if change.kind == .new {
            switch status.state {
            case .cancelled, .expired, .complete:
                // It was there already: someone else put it, and took it back.
                result.kind = .refused
                result.reason = "it is \(status.state.rawValue) already"
            default: break
            }
        }
        if let wanted = change.wanted { self.known[change.id] = (status.revision, wanted.ads) }
    }

    private func ask(_ change: ScheduleChange) async -> Result<BreakStatus, BroadcastError> {
        do throws(BroadcastError) {
            switch (change.kind, change.wanted) {
            case (.new, let wanted?):
                var adBreak = AdBreak(
                    stream: self.stream,
                    id: change.id,
                    start: .at(Self.date(wanted.startMilliseconds)),
                    advertisements: wanted.advertisements
                )
                adBreak.variants = wanted.variants ?? []
                adBreak.duration = .milliseconds(wanted.durationMilliseconds)
                return .success(try await self.gateway.publish(adBreak, expectedRevision: nil))
            case (.changed, let wanted?):
                var update = change.differences.contains("ads") ? wanted.ads.change : BreakChange()
                if change.differences.contains("start") { update.start = .at(Self.date(wanted.startMilliseconds)) }
                if change.differences.contains("duration") {
                    update.duration = .milliseconds(wanted.durationMilliseconds)
                }
                return .success(
                    try await self.gateway.update(
                        stream: self.stream,
                        breakID: change.id,
                        update,
                        expectedRevision: change.present?.revision
                    )
                )
            default:
                return .success(
                    try await self.gateway.cancel(
                        stream: self.stream,
                        breakID: change.id,
                        expectedRevision: change.present?.revision
                    )
                )
            }
        } catch {
            return .failure(error)
        }
    }

    /// Asks whether breaks have the ads that are wanted.
    ///
    /// The gateway tells how many ads a break has, and not which. A change to the wanted ads that expects a revision which no break has
    /// changes nothing: it succeeds where the break has these ads already, and is refused where it has others.
    private mutating func compareAds(
        of wanted: [WantedBreak],
        with present: inout [PresentBreak],
        now: Int64
    ) async throws(BroadcastError) {
        let own = self.planner.own(present)
        let ids = Set(own.values.filter { $0.state == .scheduled }.map(\.id))
        self.known = self.known.filter { ids.contains($0.key) }
        self.planner.filling.keep(ids)
        var unknown: [(id: String, wanted: WantedBreak)] = []
        var answers: [String: Bool] = [:]
        for each in wanted {
            guard let found = own[each.id], found.state == .scheduled else { continue }
            let ads = self.planner.filling.ads(of: each, found, now: now)
            if ads == .kept { continue }
            if let known = self.known[found.id], known.revision == found.revision {
                // What this keeper put itself is not filled, also where the list has changed since.
                answers[found.id] = ads == .due || known.ads == each.ads || Self.isSame(known.ads, each.ads, found)
            } else if found.advertisementCount != each.advertisements.count
                || each.variants.map({ $0.map(\.name) != found.variantNames }) ?? false
            {
                answers[found.id] = false
            } else {
                unknown.append((found.id, each))
            }
        }
        var rest = unknown[...]
        while !rest.isEmpty {
            let part = rest.prefix(Self.requestsMax)
            rest = rest.dropFirst(part.count)
            let replies = await withTaskGroup(of: (String, Result<BreakStatus, BroadcastError>).self) { group in
                for each in part {
                    group.addTask { [gateway, stream] in
                        do throws(BroadcastError) {
                            let status = try await gateway.update(
                                stream: stream,
                                breakID: each.id,
                                each.wanted.ads.change,
                                expectedRevision: Self.revisionNever
                            )
                            return (each.id, .success(status))
                        } catch {
                            return (each.id, .failure(error))
                        }
                    }
                }
                return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
            }
            for each in part {
                switch replies[each.id] {
                case .success(let status):
                    answers[each.id] = true
                    self.known[each.id] = (status.revision, each.wanted.ads)
                case .failure(.refused(let refusal)) where !refusal.canRetry: answers[each.id] = false
                case .failure(.invalid), .failure(.tooLarge): answers[each.id] = false
                case .failure(let error): throw error
                case nil: break
                }
            }
        }
        for index in present.indices { present[index].hasWantedAds = answers[present[index].id] }
    }

    /// Whether lists of ads differ only in that one says nothing about variants where the break has none.
    private static func isSame(_ known: BreakAds, _ wanted: BreakAds, _ found: PresentBreak) -> Bool {
        known.advertisements == wanted.advertisements && found.variantNames.isEmpty
            && (wanted.variants ?? []).isEmpty
    }

    private static func shift(_ change: ScheduleChange) -> Int64 {
        (change.wanted?.startMilliseconds ?? 0) - (change.present?.startMilliseconds ?? 0)
    }

    static func date(_ milliseconds: Int64) -> Date { Date(timeIntervalSince1970: Double(milliseconds) / 1_000) }

    static func milliseconds(_ date: Date) -> Int64 { Int64((date.timeIntervalSince1970 * 1_000).rounded()) }
}

extension PresentBreak {
    /// The break of a status; one that a schedule published for a signalled break has the schedule's id.
    init(_ status: BreakStatus, planner: SchedulePlanner) {
        let published = status.publishedAs.flatMap { planner.local(of: $0) == nil ? nil : $0 }
        self.init(
            id: published ?? status.id,
            state: status.state,
            startMilliseconds: status.start.map { ScheduleKeeper.milliseconds($0) },
            endMilliseconds: status.end.map { ScheduleKeeper.milliseconds($0) },
            durationMilliseconds: status.duration.map { duration in
                let (seconds, attoseconds) = duration.components
                return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
            },
            advertisementCount: status.advertisementCount,
            variantNames: status.variants.map(\.name),
            announcementMilliseconds: status.announcement.map { ScheduleKeeper.milliseconds($0) },
            revision: status.revision,
            isSignalled: !status.signals.isEmpty
        )
    }
}
