// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Cuecast

/// The player: what it does with the client's events, with keys, and as time passes.
///
/// It is driven by one loop; nothing in it waits.
final class Player {
    /// The input from the loop.
    enum Input: Sendable {
        case event(ListenerEvent)
        case key(Key)
        case tick
        case soundEnded(Sound.Run, isDone: Bool)
        case quit
    }

    /// How much the keys change the delay by.
    private static let delayStep = Duration.seconds(5)
    /// The VAST code for a media file that could not be played (VAST 4.3 section 2.3.6.3).
    private static let mediaFailed = 405
    /// How much longer than its advertisement a media file may be before it is cut.
    private static let overrunMax = Duration.seconds(1)

    /// The advertisement that plays.
    private struct Current {
        let advertisement: Advertisement
        let sound: Sound
        var quartiles = 0
        /// When to stop it, because its break was withdrawn.
        var stopAt: ContinuousClock.Instant?
    }

    private(set) var state: PlayerState
    private(set) var isOver = false
    /// Why the gateway refused this listener; `nil`: it did not.
    private(set) var refusal: String?

    private let client: CuecastClient
    private let program: PlayerProgram?
    private let programme: Sound
    private let soundEnded: @Sendable (Sound.Run, Bool) -> Void
    private var current: Current?
    private var coming: [AdvertisementBreak] = []
    private var ready: Set<String> = []
    private var soundCount = 0
    private var lines: [String] = []

    init(
        client: CuecastClient,
        programme file: String?,
        program: PlayerProgram?,
        soundEnded: @escaping @Sendable (Sound.Run, _ isDone: Bool) -> Void
    ) {
        self.client = client
        self.program = program
        self.soundEnded = soundEnded
        self.programme = Sound(number: 0, address: file, program: program, loops: true, ended: soundEnded)
        self.state = PlayerState(stream: client.configuration.stream.id)
        self.state.sound = program?.kind.rawValue
        self.state.delay = client.configuration.delay
        if let file { self.state.programme = self.programme.isReal ? file : "\(file) (simulated)" }
    }

    /// The events since the last call, a line each, for a player without a screen.
    func takeLines() -> [String] {
        defer { self.lines = [] }
        return self.lines
    }

    func begin() { self.programme.setHeard(true) }

    func take(_ input: Input) {
        switch input {
        case .event(let event): self.take(event)
        case .key(let key): self.press(key)
        case .tick: self.passTime()
        case .soundEnded(let run, let isDone): self.take(run, isDone: isDone)
        case .quit: self.quit()
        }
        self.refresh()
    }

    private func say(_ line: String) {
        self.state.message = line
        self.lines.append(line)
    }

    // MARK: The client's events

    private func take(_ event: ListenerEvent) {
        switch event {
        case .connectionChanged(let connection):
            self.state.connection = connection.description
            self.lines.append(connection.description)
            guard case .refused(let reason) = connection else { return }
            self.refusal = reason
            self.quit()
        case .announced(let each): self.announce(each)
        case .ready(let each, let advertisements):
            self.ready.insert(each.id)
            self.lines.append("break \(each.id): \(advertisements.count) advertisements loaded")
        case .available(let each, _):
            self.forget(each.id)
            self.playNext()
        case .missed(let each, let reason):
            self.forget(each.id)
            self.say("break \(each.id) missed: \(reason)")
        case .withdrawn(let withdrawal):
            self.forget(withdrawal.breakID)
            if let current = self.current, withdrawal.current == current.advertisement {
                self.current?.stopAt = withdrawal.stopAt ?? .now
            }
            self.say("break \(withdrawal.breakID) withdrawn: \(withdrawal.reason)")
        case .outcome(let outcome): self.count(outcome)
        case .bannerClicked(let advertisement): self.lines.append("banner clicked: \(advertisement.title)")
        case .acknowledged(let id, let adIDs):
            self.lines.append("confirmed: \(adIDs.map { "\(id)/\($0)" }.joined(separator: ", "))")
        default: break
        }
    }

    private func announce(_ each: AdvertisementBreak) {
        guard !each.isPreStream else { return }
        self.coming.removeAll { $0.id == each.id }
        self.coming.append(each)
        let time = each.countdown.map { "in \($0.countdownSeconds) s" } ?? "held until it is started"
        self.lines.append("break \(each.id) \(time), \(each.advertisementCount) advertisements")
    }

    private func forget(_ breakID: String) {
        self.coming.removeAll { $0.id == breakID }
        self.ready.remove(breakID)
    }

    private func count(_ outcome: AdvertisementOutcome) {
        let title = outcome.advertisement.title
        switch outcome.result {
        case .played:
            self.state.tally.played += 1
            self.say("played: \(title), \(outcome.heard.countdownSeconds) s heard")
        case .ignored(let reason):
            self.state.tally.ignored += 1
            self.say("ignored (\(reason)): \(title)")
        case .failed(let code):
            self.state.tally.failed += 1
            self.say("failed (\(code)): \(title)")
        @unknown default: break
        }
    }

    // MARK: Playing

    private func playNext() {
        guard self.current == nil, !self.state.isPaused, !self.isOver else { return }
        guard let advertisement = self.client.advertisements.getAdvertisement() else {
            self.programme.setHeard(!self.state.isMuted)
            return
        }
        self.programme.setHeard(false)
        self.soundCount += 1
        let sound = Sound(
            number: self.soundCount,
            address: advertisement.audioFileURL,
            program: self.program,
            loops: false,
            ended: self.soundEnded
        )
        self.current = Current(advertisement: advertisement, sound: sound)
        self.report(.started)
        if self.state.isMuted { self.report(.muted) } else { sound.setHeard(true) }
        let position = advertisement.podPosition
        self.lines.append(
            "advertisement \(position.index) of \(position.count): \(advertisement.title), \(advertisement.duration) s"
        )
        if let banner = advertisement.banner {
            self.lines.append("banner: \(banner.alternativeText ?? "(no text)") \(banner.imageURL)")
        }
    }

