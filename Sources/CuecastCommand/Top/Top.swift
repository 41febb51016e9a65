// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import Foundation
import GatewayHTTP
import LiveTerminal
import UnixSignals

struct Top: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Watch a gateway: streams, breaks, outcomes, rates, latencies, lag and alarms, as they change.",
        discussion: """
            On a terminal it shows a page of streams and the gateway's figures: q quits, s sorts, / filters, enter looks at one stream, \
            ? names all keys. It asks for what it shows and no more, so that it is light with thousands of streams too. NO_COLOR is heard.

            Where its output is no terminal, or with --once, --count or --json, it prints one line for each interval, with --json one JSON \
            document: the gateway's figures, and the first streams with their counts.

            A gateway that does not answer at the beginning ends it with 69. If it stops answering later, it is asked again each \
            second. The command ends with 0 on q, SIGINT and SIGTERM, and when the reader of its output closes the pipe.

            The gateway may require a token with the scope read, as for 'cuecast report'.

            Example: cuecast top --sort listeners
            Example: cuecast top --once --json
            """
    )

    @Option(help: "In which order streams are listed: stream, or listeners, the most first.") var sort: Order = .stream
    @Option(help: "Only streams with this in their id; upper and lower case are the same.") var search: String?
    @Option(help: "How often to look, 1s to 1h. (default: 1s)", transform: DurationArgument.read)
    var interval: DurationArgument?
    @Flag(help: "Print once, and end.") var once = false
    @Option(help: "Print so often, and end.") var count: Int?
    @OptionGroup var output: OutputOptions
    @Option(help: "With --json: of so many streams, 0 to 50. (default: 20)") var limit: Int?
    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var access: OperatorOptions

    enum Order: String, ExpressibleByArgument, CaseIterable {
        case stream
        case listeners
    }

    private var streamsMax: Int { self.limit ?? 20 }
    private var intervalDuration: Duration { self.interval?.duration ?? .seconds(1) }

    func validate() throws {
        guard (.seconds(1) ... .seconds(3_600)).contains(self.intervalDuration) else {
            throw ValidationError("--interval is 1s to 1h.")
        }
        guard self.count.map({ $0 > 0 }) ?? true else { throw ValidationError("--count takes a number above 0.") }
        guard self.count == nil || !self.once else { throw ValidationError("--once and --count exclude each other.") }
        guard self.limit == nil || self.output.isJSON else {
            throw ValidationError("--limit is for --json: lines tell of no streams.")
        }
        guard (0...TopState.countedStreamsMax).contains(self.streamsMax) else {
            throw ValidationError("--limit is a number from 0 to \(TopState.countedStreamsMax).")
        }
        guard let search else { return }
        guard (1...TopState.searchCharactersMax).contains(search.count) else {
            throw ValidationError("--search takes 1 to \(TopState.searchCharactersMax) characters.")
        }
    }

    func run() async throws {
        let gateway = try OperatorGateway(self.gateway, self.access, for: "What there is to see")
        let feed: TopFeed
        let environment = ProcessInfo.processInfo.environment
        let terminal = Terminal()
        let isLive = !self.output.isJSON && !self.once && self.count == nil && terminal.isUsable(environment)
        let order = TopState.Order(rawValue: self.sort.rawValue) ?? .stream
        if isLive {
            feed = TopFeed(gateway, TopState(order: order, search: self.search, size: terminal.size))
        } else {
            let rows = self.output.isJSON ? self.streamsMax : 0
            feed = TopFeed(gateway, TopState(order: order, search: self.search, rows: rows))
        }
        do throws(OperatorGateway.Fault) {
            try await feed.check()
        } catch {
            throw error.told()
        }
        let interval = self.intervalDuration
        let fault = try await withThrowingTaskGroup(of: Void.self, returning: OperatorGateway.Fault?.self) { group in
            defer { group.cancelAll() }
            if isLive {
                let screen = TopLive(feed, terminal, hasColor: Screen.hasColor(environment))
                let signals = await UnixSignalsSequence(trapping: TopLive.signals)
                try screen.begin()
                defer { screen.end() }
                group.addTask { await screen.take(signals) }
                group.addTask { await feed.run(interval) }
                await screen.draw()
                return nil
            }
            group.addTask {
                for await _ in await UnixSignalsSequence(trapping: .sigterm, .sigint) { feed.finish() }
            }
            group.addTask { await feed.run(interval) }
            return await self.print(feed, interval)
        }
        if let fault { throw fault.told() }
    }

    /// Prints until there is enough.
    ///
    /// - Returns: why there is no line where one is all that was wanted.
    private func print(_ feed: TopFeed, _ interval: Duration) async -> OperatorGateway.Fault? {
        var missing = self.once ? 1 : self.count
        let clock = ContinuousClock()
        var due = clock.now
        var printed = 0
        var isGone = false
        for await _ in feed.news {
            guard !CommandOutput.isOver else { break }
            let state = feed.state
            if let fault = state.fault {
                let exit = fault.isRefusal ? CommandExit.notAllowed : CommandExit.unavailable
                let fault = OperatorGateway.Fault(sentence: fault.sentence, exit: exit)
                // A single line must be of the present.
                if self.once { return fault }
                if !isGone { _ = fault.told() }
                isGone = true
            }
            guard let report = TopReport(state) else { continue }
            if isGone { complain("the gateway answers again") }
            isGone = false
            let now = clock.now
            guard state.gatewayCount != printed, now >= due else { continue }
            printed = state.gatewayCount
            // The gateway tells once a second: the line is made of what comes nearest to its time.
            due = now + interval - .milliseconds(500)
            if self.output.isJSON {
                try? CommandOutput.say(json: report.document)
            } else {
                CommandOutput.say(report.line)
            }
            guard !CommandOutput.isOver else { break }
            missing = missing.map { $0 - 1 }
            if missing == 0 { break }
        }
        return nil
    }
}
