// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import BreakDocuments
import BreakPlanning
import BreakScheduling
import CommandSupport
import CuecastBroadcast
import CuecastWire
import GatewayCore

/// Fills the breaks of a schedule that are due: with the ads of their ad servers, with chosen ones, or else not at all.
struct ScheduleFilling {
    /// The results of a pass of fillings.
    struct Outcome {
        /// The breaks that were filled, or whose ads the gateway refused.
        var changes: [ScheduleChange] = []
        /// Sentences for people that are said once while they hold, by their subjects.
        var said: [(key: String, sentence: String)] = []
        /// Whether no break is left that is to be looked at again soon.
        var isDone = true
    }

    /// The subject of a sentence about the ads of other breaks.
    static let historyKey = "history"

    let stream: String
    /// The list of the schedule.
    let list: String?
    /// Asks ad servers; `nil`: they are not asked.
    private(set) var filler: ScheduleFiller?
    let history: HistorySource
    /// How long before its announcement a break is filled, in milliseconds.
    let leadMilliseconds: Int64
    /// The ads that this program gave breaks.
    private var given = GivenAds()
    /// The breaks that could not be filled yet.
    private var owed = OwedFillings()

    init(
        stream: String,
        list: String?,
        filler: ScheduleFiller?,
        history: HistorySource,
        leadMilliseconds: Int64
    ) {
        self.stream = stream
        self.list = list
        self.filler = filler
        self.history = history
        self.leadMilliseconds = leadMilliseconds
    }

    /// Fills what is due.
    ///
    /// - Parameters:
    ///   - changes: the difference, as it was made.
    ///   - document: the schedule.
    ///   - keeper: changes breaks.
    ///   - finder: knows the ads of lists.
    /// - Returns: the results.
    /// - Throws: where the gateway cannot be asked.
    mutating func fill(
        _ changes: [ScheduleChange],
        of document: ScheduleDocument,
        _ keeper: inout ScheduleKeeper,
        _ finder: inout ScheduleAdsFinder
    ) async throws(BroadcastError) -> Outcome {
        var outcome = Outcome()
        self.forget(changes)
        for each in changes where each.isFilledAlready {
            complain("\(each.id): it has other ads than the schedule's already, and stays so")
            keeper.leaveFilled(each)
        }
        let scheduled = Dictionary(document.breaks.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var due: [(change: ScheduleChange, wanted: WantedBreak, asked: ScheduleFiller.Asked)] = []
        for change in changes where change.isFillingDue {
            guard let wanted = change.wanted, let own = scheduled[wanted.id],
                case .success(let parts) = finder.audience.parts(of: own)
            else { continue }
            due.append((change, wanted, ScheduleFiller.Asked(id: change.id, scheduled: own, parts: parts)))
        }
        guard !due.isEmpty else { return outcome }
        var rest = due.map(\.asked)[...]
        var history = PassHistory()
        while !rest.isEmpty {
            let part = ScheduleFiller.next(&rest)
            let answers = await self.filler?.ask(part) ?? [:]
            if Task.isCancelled { throw .cancelled }
            // Ad servers take their time, in which others publish too.
            if part.contains(where: { $0.questionCount > 0 }) { history.expire() }
            for asked in part {
                guard let (change, wanted, _) = due.first(where: { $0.asked.id == asked.id }) else { continue }
                var choices: [VariantChoice] = []
                let isToChoose = asked.parts.contains { part in
                    finder.audience.mayChoose(part, of: asked.scheduled)
                        && answers[asked.id]?[part.name]?.ads.isEmpty ?? true
                }
                if isToChoose, let chooser = finder.audience.chooser {
                    let played = await history.ads {
                        await self.played(chooser, due.map(\.wanted), changes, keeper, &outcome)
                    }
                    // Without it the same ad might play twice in a short time. It is tried again until the break is announced, but
                    // no ad server is asked twice for that.
                    if let played {
                        choices = chooser.choices(of: asked, stream: self.stream, wanted, history: played)
                    } else if asked.questionCount == 0 {
                        self.owed.owe(asked.id)
                        outcome.isDone = false
                        continue
                    }
                }
                let filling = FoundFilling(asked, answers[asked.id] ?? [:], choices)
                guard
                    let ads = try await self.give(filling, change, asked, &keeper, &finder, &outcome)
                else {
                    // Someone else fills breaks too. What they chose counts before anything else is chosen.
                    history.expire()
                    continue
                }
                history.set(asked.id, at: wanted.startMilliseconds, ads)
            }
        }
        return outcome
    }

    /// Gives a break what was found.
    ///
    /// - Returns: the ads that it has now; `nil`: someone else changed it meanwhile.
    private mutating func give(
        _ filling: FoundFilling,
        _ change: ScheduleChange,
        _ asked: ScheduleFiller.Asked,
        _ keeper: inout ScheduleKeeper,
        _ finder: inout ScheduleAdsFinder,
        _ outcome: inout Outcome
    ) async throws(BroadcastError) -> BreakAds? {
        let had = change.wanted?.ads ?? BreakAds(advertisements: [])
        for line in filling.lines(list: self.list) { complain("\(change.id): \(line)") }
        var ads: BreakAds?
        if filling.isFilled {
            switch try await finder.ads(of: asked.scheduled, asked.parts, found: filling.found) {
            case .success(let found): ads = found
            case .failure(let fault): complain("\(change.id): \(fault); it keeps the ads that it has")
            }
        }
        guard let result = try await keeper.fill(change, with: ads, from: filling.source(list: self.list)) else {
            complain("\(change.id): someone else changed it meanwhile, so that these ads are not used")
            outcome.isDone = false
            return nil
        }
        self.owed.settle(change.id)
        guard let ads else { return had }
        outcome.changes.append(result)
        guard result.kind == .filled else { return had }
        self.given.give(ads, to: change.id, at: change.startMilliseconds)
        return ads
    }

    /// The ads of other breaks; `nil`: they are not known now, and it is said why.
    private func played(
        _ chooser: CandidateChooser,
        _ due: [WantedBreak],
        _ changes: [ScheduleChange],
        _ keeper: ScheduleKeeper,
        _ outcome: inout Outcome
    ) async -> PlayedHistory? {
        guard chooser.gapMilliseconds > 0, let first = due.map(\.startMilliseconds).min(),
            let last = due.map(\.startMilliseconds).max()
        else { return PlayedHistory() }
        do throws(OperatorGateway.Fault) {
            let read = try await self.history.played(
                in: self.stream,
                around: first...last,
                gap: chooser.gapMilliseconds
            )
            // Breaks that are not filled yet have ads that will not play.
            let waiting = changes.filter { keeper.planner.filling.awaits($0) }
                .compactMap { change in change.wanted.map { (change.id, $0.ads) } }
            let isReport = if case .gateway = self.history { true } else { false }
            return self.given.added(
                to: read.without(waiting: Dictionary(waiting, uniquingKeysWith: { first, _ in first })),
                isReport: isReport
            )
        } catch {
            outcome.said.append(
                (Self.historyKey, "No ads are chosen, because those of other breaks are not known: \(error.sentence)")
            )
            return nil
        }
    }

    /// Forgets breaks that matter no more, and tells of those that were announced before they could be filled.
    private mutating func forget(_ changes: [ScheduleChange]) {
        for id in self.owed.settle(changes) {
            complain("\(id): it was announced with the ads of \(self.list.map { "the list \($0)" } ?? "the schedule")")
        }
        self.given.keep(changes)
    }
}