    private func report(_ report: AdvertisementReport) {
        guard let current = self.current else { return }
        self.client.advertisements.report(report, for: current.advertisement)
    }

    /// Ends the advertisement that plays; a report that closes it goes out first, where there is one.
    private func endCurrent(_ report: AdvertisementReport?) {
        if let report { self.report(report) }
        self.current.take()?.sound.setHeard(false)
        self.playNext()
    }

    private func passTime() {
        guard let current = self.current else {
            // A break may have become available while the programme was paused.
            return self.playNext()
        }
        if let stopAt = current.stopAt, stopAt <= .now { return self.endCurrent(nil) }
        let (heard, length) = (current.sound.elapsed, current.advertisement.exactDuration)
        while let next = self.current?.quartiles, next < 3, heard >= length * (next + 1) / 4 {
            self.current?.quartiles += 1
            self.report(.quartile(next + 1))
        }
        // A program says itself when it has come to the end, unless it is muted or the file is too long.
        let isHeard = current.sound.isReal && !self.state.isMuted
        if heard >= length + (isHeard ? Self.overrunMax : .zero) { self.endCurrent(.completed) }
    }

    private func take(_ run: Sound.Run, isDone: Bool) {
        if self.programme.runEnded(run, isDone: isDone) != nil {
            self.state.programme += " (cannot be played)"
            self.say("the programme cannot be played")
        }
        switch self.current?.sound.runEnded(run, isDone: isDone) {
        case .done: self.endCurrent(.completed)
        case .failed: self.endCurrent(.failed(vastError: Self.mediaFailed))
        case nil: break
        }
    }

    // MARK: Keys

    private func press(_ key: Key) {
        switch key {
        case .ignore:
            self.client.advertisements.ignoreReceivedAdvertisements()
        case .click: self.click()
        case .skip: self.skip()
        case .mute:
            self.state.isMuted.toggle()
            self.report(self.state.isMuted ? .muted : .unmuted)
            (self.current?.sound ?? self.programme).setHeard(!self.state.isMuted)
            self.say(self.state.isMuted ? "muted" : "unmuted")
        case .pause: self.pause()
        case .later: self.setDelay(self.state.delay + Self.delayStep)
        case .sooner: self.setDelay(self.state.delay - Self.delayStep)
        case .quit: self.quit()
        }
    }

    /// Plays nothing any more; what is known of the advertisement that played is told by the client as it stops.
    private func quit() {
        self.isOver = true
        self.current?.sound.setHeard(false)
        self.current = nil
        self.programme.setHeard(false)
    }

    private func click() {
        guard let advertisement = self.current?.advertisement, let target = advertisement.bannerTargetURL else {
            return self.say("there is no banner to open")
        }
        self.client.advertisements.onAdBannerClicked(self.client.configuration.stream, advertisement: advertisement)
        self.say("opened \(target)")
    }

    private func skip() {
        guard let current = self.current else { return self.say("there is no advertisement to skip") }
        guard let offset = current.advertisement.skipOffset else { return self.say("it cannot be skipped") }
        guard current.sound.elapsed >= offset else { return self.say("it cannot be skipped yet") }
        self.endCurrent(.skipped)
    }

    private func pause() {
        self.state.isPaused.toggle()
        let pause = (self.current?.sound ?? self.programme).setPaused(self.state.isPaused)
        if self.current != nil {
            self.report(self.state.isPaused ? .paused : .resumed)
        } else if self.state.isPaused {
            self.client.pauseProgramme()
        } else {
            // Who pauses a live stream hears it later from then on.
            self.client.resumeProgramme()
            self.state.delay += pause
        }
        self.say(self.state.isPaused ? "paused" : "resumed")
    }

    private func setDelay(_ delay: Duration) {
        let delay = min(max(delay, .zero), self.client.configuration.delayMax)
        self.client.setDelay(delay)
        self.state.delay = delay
        self.say("\(delay.countdownSeconds) s behind live")
    }

    // MARK: The screen

    private func refresh() {
        self.state.elapsed = self.programme.elapsed
        self.state.tally.unconfirmed = self.client.unconfirmedOutcomes
        let next = self.coming.min { ($0.countdown ?? .seconds(1_000_000)) < ($1.countdown ?? .seconds(1_000_000)) }
        self.state.nextBreak = next.map { each in
            PlayerState.NextBreak(
                id: each.id,
                countdown: each.countdown,
                advertisementCount: each.advertisementCount,
                isReady: self.ready.contains(each.id)
            )
        }
        self.state.playing = self.current.map { current in
            let advertisement = current.advertisement
            return PlayerState.Playing(
                title: advertisement.title,
                advertiser: advertisement.advertiser,
                index: advertisement.podPosition.index,
                count: advertisement.podPosition.count,
                length: advertisement.exactDuration,
                heard: min(current.sound.elapsed, advertisement.exactDuration),
                isPaused: self.state.isPaused,
                skipOffset: advertisement.skipOffset,
                banner: advertisement.banner.map { banner in
                    PlayerState.Banner(
                        imageURL: banner.imageURL,
                        alternativeText: banner.alternativeText,
                        targetURL: advertisement.bannerTargetURL
                    )
                }
            )
        }
    }
}
