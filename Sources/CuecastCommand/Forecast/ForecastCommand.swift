// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import BreakPlanning
import CommandSupport
import CuecastWire
import Foundation
import GatewayDocuments

/// `cuecast forecast`: the breaks of the next hours, and how many listeners each may have.
struct ForecastCommand: AsyncParsableCommand {
    /// The shapes of IAB Tech Lab's LEAP.
    enum Shape: String, ExpressibleByArgument, CaseIterable {
        case streams
        case forecast
    }

    static let configuration = CommandConfiguration(
        commandName: "forecast",
        abstract: "Show the breaks of the next hours with their durations, and how many listeners each may have.",
        discussion: """
            The estimate is the median of the sessions that got the break nearest to the same time of day, at most 30 min away, on each of \
            the days before; without any, the listeners of now. The same time of day is a multiple of 24 h before, in UTC: for some days after \
            a clock change, it is another hour of the local clock. Breaks further ahead than the gateway takes them (6 h) are not known to it.

            With --leap it prints the JSON of the Concurrent Streams API ('streams') or of the Forecast API ('forecast') of IAB Tech \
            Lab's LEAP. Cuecast knows no events: the event of a stream is the period, or what --event-start, --event-end and \
            --event-title say.

            The gateway may ask for a token with the scope read, as 'cuecast report' does.

            Example: cuecast forecast --stream radio1 --hours 3
            Example: cuecast forecast --leap streams
            """
    )

    @Option(help: "Only this stream. (default: all that have listeners or breaks)") var stream: String?
    @Option(help: "How many hours ahead; 1 to 24.") var hours = BreakForecast.hoursUsual
    @Option(help: "How many days back an estimate looks; 0 to 28. 0: the listeners of now count.") var days =
        BreakForecast.daysUsual
    @Option(help: "Print the shape of LEAP: streams or forecast.") var leap: Shape?
    @Option(help: "With --leap streams: the name of the provider of the data (sdp).") var provider: String?
    @Option(help: "With --leap and --stream: when the event starts (RFC 3339).", transform: TimeArgument.read)
    var eventStart: TimeArgument?
    @Option(help: "With --leap and --stream: when the event ends (RFC 3339).", transform: TimeArgument.read)
    var eventEnd: TimeArgument?
    @Option(help: "With --leap and --stream: the title of the event.") var eventTitle: String?
    @OptionGroup var output: OutputOptions
    @OptionGroup var gateway: GatewayOptions
    @OptionGroup var access: OperatorOptions

    func validate() throws {
        if let stream = self.stream {
            do {
                _ = try StreamID(stream)
            } catch {
                throw ValidationError("--stream: \(error)")
            }
        }
        guard BreakForecast.hours.contains(self.hours) else {
            throw ValidationError("--hours is a number from 1 to 24.")
        }
        guard BreakForecast.days.contains(self.days) else {
            throw ValidationError("--days is a number from 0 to \(ListenerForecast.daysMax).")
        }
        let hasEvent = self.eventStart != nil || self.eventEnd != nil || self.eventTitle != nil
        guard !hasEvent || (self.leap != nil && self.stream != nil) else {
            throw ValidationError("--event-start, --event-end and --event-title go with --leap and --stream.")
        }
        guard self.provider == nil || self.leap == .streams else {
            throw ValidationError("--provider goes with --leap streams.")
        }
        if let start = self.eventStart?.date, let end = self.eventEnd?.date, end <= start {
            throw ValidationError("--event-end is not after --event-start.")
        }
    }

    func run() async throws {
        let gateway = try OperatorGateway(self.gateway, self.access, for: "A forecast")
        let forecast: BreakForecast
        do throws(OperatorGateway.Fault) {
            forecast = try await BreakForecast.read(
                gateway,
                stream: self.stream,
                hours: self.hours,
                // The streams of now need no history.
                days: self.leap == .streams ? 0 : self.days
            )
        } catch {
            throw error.told()
        }
        try self.check(self.event, in: forecast.period)
        switch self.leap {
        case .streams: BreakPrinter.printJSON(forecast.concurrentStreams(self.event, provider: self.provider))
        case .forecast: BreakPrinter.printJSON(forecast.leapForecast(self.event))
        case nil:
            if self.output.isJSON {
                BreakPrinter.printJSON(forecast.document)
            } else {
                CommandOutput.say(forecast.text)
            }
        }
    }

    /// Checks that the event has a length; a bound that is not said is that of the period.
    private func check(_ event: BreakForecast.Event, in period: Range<Int64>) throws {
        switch event.fault(in: period) {
        case nil: return
        case .startsAfterPeriod?:
            throw ValidationError("--event-start is not before the end of the period: give --event-end too.")
        case .endsBeforePeriod?:
            throw ValidationError(
                "--event-end is not after the beginning of the period, which is now: give --event-start too."
            )
        case .endsBeforeStart?: throw ValidationError("--event-end is not after --event-start.")
        }
    }

    private var event: BreakForecast.Event {
        func milliseconds(_ time: TimeArgument?) -> Int64? {
            time.map { Int64(($0.date.timeIntervalSince1970 * 1_000).rounded()) }
        }
        return BreakForecast.Event(
            start: milliseconds(self.eventStart),
            end: milliseconds(self.eventEnd),
            title: self.eventTitle
        )
    }
}
