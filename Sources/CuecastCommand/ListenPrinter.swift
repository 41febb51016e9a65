// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
@_spi(Diagnostics) @_spi(Tracking) import Cuecast
import CuecastWire
import Foundation
import Synchronization

/// Tells what a listener hears: lines for people, or one JSON object a line for programs.
final class ListenPrinter: Sendable {
    private struct Output {
        /// Whether a progress line is open on the terminal.
        var hasProgress = false
        /// The state of the connection that was told last; attempts that fail for the same reason are told once.
        var waitsFor: String?
    }

    private let json: Bool
    private let isTerminal: Bool
    private let output = Mutex(Output())

    init(json: Bool, isTerminal: Bool) {
        self.json = json
        self.isTerminal = isTerminal
    }

    /// One event.
    ///
    /// - Parameters:
    ///   - event: the event.
    ///   - session: the id of the session that has begun; programs get it with that event.
    func print(_ event: ListenerEvent, session: String? = nil) {
        guard var line = ListenLine(event) else { return }
        if case .sessionBegan = event { line.session = session }
        if self.json {
            guard let text = try? CommandOutput.json(line) else { return }
            self.write(text)
        } else if !self.isRepeated(event) {
            self.write(line.text)
        }
    }

    /// Whether people have been told so already: the connection is tried again and again while a gateway is away.
    private func isRepeated(_ event: ListenerEvent) -> Bool {
        guard case .connectionChanged(let state) = event else { return false }
        return self.output.withLock { output in
            switch state {
            case .waiting(let reason):
                defer { output.waitsFor = reason }
                return output.waitsFor == reason
            case .connecting, .subscribing: return output.waitsFor != nil
            default:
                output.waitsFor = nil
                return false
            }
        }
    }

    /// How far an ad has played; on a terminal only.
    func progress(_ advertisement: Advertisement, heard: Duration) {
        guard self.isTerminal, !self.json else { return }
        let total = max(0.001, advertisement.exactDuration.inSeconds)
        let share = min(1, heard.inSeconds / total)
        let filled = Int(share * 24)
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: 24 - filled)
        let left = String(format: "%5.1f s left", max(0, total - heard.inSeconds))
        self.output.withLock { output in
            output.hasProgress = true
            CommandOutput.write("\r\u{1B}[K  ▶ \(bar) \(left)  \(advertisement.title)")
        }
    }

    /// Leaves the terminal tidy.
    func end() {
        self.output.withLock { output in
            guard output.hasProgress else { return }
            output.hasProgress = false
            CommandOutput.write("\r\u{1B}[K")
        }
    }

    private func write(_ line: String) {
        self.output.withLock { output in
            let clear = output.hasProgress ? "\r\u{1B}[K" : ""
            output.hasProgress = false
            CommandOutput.say(clear + line)
        }
    }
}

/// An event as scripts read it.
///
/// Keys that do not apply are absent.
private struct ListenLine: Encodable {
    struct Ad: Encodable {
        let id: String
        let title: String
        let seconds: Double

        init(_ advertisement: Advertisement) {
            self.id = advertisement.adID
            self.title = advertisement.title
            self.seconds = advertisement.exactDuration.inSeconds
        }
    }

    let event: String
    let time: String
    var session: String?
    var breakID: String?
    var state: String?
    var startsInSeconds: Double?
    var ads: [Ad]?
    var ad: Ad?
    var outcome: String?
    var reason: String?
    var evidence: String?
    var heardSeconds: Double?
    var count: Int?
    /// The trace of who published it, where the gateway traces that.
    var traceparent: String?
    /// For people.
    var text = ""

    private enum CodingKeys: String, CodingKey {
        case event, time, session, state, startsInSeconds, ads, ad, outcome, reason, evidence, heardSeconds, count
        case traceparent
        case breakID = "break"
    }

    private init(_ event: String, _ text: String) {
        self.event = event
        self.time = Timestamp(microseconds: Int64(Date().timeIntervalSince1970 * 1e6)).description
        self.text = text
    }

