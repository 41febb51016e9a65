// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import ArgumentParser
import BreakDocuments
import BreakScheduling
import CommandSupport
import CuecastBroadcast
import CuecastWire
import Foundation
import UnixSignals

struct ScheduleFollow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "follow",
        abstract: "Stay running, put each break in as its time comes, and follow changes of the file.",
        discussion: """
            The file is read again when it changes; while it is faulty the last good one counts. Two followers of one file make each break \
            once. SIGTERM and SIGINT end it; breaks that are put in stay. With --ask-ad-servers, breaks with an ad server get its ads shortly \
            before they are announced; those of --list play where it gives none. With --choose, breaks that name no ads get chosen ones.

            Example: cuecast schedule follow traffic.csv --stream radio1 --time-zone Europe/Oslo --list spots
            """
    )

    @OptionGroup var schedule: ScheduleOptions

    @OptionGroup(title: "Ad servers") var filling: ScheduleFillingOptions

    @OptionGroup(title: "Ads of other breaks") var history: ScheduleHistoryOptions

    func run() async throws {
        let options = self.schedule
        let audience = try options.told()
        var follower = ScheduleFollower(
            options,
            audience,
            filler: try self.filling.filler(),
            history: try self.history.source(audience, gateway: options.gateway.gateway),
            leadMilliseconds: self.filling.leadMilliseconds
        )
        guard follower.readAgain() else { throw CommandExit.badData }
        let count = follower.breakCount
        complain("Follows \(options.file.file): \(BreakPrinter.breaks(count)).")
        let first = follower
        try await options.gateway.asBroadcaster { (client) async throws(BroadcastError) in
            let signals = await UnixSignalsSequence(trapping: .sigterm, .sigint)
            let following = Task(name: "Following") { () async -> BroadcastError? in
                var follower = first
                do throws(BroadcastError) {
                    try await follower.run(client)
                    return nil
                } catch {
                    return error
                }
            }
            let ending = Task(name: "Signals of the process") {
                for await _ in signals { following.cancel() }
            }
            let failure = await following.value
            ending.cancel()
            if let failure { throw failure }
        }
    }
}

/// Follows a schedule's file and puts its breaks in as their time comes.
struct ScheduleFollower {
    /// How often the file is looked at.
    private static let lookEvery = Duration.seconds(1)
    /// How often the gateway is compared where nothing is due, in milliseconds: someone else may have changed breaks or lists.
    private static let compareEvery: Int64 = 30_000

    /// The properties by which a file is another one.
    private struct Mark: Equatable {
        let modified: Date?
        let bytes: UInt64?
        let number: UInt64?

        init(_ path: String) {
            let attributes = try? FileManager.default.attributesOfItem(atPath: path)
            self.modified = attributes?[.modificationDate] as? Date
            self.bytes = attributes?[.size] as? UInt64
            self.number = attributes?[.systemFileNumber] as? UInt64
        }
    }

    let options: ScheduleOptions
    /// The variants and the candidates, as they were read last without a fault.
    private(set) var audience: ScheduleAudience
    private var document: ScheduleDocument?
    /// The ids that the file has, and had in earlier readings.
    private var hadBefore: Set<String> = []
    private var marks: [Mark] = []
    private var keeper: ScheduleKeeper?
    /// The sentences that were said and still hold, by their subject.
    private var said: [String: String] = [:]
    private var isGatewayFailing = false
    private var isFaulty = false
    /// Fills breaks.
    private var filling: ScheduleFilling

    init(
        _ options: ScheduleOptions,
        _ audience: ScheduleAudience,
        filler: ScheduleFiller?,
        history: HistorySource,
        leadMilliseconds: Int64
    ) {
        self.options = options
        self.audience = audience
        self.filling = ScheduleFilling(
            stream: options.stream,
            list: options.file.list,
            filler: filler,
            history: history,
            leadMilliseconds: leadMilliseconds
        )
    }

    /// The files that are followed.
    private var files: [String] { [self.options.file.file] + self.options.audience.files }

    /// How many breaks the schedule has.
    var breakCount: Int { self.document?.breaks.count ?? 0 }

    /// Reads the file; a faulty one is told, and changes nothing.
    ///
    /// - Returns: whether there is a schedule.
    mutating func readAgain() -> Bool {
        let path = self.options.file.file
        // Before the reading: what is written meanwhile is another mark.
        self.marks = self.files.map { Mark($0) }
        let isFirst = self.document == nil
        do throws(ScheduleFault) {
            let audience = try self.readAudience()
            let read = try self.options.file.read(now: ScheduleOptions.now)
            for sentence in read.sentences(path) { self.say(sentence, about: sentence) }
            if read.faults.isEmpty || self.options.file.skipFaulty {
                for note in read.notes { self.say("\(path): \(note)", about: note.description) }
                if self.filling.filler == nil, let note = audience.adServerNote(read) {
                    self.say("\(path): \(note)", about: note)
                }
                if self.isFaulty { complain("\(path): it can be read again.") }
                self.isFaulty = false
                self.document = read
                self.audience = audience
                // What is gone for long is over at the gateway, too.
                if self.hadBefore.count > ScheduleLimits.scheduleBreaksMax { self.hadBefore = [] }
                self.hadBefore.formUnion(read.breaks.map(\.id))
                return true
            }
        } catch {
            self.say("\(path): \(error)", about: error.description)
        }
        self.isFaulty = true
        if !isFirst { self.say("\(path): it is faulty; the last good one counts.", about: "faulty") }
        return !isFirst
    }

