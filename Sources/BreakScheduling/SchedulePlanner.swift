// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastBroadcast

/// A break that a schedule wants, with all that the gateway needs for it.
package struct WantedBreak: Hashable, Sendable {
    /// Its id in the schedule.
    package var id: String
    /// When it starts, in milliseconds since 1970.
    package var startMilliseconds: Int64
    /// The most that it lasts, in milliseconds.
    package var durationMilliseconds: Int64
    /// Its ads, in order; where it is filled later, those that play if nothing else is found.
    package var advertisements: [AdvertisementDescription]
    /// Its variants beside `default`, with ads as above; `nil`: the schedule says nothing about them.
    package var variants: [AdVariant]?
    /// How it gets other ads than these.
    package var filling: BreakFilling
    /// Whether it lasts as long as its ads: the schedule does not say how long.
    package var lastsAsItsAds: Bool
    /// For people.
    package var title: String
    /// The line of the document, counted from 1.
    package var line: Int

    package init(
        id: String,
        startMilliseconds: Int64,
        durationMilliseconds: Int64,
        advertisements: [AdvertisementDescription],
        variants: [AdVariant]? = nil,
        filling: BreakFilling = .never,
        lastsAsItsAds: Bool = false,
        title: String = "",
        line: Int = 1
    ) {
        self.id = id
        self.startMilliseconds = startMilliseconds
        self.durationMilliseconds = durationMilliseconds
        self.advertisements = advertisements
        self.variants = variants
        self.filling = filling
        self.lastsAsItsAds = lastsAsItsAds
        self.title = title
        self.line = line
    }

    /// When it ends at the latest, in milliseconds since 1970.
    package var endMilliseconds: Int64 { self.startMilliseconds + self.durationMilliseconds }
}

/// A break that the gateway has.
package struct PresentBreak: Hashable, Sendable {
    package var id: String
    package var state: BreakStatus.State
    /// In milliseconds since 1970; `nil`: it has none yet.
    package var startMilliseconds: Int64?
    package var endMilliseconds: Int64?
    /// The most that it lasts; `nil`: until it is ended.
    package var durationMilliseconds: Int64?
    package var advertisementCount: Int
    /// The names of its variants beside `default`, in the order in which they are tried.
    package var variantNames: [String]
    /// When its announcement is due, in milliseconds since 1970; `nil`: it is announced, or never will be.
    package var announcementMilliseconds: Int64?
    package var revision: UInt64
    /// Whether a signal moves it.
    package var isSignalled: Bool
    /// Whether it has the ads that the schedule wants; `nil`: that was not asked.
    package var hasWantedAds: Bool?

    package init(
        id: String,
        state: BreakStatus.State,
        startMilliseconds: Int64?,
        endMilliseconds: Int64? = nil,
        durationMilliseconds: Int64?,
        advertisementCount: Int = 1,
        variantNames: [String] = [],
        announcementMilliseconds: Int64? = nil,
        revision: UInt64 = 1,
        isSignalled: Bool = false,
        hasWantedAds: Bool? = nil
    ) {
        self.id = id
        self.state = state
        self.startMilliseconds = startMilliseconds
        self.endMilliseconds = endMilliseconds
        self.durationMilliseconds = durationMilliseconds
        self.advertisementCount = advertisementCount
        self.variantNames = variantNames
        self.announcementMilliseconds = announcementMilliseconds
        self.revision = revision
        self.isSignalled = isSignalled
        self.hasWantedAds = hasWantedAds
    }

    /// Whether it is not over.
    package var isOpen: Bool {
        switch self.state {
        case .scheduled, .cued, .announced, .live: true
        default: false
        }
    }
}

/// The fate of one break of a schedule.
package struct ScheduleChange: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        /// The gateway has it as the schedule wants it.
        case unchanged
        /// The gateway does not have it, and gets it.
        case new
        /// The gateway has it otherwise, and changes it.
        case changed
        /// The schedule has it no more: it is cancelled.
        case gone
        /// It is put in when its time comes.
        case later
        /// It was to start before now.
        case past
        /// It cannot be as the schedule wants it.
        case refused
        /// It got ads of ad servers, or chosen ones.
        case filled
    }

    package var kind: Kind
    /// Its id at the gateway.
    package var id: String
    /// The break as it is wanted; `nil`: the schedule has it no more.
    package var wanted: WantedBreak?
    /// The break as the gateway has it; `nil`: it does not.
    package var present: PresentBreak?
    /// The differing values: `start`, `duration`, `ads`.
    package var differences: [String] = []
    /// Why it is refused or later, or where its ads are from; empty: none of these.
    package var reason = ""
    /// Whether it is to be filled now.
    package var isFillingDue = false
    /// Whether its time to be filled has come, and it has other ads than the schedule's already.
    package var isFilledAlready = false

    package init(
        kind: Kind,
        id: String,
        wanted: WantedBreak? = nil,
        present: PresentBreak? = nil,
        reason: String = ""
    ) {
        self.kind = kind
        self.id = id
        self.wanted = wanted
        self.present = present
        self.reason = reason
    }

    /// The start that it is listed by.
    package var startMilliseconds: Int64 { self.wanted?.startMilliseconds ?? self.present?.startMilliseconds ?? 0 }
}