    init?(_ event: ListenerEvent) {
        switch event {
        case .sessionBegan(let resumed):
            self.init("sessionBegan", resumed ? "the session of an earlier run goes on" : "a new session")
            self.state = resumed ? "resumed" : "new"
        case .interrupted(let advertisements):
            let names = advertisements.map(\.adID).joined(separator: ", ")
            self.init("interrupted", "handed out before the last run was ended, and nothing more is known: \(names)")
            self.ads = advertisements.map(Ad.init)
        case .stoppedWithout(let what): self.init("stoppedWithout", "stopped without waiting: \(what)")
        case .storageFailed(let reason):
            self.init("storageFailed", "the session's file cannot be used: \(reason)")
            self.reason = reason
        case .trackingChanged(let status):
            self.init("tracking", "tracking URL \(status.url) (\(status.event)): \(status.state)")
            self.state = "\(status.state)"
        case .connectionChanged(let state):
            self.init("connection", "connection: \(state)")
            self.state = state.description
        case .joined(let result):
            self.init("joined", "joined: \(result)")
            self.state = "\(result)"
        case .positionLost(let loss):
            self.init("positionLost", "a notice is missing (\(loss)); asking for it")
            self.reason = "\(loss)"
        case .announced(let each):
            let countdown = each.countdown?.inSeconds
            self.init(
                "announced",
                "break \(each.id): announced, \(each.advertisementCount) ads, "
                    + (countdown.map { String(format: "starts in %.1f s", $0) } ?? "start not decided yet")
            )
            self.breakID = each.id
            self.startsInSeconds = countdown
            self.count = each.advertisementCount
            self.traceparent = each.traceparent
        case .ready(let each, let ads):
            self.init("ready", "break \(each.id): batch of \(ads.count) ads is here")
            self.breakID = each.id
            self.ads = ads.map(Ad.init)
        case .available(let each, let ads):
            self.init("available", "break \(each.id): \(ads.count) ads available")
            self.breakID = each.id
            self.ads = ads.map(Ad.init)
        case .missed(let each, let reason):
            self.init("missed", "break \(each.id): missed, \(reason)")
            self.breakID = each.id
            self.reason = reason
        case .handedOut(let ad):
            self.init(
                "playing",
                String(format: "break \(ad.breakID): ▶ \(ad.title) (%.1f s)", ad.exactDuration.inSeconds)
            )
            self.breakID = ad.breakID
            self.ad = Ad(ad)
        case .outcome(let outcome):
            let ad = outcome.advertisement
            let heard = outcome.heard.inSeconds
            self.init(
                "outcome",
                String(format: "break \(ad.breakID): \(outcome.result.word) %@, %.1f s heard", ad.title, heard)
            )
            self.breakID = ad.breakID
            self.ad = Ad(ad)
            self.outcome = outcome.result.word
            self.reason = outcome.result.reason
            self.evidence = "\(outcome.evidence)"
            self.heardSeconds = heard
        case .outcomeUnknown(let ad):
            self.init("outcomeUnknown", "break \(ad.breakID): nothing is known of \(ad.title)")
            self.breakID = ad.breakID
            self.ad = Ad(ad)
        case .withdrawn(let withdrawal):
            self.init("withdrawn", "break \(withdrawal.breakID): withdrawn (\(withdrawal.reason))")
            self.breakID = withdrawal.breakID
            self.reason = "\(withdrawal.reason)"
        case .acknowledged(let id, let adIDs):
            self.init("acknowledged", "break \(id): \(adIDs.count) outcomes confirmed by the gateway")
            self.breakID = id
            self.count = adIDs.count
        case .acknowledgementGivenUp(let id, let adIDs, let reason):
            self.init("acknowledgementGivenUp", "break \(id): \(adIDs.count) outcomes given up: \(reason)")
            self.breakID = id
            self.count = adIDs.count
            self.reason = reason
        case .noticesDropped(let count):
            self.init("noticesDropped", "\(count) notices could not be kept; asking for them again")
            self.count = count
        case .notUnderstood(let what):
            self.init("notUnderstood", "not understood: \(what)")
            self.reason = what
        case .eventsDropped(let count):
            self.init("eventsDropped", "\(count) events were dropped")
            self.count = count
        case .handOutRefused, .reported, .reportRefused, .bannerClicked, .advertisementClicked, .bannerShown: return nil
        }
    }
}

extension AdvertisementOutcome.Result {
    fileprivate var word: String {
        switch self {
        case .played: "played"
        case .ignored: "ignored"
        case .failed: "failed"
        }
    }

    fileprivate var reason: String? {
        switch self {
        case .played: nil
        case .ignored(let reason): "\(reason)"
        case .failed(let vastError): "VAST error \(vastError)"
        }
    }
}
