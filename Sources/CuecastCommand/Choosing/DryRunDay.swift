// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import AdServers
import ArgumentParser
import BreakDocuments
import BreakPlanning
import BreakScheduling
import CommandSupport
import CuecastBroadcast
import CuecastWire
import Foundation
import GatewayCore
import GatewayDocuments

/// `cuecast dry-run day`: what the breaks of a schedule would have.
struct DryRunDay: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "day",
        abstract: "Show what every break of a schedule would have and why, for each variant; publish nothing.",
        discussion: """
            It takes the options of 'cuecast schedule follow'. The breaks are filled one after the other, as a follower does it, so that \
            rules about the time between breaks hold across the day. Breaks that are filled or announced already stay as they are, and count.

            Nothing is published, nothing is counted, and no Error address is called. The gateway is asked for its breaks, its lists, and the \
            ads of other breaks. Ad servers are asked with --ask-ad-servers only, or answer from a folder that \
            'cuecast vast resolve --record' has made.

            Exits with 1 where the gateway would refuse a break, and with 65 where the file has a fault.

            Example: cuecast dry-run day traffic.csv --stream radio1 --time-zone Europe/Oslo --list house --choose ads.json
            """
    )

    @OptionGroup var schedule: ScheduleOptions

    @Flag(help: "Ask the ad servers of breaks for real, once for each variant. They may count it.")
    var askAdServers = false

    @Option(help: "A folder of recorded answers, instead of asking ad servers.")
    var answers: String?

    @OptionGroup(title: "Ad servers") var adServer: AdServerOptions

    @OptionGroup(title: "Ads of other breaks") var history: ScheduleHistoryOptions

    func validate() throws {
        guard !self.askAdServers || self.answers == nil else {
            throw ValidationError("Give one of --ask-ad-servers and --answers.")
        }
        guard !self.adServer.reportErrors else {
            throw ValidationError("--report-errors calls addresses, and a dry run calls none.")
        }
    }

    func run() async throws {
        let options = self.schedule
        let path = options.file.file
        let audience = try options.told()
        var source: ScheduleFiller.Source?
        if let answers = self.answers { source = .recorded(try AnswersFolder(answers).read()) }
        if self.askAdServers { source = .servers(try self.adServer.client()) }
        let filler = source.map {
            ScheduleFiller(source: $0, breakDuration: self.adServer.breakDuration?.duration, reportsErrors: false)
        }
        let day = DryDay(
            options: options,
            audience: audience,
            history: try self.history.source(audience, gateway: options.gateway.gateway)
        )
        let read: ScheduleDocument
        do throws(ScheduleFault) {
            read = try options.file.read(now: ScheduleOptions.now)
        } catch {
            complain("\(path): \(error)")
            throw CommandExit.badData
        }
        let outcome = try await options.gateway.asBroadcaster { (client) throws(BroadcastError) in
            try await day.run(read, client, filler)
        }
        for sentence in outcome.document.sentences(path) { complain(sentence) }
        for note in outcome.document.notes { complain("\(path): \(note)") }
        if source == nil, let note = audience.adServerNote(outcome.document) { complain("\(path): \(note)") }
        if let fault = outcome.fault {
            complain("no ads can be chosen: \(fault.sentence)")
            throw fault.exit
        }
        guard let breaks = outcome.breaks else {
            complain("\(path): it has these faults; --skip-faulty goes on without them.")
            throw CommandExit.badData
        }
        let shown = DryRunDayDocument(schedule: options.file.scheduleName, stream: options.stream, breaks: breaks)
        if options.output.isJSON { BreakPrinter.printJSON(shown) } else { CommandOutput.say(shown.text) }
        let isRefused = breaks.contains { $0.change == ScheduleChange.Kind.refused.rawValue }
        if isRefused || !outcome.document.faults.isEmpty { throw CommandExit.checkFailed }
    }
}

/// A day of breaks, filled one after the other, without a change at the gateway.
private struct DryDay: Sendable {
    struct Outcome: Sendable {
        var document: ScheduleDocument
        /// `nil`: the document's faults forbid it.
        var breaks: [DryRunDayDocument.Break]?
        /// Why the ads of other breaks are not known.
        var fault: OperatorGateway.Fault?
    }

