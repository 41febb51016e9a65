// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import ArgumentParser
import BreakScheduling
import CommandSupport
import CueWatching
import CuecastBroadcast
import CuecastWire
import Foundation

/// `cuecast schedule …`: the breaks of a day from a file.
struct ScheduleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "schedule",
        abstract: "Put the breaks of a whole day in from a file: a traffic log, a calendar, or VMAP.",
        discussion: """
            A schedule owns the breaks of its stream with its name and a point before their ids. It changes no other break, and none that is \
            announced. To put the same file again changes nothing.

            Example: cuecast schedule put traffic.csv --stream radio1 --time-zone Europe/Oslo --list spots --apply
            """,
        subcommands: [SchedulePut.self, ScheduleFollow.self, ScheduleShow.self]
    )
}

/// The difference of a schedule, and its exit code.
struct ScheduleOptions: ParsableArguments {
    @OptionGroup var file: ScheduleFile

    @Option(help: "The stream that the gateway knows.")
    var stream: String

    @Flag(help: "Put breaks again that were cancelled, under their id with .2 behind it.")
    var revive = false

    @Option(
        help:
            "How far ahead breaks are put in; later ones wait. The gateway takes them 6 hours ahead (breaks.startAheadMax). (default: 5h55m)",
        transform: DurationArgument.read
    )
    var horizon = DurationArgument(.milliseconds(ScheduleHorizon().aheadMilliseconds))

    @OptionGroup(title: "Variants and candidates") var audience: ScheduleAudienceOptions

    @OptionGroup var output: OutputOptions

    @OptionGroup var gateway: BroadcasterOptions

    /// The variants and candidates, for a command that ends where a file cannot be used, and says why.
    func told() throws -> ScheduleAudience {
        do throws(FileFault) {
            return try self.audience.read()
        } catch {
            complain(error.sentence)
            throw CommandExit.badData
        }
    }

    func validate() throws {
        do {
            _ = try StreamID(self.stream)
        } catch {
            throw ValidationError("--stream: \(error)")
        }
    }

    func planner(_ document: ScheduleDocument) -> SchedulePlanner {
        var planner = SchedulePlanner(name: self.file.scheduleName)
        planner.horizon.aheadMilliseconds = self.horizon.duration.inMicroseconds / 1_000
        planner.idPrefixes = document.idPrefixes
        planner.removes = document.faults.isEmpty
        planner.revives = self.revive
        return planner
    }

    static var now: Int64 { Int64((Date().timeIntervalSince1970 * 1_000).rounded()) }
}

extension ScheduleDocument {
    /// The faults as sentences, with the file's name.
    func sentences(_ file: String) -> [String] {
        self.faults.map { "\(file): \($0)" } + (self.moreFaults > 0 ? ["\(file): \(self.moreFaults) more faults"] : [])
    }
}

struct SchedulePut: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "put",
        abstract: "Show what a schedule changes at the gateway; with --apply, change it.",
        discussion: """
            + is new, ~ changes, - is cancelled, ! is refused. Breaks further ahead than the horizon are later: put the file again then, or \
            follow it. Exit code 1: some breaks were refused, or rows skipped; the others are put.

            Example: cuecast schedule put traffic.csv --stream radio1 --time-zone Europe/Oslo --list spots --apply
            """
    )

    @OptionGroup var schedule: ScheduleOptions

    @Flag(help: "Change the breaks at the gateway. Without it nothing changes.")
    var apply = false

    func run() async throws {
        let path = self.schedule.file.file
        let read: ScheduleDocument
        do throws(ScheduleFault) {
            read = try self.schedule.file.read(now: ScheduleOptions.now)
        } catch {
            complain("\(path): \(error)")
            throw CommandExit.badData
        }
        let options = self.schedule
        let audience = try options.told()
        let apply = self.apply
        let outcome = try await options.gateway.asBroadcaster { (client) async throws(BroadcastError) -> PutOutcome in
            var outcome = PutOutcome(document: read)
            var finder = ScheduleAdsFinder(options.file, client: client, audience: audience)
            let wanted = try await finder.wanted(&outcome.document, now: ScheduleOptions.now)
            guard outcome.document.faults.isEmpty || options.file.skipFaulty else { return outcome }
            let planner = options.planner(outcome.document)
            var keeper = ScheduleKeeper(gateway: client, stream: options.stream, planner: planner)
            outcome.changes = try await keeper.difference(wanted, clock: ScheduleOptions.now)
            if apply { outcome.changes = try await keeper.apply(outcome.changes ?? []) }
            return outcome
        }
        for sentence in outcome.document.sentences(path) { complain(sentence) }
        for note in outcome.document.notes { complain("\(path): \(note)") }
        if let note = audience.adServerNote(outcome.document) { complain("\(path): \(note)") }
        guard let changes = outcome.changes else {
            complain("\(path): nothing was changed, because of these faults; --skip-faulty goes on without them.")
            throw CommandExit.badData
        }
        SchedulePrinter(format: options.output.format)
            .print(
                changes,
                name: options.file.scheduleName,
                stream: options.stream,
                isApplied: self.apply,
                faults: outcome.document.faults.count + outcome.document.moreFaults
            )
        if !outcome.document.faults.isEmpty || changes.contains(where: { $0.kind == .refused }) {
            throw CommandExit.checkFailed
        }
    }
}

private struct PutOutcome: Sendable {
    var document: ScheduleDocument
    /// `nil`: the document's faults forbid it.
    var changes: [ScheduleChange]?
}

struct ScheduleShow: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the breaks of a file as a table; no gateway is asked.",
        discussion: "Example: cuecast schedule show traffic.csv --time-zone Europe/Oslo"
    )

    @OptionGroup var file: ScheduleFile
    @OptionGroup var output: OutputOptions

    func run() throws {
        let document: ScheduleDocument
        do throws(ScheduleFault) {
            document = try self.file.read(now: ScheduleOptions.now)
        } catch {
            complain("\(self.file.file): \(error)")
            throw CommandExit.badData
        }
        for note in document.notes { complain("\(self.file.file): \(note)") }
        for sentence in document.sentences(self.file.file) { complain(sentence) }
        SchedulePrinter(format: self.output.format).print(document, name: self.file.scheduleName, list: self.file.list)
        guard document.faults.isEmpty || self.file.skipFaulty else { throw CommandExit.badData }
        guard document.faults.isEmpty else { throw CommandExit.checkFailed }
    }
}
