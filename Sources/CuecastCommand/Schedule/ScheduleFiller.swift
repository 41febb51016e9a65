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

/// Whether and when the ad servers of a schedule are asked.
struct ScheduleFillingOptions: ParsableArguments {
    @Flag(
        help: """
            Ask the ad servers of breaks (AdTagURI of VMAP, vast-url of a traffic log, X-CUECAST-VAST-URL of a calendar) before each \
            break is announced.
            """
    )
    var askAdServers = false

    @Option(
        help: "With --ask-ad-servers: how long before a break's announcement they are asked, at most 6h.",
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

    /// Asks ad servers; `nil`: they are not to be asked.
    func filler() throws -> ScheduleFiller? {
        guard self.askAdServers else { return nil }
        return ScheduleFiller(
            client: try self.adServer.client(),
            leadMilliseconds: self.fillAhead.duration.inMicroseconds / 1_000,
            breakDuration: self.adServer.breakDuration?.duration,
            reportsErrors: self.adServer.reportErrors
        )
    }
}

extension ScheduleDocument {
    /// Tells that ad servers are not asked; `nil`: there are none.
    var adServerNote: String? {
        let count = self.breaks.count { !$0.tags.isEmpty }
        guard count > 0 else { return nil }
        let breaks = count == 1 ? "1 break has an ad server" : "\(count) breaks have ad servers"
        return "\(breaks): 'cuecast schedule follow --ask-ad-servers' asks, and until then the ads of --list are there"
    }
}

/// Asks the ad servers of scheduled breaks.
struct ScheduleFiller: Sendable {
    /// The most breaks whose ad servers are asked at a time.
    static let breaksAtOnceMax = 8

    /// The ads of one break.
    struct Answer: Sendable {
        /// By the place of the tag among the break's sources; a tag that gave none is not here.
        var ads: [Int: [AdvertisementDescription]] = [:]
        /// The ad servers that gave ads, for people.
        var sources: [String] = []
        /// The fate of each ad, for people.
        var lines: [String] = []

        var source: String { self.sources.joined(separator: ", ") }
    }

    private struct Question: Sendable {
        let id: String
        let place: Int
        let tag: ScheduledTag
        let server: String
        let duration: Duration?
    }

    let client: AdServerClient
    /// How long before the announcement they are asked, in milliseconds.
    let leadMilliseconds: Int64
    /// How long each break lasts at most, unless the schedule says so.
    let breakDuration: Duration?
    /// Whether `Error` addresses are called.
    let reportsErrors: Bool
    private var gate = AdServerGate()

    init(client: AdServerClient, leadMilliseconds: Int64, breakDuration: Duration?, reportsErrors: Bool) {
        self.client = client
        self.leadMilliseconds = leadMilliseconds
        self.breakDuration = breakDuration
        self.reportsErrors = reportsErrors
    }

    /// Asks for the ads of breaks, all at once.
    ///
    /// - Parameter breaks: at most ``breaksAtOnceMax``, each with its id at the gateway.
    /// - Returns: an answer for each id.
    mutating func ask(_ breaks: [(id: String, scheduled: ScheduledBreak)]) async -> [String: Answer] {
        let begin = ContinuousClock.now
        var answers: [String: Answer] = [:]
        var allowed: [(Question, Duration)] = []
        for (id, scheduled) in breaks {
            answers[id] = Answer()
            let stated = scheduled.durationMilliseconds.map { Duration.milliseconds($0) }
            for (place, tag) in scheduled.tags {
                let server = Self.server(of: tag.address)
                let question = Question(
                    id: id,
                    place: place,
                    tag: tag,
                    server: server,
                    duration: stated ?? self.breakDuration
                )
                switch self.gate.admission(to: server, at: Self.now) {
                case .ask: allowed.append((question, .zero))
                case .wait(let time): allowed.append((question, time))
                case .paused(let time):
                    let seconds = time.components.seconds + 1
                    answers[id]?.lines.append("\(server) failed too often, and is not asked for another \(seconds) s")
                }
            }
        }
        let (client, reports) = (self.client, self.reportsErrors)
        let results = await withTaskGroup(of: (Question, AdServerReport?, AdServerClient.Calls?).self) { group in
            for (question, wait) in allowed {
                group.addTask {
                    // The rate holds for those that wait as for those that do not.
                    if wait > .zero { try? await Task.sleep(until: begin + wait) }
                    guard !Task.isCancelled else { return (question, nil, nil) }
                    var limits = VASTResolutionLimits()
                    if !question.tag.followsWrappers { limits.wrappersMax = 0 }
                    let report = await client.resolve(
                        VASTResolver(address: question.tag.address, limits: limits),
                        breakDuration: question.duration
                    )
                    return (question, report, reports ? await client.report(report.resolution.errorURLs) : nil)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        var paused: Set<String> = []
        for (question, report, calls) in results.sorted(by: { ($0.0.id, $0.0.place) < ($1.0.id, $1.0.place) }) {
            guard let report else { continue }
            self.take(report, calls, for: question, &answers)
            // An answer without ads is an answer.
            let status = report.exchanges[0]?.status
            let pauses = self.gate.ended(question.server, worked: status == 200 || status == 204, at: Self.now)
            if pauses, paused.insert(question.server).inserted {
                answers[question.id]?.lines.append("\(question.server) failed again, and is left alone for a while")
            }
        }
        return answers
    }

    private func take(
        _ report: AdServerReport,
        _ calls: AdServerClient.Calls?,
        for question: Question,
        _ answers: inout [String: Answer]
    ) {
        var answer = answers[question.id] ?? Answer()
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
        answers[question.id] = answer
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