    /// Every break that waits for its filling is due, however far ahead it is.
    private static let leadMilliseconds: Int64 = 1 << 50

    let options: ScheduleOptions
    let audience: ScheduleAudience
    let history: HistorySource

    func run(
        _ read: ScheduleDocument,
        _ client: BroadcastClient,
        _ asking: ScheduleFiller?
    ) async throws(BroadcastError) -> Outcome {
        var outcome = Outcome(document: read)
        var filler = asking
        var finder = ScheduleAdsFinder(
            self.options.file,
            client: client,
            audience: self.audience,
            asks: asking != nil,
            chooses: true
        )
        let wanted = try await finder.wanted(&outcome.document, now: ScheduleOptions.now)
        guard outcome.document.faults.isEmpty || self.options.file.skipFaulty else { return outcome }
        var planner = self.options.planner(outcome.document)
        planner.filling.leadMilliseconds = Self.leadMilliseconds
        var keeper = ScheduleKeeper(gateway: client, stream: self.options.stream, planner: planner)
        let changes = try await keeper.difference(wanted, clock: ScheduleOptions.now).filter { $0.kind != .past }
        let scheduled = Dictionary(
            outcome.document.breaks.map { ($0.id, $0) },
            uniquingKeysWith: { first, _ in first }
        )
        var played: PlayedHistory
        do throws(OperatorGateway.Fault) {
            played = try await self.played(changes)
        } catch {
            outcome.fault = error
            return outcome
        }
        var breaks: [DryRunDayDocument.Break] = []
        for change in changes {
            guard let wanted = change.wanted, let own = scheduled[wanted.id], Self.isOpen(change),
                case .success(let parts) = self.audience.parts(of: own)
            else {
                breaks.append(DryRunDayDocument.Break(change, [], duration: nil))
                continue
            }
            let asked = ScheduleFiller.Asked(id: change.id, scheduled: own, parts: parts)
            let answers = await filler?.ask([asked])[change.id] ?? [:]
            if Task.isCancelled { throw .cancelled }
            // A follower that asks no ad servers leaves such breaks to one that does.
            let chooses =
                wanted.filling == .here
                && parts.contains { self.audience.mayChoose($0, of: own) && answers[$0.name]?.ads.isEmpty ?? true }
            let choices =
                chooses
                ? self.audience.chooser?.choices(of: asked, stream: self.options.stream, wanted, history: played) ?? []
                : []
            let filling = FoundFilling(asked, answers, choices)
            switch try await finder.ads(of: own, parts, found: filling.found) {
            case .failure(let fault):
                var refused = change
                refused.kind = .refused
                refused.reason = fault.description
                breaks.append(DryRunDayDocument.Break(refused, [], duration: nil))
            case .success(let ads):
                let duration = wanted.lastsAsItsAds ? ads.playingTime : .milliseconds(wanted.durationMilliseconds)
                played.set(change.id, at: wanted.startMilliseconds, ads)
                breaks.append(
                    DryRunDayDocument.Break(change, self.variants(filling, ads, duration), duration: duration)
                )
            }
        }
        outcome.breaks = breaks
        return outcome
    }

    /// Whether a break would get ads from here: it is not announced, not refused, and not filled already.
    private static func isOpen(_ change: ScheduleChange) -> Bool {
        switch change.kind {
        case .new, .later: true
        // Another program may have filled it.
        case .changed where change.wanted?.filling == .elsewhere: false
        case .unchanged where change.wanted?.filling == .elsewhere: false
        case .changed: true
        case .unchanged: change.present?.state == .scheduled && !change.isFilledAlready
        case .gone, .past, .refused, .filled: false
        }
    }