/// The bounds by which breaks are put in.
package struct ScheduleHorizon: Hashable, Sendable {
    /// The furthest ahead that a break is put in, in milliseconds (5 h 55 min): the gateway's `breaks.startAheadMax` is 6 h, and its
    /// clock may differ a little.
    package var aheadMilliseconds: Int64 = 21_300_000
    /// The most breaks of the stream that are not over; the gateway's `openBreaksPerStreamMax` is 64.
    package var openBreaksMax = 64

    package init() {}
}

/// Decides what a schedule changes at the gateway: it compares, and changes nothing itself.
///
/// A schedule owns the breaks of its stream with its name and a point at the beginning of their ids. It touches no other one, and none
/// that is announced, since listeners know it.
package struct SchedulePlanner: Hashable, Sendable {
    /// The schedule's name.
    package let name: String
    package var horizon = ScheduleHorizon()
    /// The beginnings of the ids, without the name, that may be cancelled; `nil`: all.
    package var idPrefixes: Set<String>?
    /// Whether breaks that the schedule has no more are cancelled.
    package var removes = true
    /// The ids that the schedule had before; `nil`: any.
    ///
    /// Only such breaks are cancelled. A break that it never had may be of a newer schedule, which another follower has read already.
    package var hadBefore: Set<String>?
    /// Whether breaks that were cancelled are put again, by another id.
    package var revives = false
    /// Decides when breaks are filled.
    package var filling = FillingRules()

    package init(name: String) { self.name = name }

    /// The id of a break at the gateway.
    ///
    /// - Parameters:
    ///   - local: its id in the schedule.
    ///   - generation: 1, and one more each time that it is put again after it was cancelled.
    /// - Returns: the id.
    package func id(of local: String, generation: Int = 1) -> String {
        generation == 1 ? "\(self.name).\(local)" : "\(self.name).\(local).\(generation)"
    }

    /// The break's id in the schedule, and how often it was put again; `nil`: the break is not this schedule's.
    package func local(of id: String) -> (id: String, generation: Int)? {
        let parts = id.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2 || parts.count == 3, parts[0] == self.name, !parts[1].isEmpty else { return nil }
        guard parts.count == 3 else { return (String(parts[1]), 1) }
        guard let generation = Int(parts[2]), generation >= 2, "\(generation)" == parts[2] else { return nil }
        return (String(parts[1]), generation)
    }

    /// This schedule's breaks at the gateway: of each the one that was put last.
    package func own(_ present: [PresentBreak]) -> [String: PresentBreak] {
        var own: [String: (PresentBreak, Int)] = [:]
        for each in present {
            guard let (id, generation) = self.local(of: each.id) else { continue }
            if let (_, known) = own[id], known >= generation { continue }
            own[id] = (each, generation)
        }
        return own.mapValues(\.0)
    }

    /// The difference between a schedule and the gateway.
    ///
    /// - Parameters:
    ///   - wanted: the breaks of the schedule; their ids differ.
    ///   - present: the breaks of the stream that the gateway has.
    ///   - now: the gateway's time, in milliseconds since 1970.
    /// - Returns: a change for each break, by start, then by id; the order of the breaks that are given does not matter.
    package func plan(_ wanted: [WantedBreak], present: [PresentBreak], now: Int64) -> [ScheduleChange] {
        let own = self.own(present)
        let wantedIDs = Set(wanted.map(\.id))
        var changes: [ScheduleChange] = []
        for (local, each) in own where each.isOpen && !wantedIDs.contains(local) {
            if let change = self.missing(local, each) { changes.append(change) }
        }
        let gone = Set(changes.filter { $0.kind == .gone }.map(\.id))
        // What holds time at the gateway whatever this schedule wants.
        var held =
            present.filter { each in
                guard each.isOpen, !gone.contains(each.id) else { return false }
                guard let (local, _) = self.local(of: each.id), own[local]?.id == each.id else { return true }
                return !wantedIDs.contains(local) || each.state != .scheduled
            }
            .compactMap { each -> (Range<Int64>, String)? in
                guard let start = each.startMilliseconds, let end = each.endMilliseconds, start < end else {
                    return nil
                }
                return (start..<end, each.id)
            }
            .sorted { ($0.0.lowerBound, $0.1) < ($1.0.lowerBound, $1.1) }
        var room = self.horizon.openBreaksMax - present.count { $0.isOpen && !gone.contains($0.id) }
        for each in wanted.sorted(by: { ($0.startMilliseconds, $0.id) < ($1.startMilliseconds, $1.id) }) {
            var change = self.change(each, own[each.id], now: now)
            if change.kind == .new || change.kind == .changed || change.kind == .unchanged,
                change.present.map({ $0.state == .scheduled }) ?? true
            {
                let interval = each.startMilliseconds..<max(each.endMilliseconds, each.startMilliseconds + 1)
                if let (_, other) = held.first(where: { $0.0.overlaps(interval) }), change.kind != .unchanged {
                    change.kind = .refused
                    change.reason = "the break \(other) holds part of that time"
                } else {
                    held.append((interval, change.id))
                }
            }
            if change.kind == .new {
                if room <= 0 {
                    change.kind = .later
                    change.reason = "the stream has \(self.horizon.openBreaksMax) breaks that are not over"
                } else {
                    room -= 1
                }
            }
            changes.append(change)
        }
        return changes.sorted { ($0.startMilliseconds, $0.id) < ($1.startMilliseconds, $1.id) }
    }

    /// The change of a break that the schedule has no more; `nil`: the schedule says nothing about it.
    private func missing(_ local: String, _ each: PresentBreak) -> ScheduleChange? {
        if let idPrefixes, !idPrefixes.contains(where: { local.hasPrefix($0) }) { return nil }
        guard each.state == .scheduled else {
            return ScheduleChange(
                kind: .refused,
                id: each.id,
                present: each,
                reason: "the schedule has it no more, but it is \(each.state.rawValue): cancel it yourself"
            )
        }
        guard self.removes else {
            return ScheduleChange(
                kind: .refused,
                id: each.id,
                present: each,
                reason: "the schedule may have it: rows with faults were skipped, so nothing is cancelled"
            )
        }
        if let hadBefore, !hadBefore.contains(local) {
            return ScheduleChange(
                kind: .refused,
                id: each.id,
                present: each,
                reason:
                    "the schedule has not had it since this follower began, and another one may have a newer file: 'cuecast schedule put --apply' cancels it"
            )
        }
        return ScheduleChange(kind: .gone, id: each.id, present: each)
    }

    private func change(_ wanted: WantedBreak, _ present: PresentBreak?, now: Int64) -> ScheduleChange {
        let isPast = wanted.startMilliseconds <= now
        let isFar = wanted.startMilliseconds - now > self.horizon.aheadMilliseconds
        guard let present else {
            var change = ScheduleChange(kind: .new, id: self.id(of: wanted.id), wanted: wanted)
            if isPast { change.kind = .past }
            if isFar {
                change.kind = .later
                change.reason = "its start is too far ahead"
            }
            return change
        }
        let ads = self.filling.ads(of: wanted, present, now: now)
        var change = ScheduleChange(kind: .unchanged, id: present.id, wanted: wanted, present: present)
        if present.startMilliseconds.map({ abs($0 - wanted.startMilliseconds) > 1 }) ?? true {
            change.differences.append("start")
        }
        if present.durationMilliseconds != wanted.durationMilliseconds, ads == .scheduled || !wanted.lastsAsItsAds {
            change.differences.append("duration")
        }
        let hasWantedAds = present.hasWantedAds ?? (present.advertisementCount == wanted.advertisements.count)
        if !hasWantedAds, ads == .scheduled { change.differences.append("ads") }
        switch present.state {
        case .scheduled:
            guard !change.differences.isEmpty else {
                change.isFillingDue = ads == .due && hasWantedAds
                change.isFilledAlready = ads == .due && !hasWantedAds
                return change
            }
            change.kind = .changed
            // How far ahead it may move the gateway decides.
            if change.differences.contains("start"), isPast {
                change.kind = .refused
                change.reason = "its new start is over"
            }
        case .cancelled, .expired:
            guard !isPast else {
                change.kind = .past
                return change
            }
            let generation = (self.local(of: present.id)?.generation ?? 1) + 1
            guard self.revives, generation <= 99 else {
                change.kind = .refused
                change.reason = "it was \(present.state.rawValue); --revive puts it again"
                return change
            }
            return self.again(wanted, generation: generation, isFar: isFar)
        case .complete:
            if change.differences.contains("start"), !isPast {
                change.kind = .refused
                change.reason = "a break of this id is over; give this schedule another --name, or the break another id"
            } else {
                change.kind = .past
            }
        default:
            // Listeners know it. A signal that opened or moved it goes before the schedule.
            guard !change.differences.isEmpty, !present.isSignalled else { return change }
            change.kind = .refused
            change.reason = "it is \(present.state.rawValue) already; use cuecast update, postpone or cancel"
        }
        return change
    }

    private func again(_ wanted: WantedBreak, generation: Int, isFar: Bool) -> ScheduleChange {
        var change = ScheduleChange(kind: .new, id: self.id(of: wanted.id, generation: generation), wanted: wanted)
        if isFar {
            change.kind = .later
            change.reason = "its start is too far ahead"
        }
        return change
    }
}
