// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import AdServers
import ArgumentParser
import BreakScheduling
import CommandSupport
import CuecastBroadcast
import CuecastWire
import Foundation

/// Whether the ad servers of a schedule are asked, and when its breaks are filled.
struct ScheduleFillingOptions: ParsableArguments {
    @Flag(
        help: """
            Ask the ad servers of breaks (AdTagURI of VMAP, vast-url of a traffic log, X-CUECAST-VAST-URL of a calendar) before each \
            break is announced, once for each variant.
            """
    )
    var askAdServers = false

    @Option(
        help: """
            With --ask-ad-servers or --choose: how long before a break's announcement it is filled, at most 6h.
            """,
        transform: DurationArgument.read
    )
    var fillAhead = DurationArgument(.seconds(30))

    @OptionGroup var adServer: AdServerOptions

    /// The longest time before an announcement.
    private static let fillAheadMax: Duration = .seconds(6 * 3_600)
    /// The time that a filling needs beside that of the ad servers.
    private static let reserve: Duration = .seconds(5)

    func validate() throws {
        guard self.fillAhead.duration <= Self.fillAheadMax,
            self.fillAhead.duration >= self.adServer.adServerTime.duration + Self.reserve
        else {
            throw ValidationError("--fill-ahead must be at least 5s more than --ad-server-time, and at most 6h.")
        }
    }

    /// How long before its announcement a break is filled, in milliseconds.
    var leadMilliseconds: Int64 { self.fillAhead.duration.inMicroseconds / 1_000 }

    /// Asks ad servers; `nil`: they are not to be asked.
    func filler() throws -> ScheduleFiller? {
        guard self.askAdServers else { return nil }
        return ScheduleFiller(
            source: .servers(try self.adServer.client()),
            breakDuration: self.adServer.breakDuration?.duration,
            reportsErrors: self.adServer.reportErrors
        )
    }
}

/// Asks the ad servers of scheduled breaks.
struct ScheduleFiller: Sendable {
    /// The ads of one variant.
    struct Answer: Sendable {
        /// By the place of the tag among the variant's sources; a tag that gave none is not here.
        var ads: [Int: [AdvertisementDescription]] = [:]
        /// The ad servers that gave ads, for people.
        var sources: [String] = []
        /// The fate of each ad, for people.
        var lines: [String] = []

        var source: String { self.sources.joined(separator: ", ") }
    }

    /// A break, by its id at the gateway, with its variants.
    struct Asked: Sendable {
        let id: String
        let scheduled: ScheduledBreak
        let parts: [SchedulePart]

        var questionCount: Int { self.parts.reduce(0) { $0 + $1.tags.count } }
    }

    private struct Question: Sendable {
        let id: String
        let variant: String
        let place: Int
        let tag: ScheduledTag
        let server: String
        let duration: Duration?
    }

    /// Where answers come from.
    enum Source: Sendable {
        case servers(AdServerClient)
        case recorded(RecordedAnswers)
    }

    /// How long a server that failed is left alone yet.
    private struct Pause: Error {
        let time: Duration
    }

    let source: Source
    /// How long each break lasts at most, unless the schedule says so.
    let breakDuration: Duration?
    /// Whether `Error` addresses are called.
    let reportsErrors: Bool
    private var gate = AdServerGate()

    init(source: Source, breakDuration: Duration?, reportsErrors: Bool) {
        self.source = source
        self.breakDuration = breakDuration
        self.reportsErrors = reportsErrors
    }

    /// Takes the breaks that are asked about at a time from the beginning of a list.
    static func next(_ rest: inout ArraySlice<Asked>) -> [Asked] {
        AdServerGateLimits().next(&rest) { $0.questionCount }
    }