    /// The ads of breaks that are not filled here.
    private func played(_ changes: [ScheduleChange]) async throws(OperatorGateway.Fault) -> PlayedHistory {
        guard let gap = self.audience.chooser?.gapMilliseconds, gap > 0,
            let first = changes.map(\.startMilliseconds).min(), let last = changes.map(\.startMilliseconds).max()
        else { return PlayedHistory() }
        let open = Set(changes.filter { Self.isOpen($0) || $0.kind == .gone }.map(\.id))
        return try await self.history.played(in: self.options.stream, around: first...last, gap: gap).without(open)
    }

    private func variants(
        _ filling: FoundFilling,
        _ ads: BreakAds,
        _ duration: Duration
    ) -> [DryRunDocument.Variant] {
        let lists = [ads.advertisements] + (ads.variants ?? []).map(\.advertisements)
        let list = self.options.file.list
        return zip(filling.parts, lists)
            .map { each, ads in
                var notes = each.answer?.lines ?? []
                if let sentence = each.keeps(list: list) { notes.append(sentence) }
                if case .chosen? = each.found, let choice = each.choice {
                    return DryRunDocument.Variant(choice, breakDuration: duration, notes: notes)
                }
                if let choice = each.choice { notes.append("chose \(ChoiceLines(chosen: choice).summary)") }
                return DryRunDocument.Variant(
                    name: each.part.name,
                    conditions: each.part.conditions.map(\.description),
                    ads: ads,
                    from: each.source(list: list),
                    breakDuration: duration,
                    left: each.choice.map { ChoiceLines(chosen: $0).left } ?? [],
                    notes: notes
                )
            }
    }
}

/// The ads that the breaks of a day would have, as programs read them.
struct DryRunDayDocument: Encodable {
    struct Break: Encodable {
        let `break`: String
        /// As 'cuecast schedule put' says it: `new`, `changed`, `unchanged`, `later`, `gone` or `refused`.
        let change: String
        let start: String
        let durationSeconds: Double?
        let title: String?
        /// Why it is refused or later.
        let reason: String?
        /// Where it stays as it is: its state at the gateway.
        let stays: String?
        let variants: [DryRunDocument.Variant]

        init(_ change: ScheduleChange, _ variants: [DryRunDocument.Variant], duration: Duration?) {
            self.break = change.id
            self.change = change.kind.rawValue
            self.start = Timestamp.text(ofMilliseconds: change.startMilliseconds)
            let present = change.present?.durationMilliseconds.map { Duration.milliseconds($0) }
            self.durationSeconds = (duration ?? present)?.inSeconds
            self.title = change.wanted.flatMap { $0.title.isEmpty ? nil : $0.title }
            self.reason = change.reason.isEmpty ? nil : change.reason
            self.stays =
                variants.isEmpty && change.kind == .unchanged
                ? (change.isFilledAlready ? "filled" : change.present?.state.rawValue) : nil
            self.variants = variants
        }

        /// For people.
        var texts: [String] {
            var facts = ["\(self.break) at \(self.start)"]
            if let seconds = self.durationSeconds { facts.append("\(seconds) s") }
            facts.append(self.stays.map { "it is \($0) already, and stays so" } ?? self.change)
            if let reason = self.reason { facts.append(reason) }
            let title = self.title.map { "  \($0)" } ?? ""
            return ["\n" + TextTable.shown(facts.joined(separator: ", ") + title)]
                + self.variants.flatMap(\.texts)
        }
    }

    let schedule: String
    let stream: String
    let breaks: [Break]

    /// For people.
    var text: String {
        let ads = self.breaks.flatMap(\.variants).filter { $0.variant == AudienceVariant.defaultName }
        let seconds = ads.reduce(0) { $0 + $1.durationSeconds }
        let first =
            "\(self.schedule) on \(self.stream): \(BreakPrinter.breaks(self.breaks.count)); nothing is published"
        let count = ads.reduce(0) { $0 + $1.ads.count }
        let last =
            "\n\(BreakPrinter.breaks(ads.count)) \(ads.count == 1 ? "is" : "are") filled here, with \(count == 1 ? "1 ad" : "\(count) ads") of \(seconds) s for default"
        return ([first] + self.breaks.flatMap(\.texts) + [last]).joined(separator: "\n")
    }
}