    /// The variants and candidates; a fault of theirs is one of the schedule.
    private func readAudience() throws(ScheduleFault) -> ScheduleAudience {
        do throws(FileFault) {
            return try self.options.audience.read()
        } catch {
            throw ScheduleFault(error.sentence)
        }
    }

    /// Follows until the task is cancelled.
    ///
    /// - Throws: where the gateway does not allow it.
    mutating func run(_ client: BroadcastClient) async throws(BroadcastError) {
        while !Task.isCancelled {
            var next = ScheduleOptions.now + Self.compareEvery
            do throws(BroadcastError) {
                if let due = try await self.pass(client) { next = min(next, due) }
                if self.isGatewayFailing { complain("The gateway answers again.") }
                self.isGatewayFailing = false
            } catch .cancelled {
                return
            } catch .refused(let refusal) where refusal.status == .notAllowed {
                throw .refused(refusal)
            } catch {
                if !self.isGatewayFailing { complain("\(error) It is tried again.") }
                self.isGatewayFailing = true
                next = ScheduleOptions.now
            }
            repeat {
                guard (try? await Task.sleep(for: Self.lookEvery)) != nil else { return }
                if self.files.map({ Mark($0) }) != self.marks {
                    self.said["faulty"] = nil
                    _ = self.readAgain()
                    next = 0
                }
            } while ScheduleOptions.now < next
        }
    }

    /// Compares and changes once.
    ///
    /// - Returns: when the next break is due, in milliseconds since 1970; `nil`: none is.
    private mutating func pass(_ client: BroadcastClient) async throws(BroadcastError) -> Int64? {
        // Rules of calendars go on with time.
        if self.options.file.isEndless, !self.isFaulty { _ = self.readAgain() }
        guard var document = self.document else { return nil }
        var finder = ScheduleAdsFinder(
            self.options.file,
            client: client,
            audience: self.audience,
            asks: self.filling.filler != nil,
            chooses: true
        )
        let faults = document.faults.count
        let wanted = try await finder.wanted(&document, now: ScheduleOptions.now)
        for fault in document.faults.dropFirst(faults) {
            self.say("\(self.options.file.file): \(fault)", about: fault.description)
        }
        // What has no ads now may get them: it is not gone, and the others go on.
        var keeper =
            self.keeper
            ?? ScheduleKeeper(gateway: client, stream: self.options.stream, planner: self.options.planner(document))
        var planner = self.options.planner(document)
        planner.hadBefore = self.hadBefore
        planner.filling = keeper.planner.filling
        planner.filling.leadMilliseconds = self.filling.leadMilliseconds
        keeper.planner = planner
        defer { self.keeper = keeper }
        let changes = try await keeper.apply(try await keeper.difference(wanted, clock: ScheduleOptions.now))
        self.tell(changes)
        let filled = try await self.filling.fill(changes, of: document, &keeper, &finder)
        if filled.said.isEmpty { self.said[ScheduleFilling.historyKey] = nil }
        for each in filled.said { self.say(each.sentence, about: each.key) }
        self.tell(filled.changes)
        var times = changes.filter { $0.kind == .later && $0.wanted != nil }
            .map { $0.startMilliseconds - planner.horizon.aheadMilliseconds }
        // When those are announced that were put in just now is not known yet.
        let mayFill = self.filling.filler != nil || self.audience.chooser != nil
        if !filled.isDone || (mayFill && changes.contains { [.new, .changed].contains($0.kind) }) {
            times.append(ScheduleOptions.now)
        }
        for each in changes {
            guard let wanted = each.wanted, let present = each.present, each.kind == .unchanged else { continue }
            if let time = planner.filling.time(of: wanted, present) { times.append(time) }
        }
        return times.min().map { max($0, ScheduleOptions.now + 1_000) }
    }

    /// Prints what happened; what is refused is printed once.
    private mutating func tell(_ changes: [ScheduleChange]) {
        let printer = SchedulePrinter(format: self.options.output.format)
        for each in changes {
            switch each.kind {
            case .new, .changed, .gone, .filled:
                self.said[each.id] = nil
                printer.print(each)
            case .refused:
                guard self.said.updateValue(each.reason, forKey: each.id) != each.reason else { continue }
                printer.print(each)
            case .unchanged, .later, .past: self.said[each.id] = nil
            }
        }
        // It knows breaks of the file and of the gateway, and a sentence for each fault.
        if self.said.count > 2 * ScheduleLimits.scheduleBreaksMax { self.said = [:] }
    }

    /// Complains unless the same was said about the same thing last.
    private mutating func say(_ sentence: String, about key: String) {
        guard self.said.updateValue(sentence, forKey: key) != sentence else { return }
        complain(sentence)
    }
}