    /// Asks for the ads of breaks, all at once.
    ///
    /// - Parameter breaks: those that ``next(_:)`` gives.
    /// - Returns: for each id an answer for each variant, by its name.
    mutating func ask(_ breaks: [Asked]) async -> [String: [String: Answer]] {
        let begin = ContinuousClock.now
        var answers: [String: [String: Answer]] = [:]
        var allowed: [(Question, Duration)] = []
        for each in breaks {
            let stated = each.scheduled.durationMilliseconds.map { Duration.milliseconds($0) }
            for part in each.parts {
                answers[each.id, default: [:]][part.name] = Answer()
                for (place, tag) in part.tags {
                    let server = Self.server(of: tag.address)
                    let question = Question(
                        id: each.id,
                        variant: part.name,
                        place: place,
                        tag: tag,
                        server: server,
                        duration: stated ?? self.breakDuration
                    )
                    switch self.admission(to: server) {
                    case .success(let wait): allowed.append((question, wait))
                    case .failure(let pause):
                        let time = pause.time
                        let seconds = time.components.seconds + 1
                        answers[each.id]?[part.name]?.lines
                            .append("\(server) failed too often, and is not asked for another \(seconds) s")
                    }
                }
            }
        }
        let (source, reports) = (self.source, self.reportsErrors)
        let results = await withTaskGroup(of: (Question, AdServerReport?, AdServerClient.Calls?).self) { group in
            for (question, wait) in allowed {
                group.addTask {
                    // The rate holds for those that wait as for those that do not.
                    if wait > .zero { try? await Task.sleep(until: begin + wait) }
                    guard !Task.isCancelled else { return (question, nil, nil) }
                    var limits = VASTResolutionLimits()
                    if !question.tag.followsWrappers { limits.wrappersMax = 0 }
                    let resolver = VASTResolver(address: question.tag.address, limits: limits)
                    switch source {
                    case .recorded(let answers): return (question, answers.resolve(resolver), nil)
                    case .servers(let client):
                        let report = await client.resolve(resolver, breakDuration: question.duration)
                        return (question, report, reports ? await client.report(report.resolution.errorURLs) : nil)
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        var paused: Set<String> = []
        let ordered = results.sorted {
            ($0.0.id, $0.0.variant, $0.0.place) < ($1.0.id, $1.0.variant, $1.0.place)
        }
        for (question, report, calls) in ordered {
            guard let report else { continue }
            self.take(report, calls, for: question, &answers)
            guard case .servers = self.source else { continue }
            // An answer without ads is an answer.
            let status = report.exchanges[0]?.status
            let pauses = self.gate.ended(question.server, worked: status == 200 || status == 204, at: Self.now)
            if pauses, paused.insert(question.server).inserted {
                answers[question.id]?[question.variant]?.lines
                    .append("\(question.server) failed again, and is left alone for a while")
            }
        }
        return answers
    }

    /// When a server may be asked.
    ///
    /// - Returns: how long to wait before: each of those that wait has its own moment, so that the rate holds for them too.
    private mutating func admission(to server: String) -> Result<Duration, Pause> {
        guard case .servers = self.source else { return .success(.zero) }
        let now = Self.now
        var wait = Duration.zero
        while true {
            switch self.gate.admission(to: server, at: now + wait) {
            case .ask: return .success(wait)
            case .wait(let time): wait += time
            case .paused(let time): return .failure(Pause(time: time))
            }
        }
    }

    private func take(
        _ report: AdServerReport,
        _ calls: AdServerClient.Calls?,
        for question: Question,
        _ answers: inout [String: [String: Answer]]
    ) {
        var answer = answers[question.id]?[question.variant] ?? Answer()
        answer.lines += AdServerLines(report).lines
        for failure in calls?.failures ?? [] { answer.lines.append("an Error address was not called: \(failure)") }
        var ads = report.resolution.taken.map { AdvertisementDescription($0.ad) }
        if question.tag.isSingle, ads.count > 1 {
            answer.lines.append("\(ads.count - 1) ads are left out: allowMultipleAds is false")
            ads.removeSubrange(1...)
        }
        if !ads.isEmpty {
            answer.ads[question.place] = ads
            answer.sources.append(AdServerLines.shown(question.tag.address))
        } else if report.resolution.left.isEmpty, report.resolution.documents.first?.fault == nil {
            answer.lines.append("\(AdServerLines.shown(question.tag.address)) gave no ad")
        }
        answers[question.id, default: [:]][question.variant] = answer
    }

    /// A server's name and port, by which failures are counted.
    private static func server(of address: String) -> String {
        let shown = AdServerLines.shown(address)
        let start = shown.range(of: "://")?.upperBound ?? shown.startIndex
        return shown[start...].prefix { $0 != "/" }.lowercased()
    }

    private static let epoch = ContinuousClock.now

    private static var now: Duration { ContinuousClock.now - Self.epoch }
}
