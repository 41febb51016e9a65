// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import CuecastWire
import Foundation
import LoadEngine

struct Run: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Simulate the listeners of streams, and check everything that they receive (the default).",
        discussion: """
            Each listener is a session with one real connection, which brings notices too, \
            or with two: it joins, follows positions, asks for its batch at the slot that \
            its session and the break give, checks the content, and acknowledges. With \
            two it subscribes and proves it before it joins. Latencies count from when \
            each thing was meant to happen (no coordinated omission).

            Examples:
              cuecast-load --stream radio1 --listeners 9000 --breaks 3 --html load.html
              cuecast-load --streams 20 --listeners 9000 --run-for 10m --churn 100
              cuecast-load --stream radio1 --listeners 500 --follow --breaks 1 --json
              cuecast-load --stream radio1 --tls --listener-ca-file ca.pem --listener-token-file tokens

            Exit codes: 0 done; 1 something was lost, repeated, out of order, wrong or \
            unconfirmed; 64 usage; 69 no answer; 74 output cannot be written.
            """
    )

    @Option(
        help: "A stream to listen to; give it several times for several streams. (default: one that no other run has)"
    )
    var stream: [String] = []
    @Option(help: ArgumentHelp("So many streams of its own, instead of --stream.", valueName: "count"))
    var streams: Int?
    @Option(help: "How many listeners, on all streams together.")
    var listeners = 100
    @Option(help: "How many breaks on each stream; with --follow, how many to wait for. (default: 3)")
    var breaks: Int?
    @Option(help: "The time between two breaks of a stream. (default: 10s)", transform: DurationArgument.read)
    var every = DurationArgument(.seconds(10))
    @Option(
        help: "How long before its start a break is published; 0s starts at once. (default: 8s)",
        transform: DurationArgument.read
    )
    var lead = DurationArgument(.seconds(8))
    @Option(
        help: "How long a break lasts. (default: four fifths of --every, at most 30s)",
        transform: DurationArgument.read
    )
    var duration: DurationArgument?
    @Option(help: "How many ads a break has.")
    var ads = 3
    @Flag(help: "Publish nothing; follow the breaks of another broadcaster.")
    var follow = false
    @Option(help: "How many listeners are opened in a second; 0: all at once.")
    var connectRate = 2_000.0
    @Flag(
        help: "Two connections for each listener. Otherwise one, and two only where the gateway sends no notices on it."
    )
    var noPush = false
    @OptionGroup var encryption: EncryptionOptions
    @Option(
        help: ArgumentHelp(
            "Join with tokens from this file: one for all listeners, or one a line for each.",
            valueName: "file"
        )
    )
    var listenerTokenFile: String?
    @Flag(help: "Ask for batches at once, and not at the listener's slot.")
    var storm = false
    @Option(help: "The share of ads that are played.")
    var played = 0.7
    @Option(help: "The share of ads that are ignored.")
    var ignored = 0.25
    @Option(help: "The share of ads that fail.")
    var failed = 0.05
    @Option(
        help: """
            Play so many times faster than the ads last, then acknowledge; cued breaks from their punch on. (default: acknowledge at \
            once)
            """
    )
    var speed: Double?
    @Option(help: "The share of listeners that stop reading again and again; their latencies are left out.")
    var stall = 0.0
    @Option(help: "How long a listener stalls. (default: 5s)", transform: DurationArgument.read)
    var stallFor = DurationArgument(.seconds(5))
    @Option(help: "How many sessions leave in a second, and come back as new ones.")
    var churn = 0.0
    @Option(
        help: "Share the listeners out among so many processes. (default: as many as the limit on open files asks for)"
    )
    var processes: Int?
    @Option(
        help: "End after this time from the first break on; without --breaks, publish as many as fit.",
        transform: DurationArgument.read
    )
    var runFor: DurationArgument?
    @Option(
        help: "How long nothing may happen before what is open is given up. (default: 20s)",
        transform: DurationArgument.read
    )
    var patience = DurationArgument(.seconds(20))
    @Option(help: "What sessions, outcomes and waits are drawn from; the same seed gives the same. (default: random)")
    var seed: UInt64?
    @OptionGroup var output: OutputOptions
    @Option(help: ArgumentHelp("Write the report as one page that needs nothing else.", valueName: "file"))
    var html: String?
    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var access: OperatorOptions

    /// Every option that makes no sense ends with a sentence, before anything is connected.
    func validate() throws {
        try self.validateCounts()
        try self.validateTimes()
        for (name, share) in [
            ("played", self.played), ("ignored", self.ignored), ("failed", self.failed), ("stall", self.stall),
        ] {
            guard (0...1).contains(share) else { throw ValidationError("--\(name) takes a share from 0 to 1.") }
        }
        guard abs(self.played + self.ignored + self.failed - 1) < 1e-6 else {
            throw ValidationError(
                "--played, --ignored and --failed are 1 together; they are \(self.played + self.ignored + self.failed)."
            )
        }
        for each in self.stream {
            guard (try? StreamID(each)) != nil else {
                throw ValidationError(
                    "--stream \(each) is no stream id: 1 to 64 characters A–Z, a–z, 0–9, '.', '_' or '-'."
                )
            }
        }
        guard Set(self.stream).count == self.stream.count else {
            throw ValidationError("--stream names the same stream twice.")
        }
        guard self.streams ?? self.stream.count <= self.listeners else {
            throw ValidationError("--listeners is at least the number of streams: each needs one.")
        }
        if let books = try self.books() { _ = try self.access.headers(to: books) }
        for url in [
            try self.gateway.noticesEndpoint, try self.gateway.requestsEndpoint, try self.gateway.broadcastEndpoint,
        ] {
            do throws(LoadError) { _ = try Endpoint(url) } catch { throw ValidationError("\(error.description).") }
        }
        guard self.encryption.tls || self.encryption.listenerCaFile == nil && self.encryption.serverName == nil else {
            throw ValidationError("--listener-ca-file and --server-name need --tls.")
        }
        guard self.listenerTokenFile == nil || !self.noPush else {
            throw ValidationError("--listener-token-file needs one connection for each listener: leave --no-push out.")
        }
    }

    private func validateCounts() throws {
        guard !self.follow || !self.stream.isEmpty else {
            throw ValidationError("--follow needs --stream: whose breaks are followed?")
        }
        guard self.stream.isEmpty || self.streams == nil else {
            throw ValidationError("Give one of --stream and --streams.")
        }
        guard self.streams.map({ (1...10_000).contains($0) }) ?? true else {
            throw ValidationError("--streams takes a number from 1 to 10000.")
        }
        guard (1...1_000_000).contains(self.listeners) else {
            throw ValidationError("--listeners takes a number from 1 to 1000000.")
        }
        guard self.breaks.map({ $0 > 0 }) ?? true else { throw ValidationError("--breaks takes a number above 0.") }
        guard (1...WireLimits.advertisementsPerBreakMax).contains(self.ads) else {
            throw ValidationError("--ads takes a number from 1 to \(WireLimits.advertisementsPerBreakMax).")
        }
        guard self.processes.map({ (1...256).contains($0) }) ?? true else {
            throw ValidationError("--processes takes a number from 1 to 256.")
        }
        guard self.processes.map({ $0 <= self.listeners }) ?? true else {
            throw ValidationError("--processes is at most the number of listeners.")
        }
        guard self.connectRate.isFinite, self.connectRate >= 0 else {
            throw ValidationError("--connect-rate takes a number from 0 on.")
        }
        guard self.churn.isFinite, (0...100_000).contains(self.churn) else {
            throw ValidationError("--churn takes a number from 0 to 100000.")
        }
        guard self.speed.map({ $0.isFinite && $0 > 0 }) ?? true else {
            throw ValidationError("--speed takes a number above 0.")
        }
    }

    private func validateTimes() throws {
        guard self.every.duration >= .milliseconds(100) else { throw ValidationError("--every takes at least 100ms.") }
        guard self.lead.duration <= .seconds(6 * 3_600) else { throw ValidationError("--lead takes at most 6h.") }
        guard self.breakDuration >= .milliseconds(self.ads) else {
            throw ValidationError("--duration takes at least a millisecond for each ad.")
        }
        guard self.breakDuration <= .milliseconds(WireLimits.breakDurationMillisecondsMax) else {
            throw ValidationError("--duration takes at most 6h.")
        }
        guard self.follow || self.breakDuration <= self.every.duration else {
            throw ValidationError("--duration is at most --every: the breaks of a stream do not overlap.")
        }
        guard self.patience.duration >= .seconds(1) else { throw ValidationError("--patience takes at least 1s.") }
        guard self.stallFor.duration > .zero else { throw ValidationError("--stall-for takes more than 0s.") }
        guard self.runFor.map({ $0.duration > .zero }) ?? true else {
            throw ValidationError("--run-for takes more than 0s.")
        }
    }

    /// The streams of the run with this name.
    ///
    /// Where none is named, they are such that no other run's breaks are in the way.
    private func streamNames(run: String) -> [String] {
        if let streams { return (1...max(1, streams)).map { "load-\(run)-\($0)" } }
        return self.stream.isEmpty ? ["load-\(run)"] : self.stream
    }

    private var breakDuration: Duration {
        self.duration?.duration ?? min(.seconds(30), self.every.duration * 4 / 5)
    }

    /// The options as the engine takes them.
    private func settings(seed: UInt64) throws -> RunSettings {
        // Breaks of other runs on the same gateway have other names, also with the same seed.
        let run = String(UInt64(Date().timeIntervalSince1970 * 1_000), radix: 36)
        var settings = RunSettings(
            gateway: .init(
                notices: self.encryption.address(try self.gateway.noticesEndpoint),
                requests: self.encryption.address(try self.gateway.requestsEndpoint),
                broadcast: try self.gateway.broadcastEndpoint
            ),
            streams: self.streamNames(run: run)
        )
        settings.runName = run
        settings.listeners = self.listeners
        settings.breaks = self.breaks ?? (self.runFor == nil ? 3 : nil)
        settings.every = self.every.duration.inMicroseconds
        settings.lead = self.lead.duration.inMicroseconds
        settings.duration = self.breakDuration.inMicroseconds
        settings.advertisements = self.ads
        settings.follows = self.follow
        settings.connectRate = self.connectRate
        settings.push = !self.noPush
        settings.encryption = self.encryption.tls ? self.encryption.encryption : nil
        settings.tokensFile = self.listenerTokenFile
        settings.storm = self.storm
        settings.mix.played = self.played
        settings.mix.ignored = self.ignored
        settings.mix.failed = self.failed
        settings.speed = self.speed
        settings.stall = self.stall
        settings.stallFor = self.stallFor.duration.inMicroseconds
        settings.churn = self.churn
        settings.runFor = self.runFor?.duration.inMicroseconds
        settings.patience = self.patience.duration.inMicroseconds
        settings.seed = seed
        settings.processes =
            self.processes
            ?? DescriptorLimit.processes(listeners: self.listeners, connections: settings.push ? 1 : 2)
        return settings
    }

    func run() throws {
        let settings = try self.settings(seed: self.seed ?? UInt64.random(in: 1...UInt64(UInt32.max)))
        let began = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6))
        let progress = ProgressLine(isQuiet: self.output.isJSON && isatty(STDERR_FILENO) != 1)
        var outcome: RunOutcome
        if settings.processes > 1 {
            outcome = try WorkerCrew(settings).run { progress.show($0) }
        } else {
            var hooks = RunHooks()
            hooks.progress = { progress.show($0) }
            outcome = try perform { () throws(LoadError) in
                try runListeners(settings, hooks: hooks, handlesSignals: true)
            }
        }
        progress.end()
        outcome.judgeBatches()
        let http = try self.books()
        let headers = try http.map { try self.access.headers(to: $0) } ?? [:]
        let books = self.compareBooks(&outcome, http: http, headers: headers)
        let report = LoadReport(
            outcome,
            isComplete: outcome.isComplete,
            listeners: self.listeners,
            streams: settings.streams.count,
            books: books,
            facts: RunFacts.facts(settings, http: http?.description ?? "none", began: began, outcome: outcome)
        )
        if let html { try Self.write(report.html, to: html) }
        if self.output.isJSON { try say(json: report) } else { say(report.text) }
        if !report.passed { throw CommandExit.checkFailed }
    }

    /// Where the gateway's books are; `nil`: nowhere.
    private func books() throws -> HTTPEndpoint? {
        try self.gateway.httpAddress.map { try self.access.endpoint($0, isNamed: self.gateway.isHTTPNamed) }
    }

    private func compareBooks(_ outcome: inout RunOutcome, http: HTTPEndpoint?, headers: [String: String])
        -> LoadReport.Books
    {
        guard outcome.isComplete else {
            return .init(
                state: .notCompared,
                breaks: 0,
                sentence: "The books were not compared: the run was interrupted."
            )
        }
        return BookCheck(
            endpoint: http,
            headers: headers,
            isAskedFor: self.gateway.isHTTPNamed,
            patience: self.patience.duration
        )
        .compare(&outcome)
    }

    private static func write(_ page: String, to path: String) throws {
        do {
            try Data(page.utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
        } catch {
            complain("\(path): the page cannot be written")
            throw CommandExit.usage
        }
    }
}
