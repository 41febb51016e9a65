// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastTesting
import CuecastWire
import GatewayCore
import Synchronization

@_spi(Diagnostics) @_spi(Tracking) @_spi(Transports) @testable import Cuecast

/// The gateway's clock at local instant 0.
let gatewayStart = Timestamp(microseconds: 1_750_000_000_000_000)

/// So many seconds after the beginning, locally.
func local(_ seconds: Double) -> LocalInstant { .start + .seconds(seconds) }

func stream(_ text: String = "radio1") -> StreamID {
    guard let id = try? StreamID(text) else { preconditionFailure("not a stream id: \(text)") }
    return id
}

func breakKey(_ text: String) -> BreakKey {
    guard let id = try? BreakID(text) else { preconditionFailure("not a break id: \(text)") }
    return BreakKey(stream: stream(), id: id)
}

/// The reports of a journal, until the world reads them.
private final class Reports: Sendable {
    private let state = Mutex((reports: [ListenerJournal.Report](), opened: ListenerJournal.Opened?.none))

    var opened: ListenerJournal.Opened? { self.state.withLock { $0.opened } }

    func add(_ report: ListenerJournal.Report) { self.state.withLock { $0.reports.append(report) } }

    func set(_ opened: ListenerJournal.Opened) { self.state.withLock { $0.opened = opened } }

    func take() -> [ListenerJournal.Report] {
        self.state.withLock { state in
            defer { state.reports = [] }
            return state.reports
        }
    }
}

/// A listener, its app, a gateway and a bad network between them, in simulated time.
///
/// One seed is one history. The listener's and the gateway's decisions are the real ones; what is simulated is the time,
/// the network, the disk and the people.
struct World {
    enum Occurrence {
        case toListener(ListenerConnectionEvent, link: Int)
        case toGateway([UInt8], link: Int)
        case effective([UInt8], link: Int)
        case tick(link: Int)
        /// A loop takes what the board told it.
        case loopTurn(Int)
        /// A loop may have a position to repeat.
        case loopHeads(Int, number: Int)
        /// The connections of a loop take what they left.
        case loopCatchesUp(Int)
        case gatewayTimer(number: Int)
        case broadcaster
        case trouble
        case appAsks(run: Int)
        case appFinishes(Advertisement, run: Int)
        case appDecides(BreakID, isWanted: Bool, run: Int)
        case appResumes(run: Int)
        case tracked(TrackingRequest, TrackingResult, run: Int)
        case appStarts
        /// The disk does what it was asked for.
        case diskWorks(run: Int)
        /// The disk has room again, or works again.
        case diskRecovers
    }

    private struct Entry {
        let at: LocalInstant
        let occurrence: Occurrence
    }

    /// How notices come to the listener.
    enum NoticePath: CaseIterable {
        /// On the connection of the join.
        case pushed
        /// By a subscription: the app wants two connections.
        case subscribed
        /// By a subscription, because the gateway is an older one.
        case fellBack
        /// By what the gateway can, and that is another one each time.
        case mixed
    }

    var random: JitterSource
    let seed: UInt64
    let settings: ListenerSettings
    var core: ListenerCore
    var gateway: CoreGateway
    private(set) var now = LocalInstant.start
    var witness = Witness()
    /// Whether the network, the gateway and the app's user make trouble.
    var isRough = true
    /// Whether breaks are published and changed.
    var isOnAir = true
    /// The next one is the last.
    private var entries: [Entry] = []

    // The network.
    var links: [Link] = []
    var hearsTicks = false
    var isConnected = false
    /// The gateway's loops, each with a ring of its own.
    var loops: [SimulatedLoop] = []
    /// Of each loop's next repeat: what was scheduled before it does not count any more.
    var loopHeadNumbers = [Int](repeating: 0, count: Self.loopCount)
    static let loopCount = 3
    let path: NoticePath

    // The app. What is on its disk outlives its runs.
    private let device: SimulatedDisk
    private var journal: ListenerJournal
    private let reports = Reports()
    /// The sum of the entries that reached the disk.
    private(set) var disk = JournalState()
    /// The entries of this run that are not known to be on the disk.
    private var waiting: [JournalEntry] = []
    private var committedCount: UInt64 = 0
    private var isDiskBusy = false
    var run = 0
    var isAppAlive = true
    var playing: Advertisement?
    /// When this run of the app began: its local instants count from here.
    private var runStart = LocalInstant.start
    /// The origin of the instants of all clocks.
    private let origin = ContinuousClock.now

    /// Of the gateway's next timer: what was scheduled before it does not count any more.
    var gatewayTimerNumber = 0

    // The broadcaster.
    var breakNumber = 0
    var openBreaks: [BreakKey] = []

    init(seed: UInt64, settings: ListenerSettings, path: NoticePath) {
        self.path = path
        self.random = JitterSource(seed: seed)
        self.seed = seed
        self.settings = settings
        var policy = BreakPolicy()
        policy.announceAhead = .seconds(5)
        self.gateway = CoreGateway(stream: settings.stream, policy: policy, at: gatewayStart)
        self.device = SimulatedDisk(now: self.origin, wallTime: gatewayStart)
        self.journal = Self.journal(on: self.device)
        self.core = Self.core(settings, seed: seed, run: 0, disk: .none, state: JournalState(), wallTime: gatewayStart)
        self.openJournal()
        self.makeLoops()
        if self.chance(0.5) {
            let publish = BroadcastRequest.Publish(
                key: breakKey("before"),
                start: nil,
                advertisements: self.advertisements("before"),
                preStream: true,
                hold: .seconds(600)
            )
            // There is no app to tell.
            _ = self.ask(.publish(publish))
        }
        self.schedule(.broadcaster, in: 1)
        self.schedule(.trouble, in: 20)
        self.runGatewayTimers()
    }

    private static func core(
        _ settings: ListenerSettings,
        seed: UInt64,
        run: Int,
        disk: JournalDisk,
        state: JournalState,
        wallTime: Timestamp
    ) -> ListenerCore {
        ListenerCore(
            settings: settings,
            session: SessionID(high: seed, low: seed &* 31 &+ UInt64(run)),
            origin: .now,
            state: state,
            wallTime: wallTime,
            disk: disk,
            seed: seed &+ 1 &+ UInt64(run)
        )
    }

    // MARK: The disk

    private static func journal(on device: SimulatedDisk) -> ListenerJournal {
        ListenerJournal(
            .file(path: Self.path),
            files: device,
            worker: device,
            now: { device.now },
            wallTime: { device.wallTime }
        )
    }

    private static let path = "session"

    /// A run of the app begins: it reads its file, as far as the disk lets it, and goes on where that ends.
    private mutating func openJournal() {
        self.device.set(now: self.origin + self.now.sinceStart, wallTime: self.wallTime)
        self.journal = Self.journal(on: self.device)
        let reports = self.reports
        self.journal.open {
            reports.add($0)
        } opened: {
            reports.set($0)
        }
        self.device.doWork()
        let disk: JournalDisk
        switch reports.opened {
        case .file: disk = .committing(through: 0)
        case .failing: disk = .failing
        case .memory, .unusable, .inUse, nil: disk = .none
        }
        if disk != .none { self.witness.readBack(self.journal.contents, expected: self.disk) }
        self.core = Self.core(
            self.settings,
            seed: self.seed,
            run: self.run,
            disk: disk,
            state: self.journal.contents,
            wallTime: self.wallTime
        )
        self.committedCount = 0
        self.isDiskBusy = false
    }

    private mutating func keep(_ kinds: [JournalEntry.Kind]) {
        self.device.set(now: self.origin + self.now.sinceStart, wallTime: self.wallTime)
        for kind in kinds {
            self.waiting.append(JournalEntry(written: self.wallTime, kind: kind))
            self.witness.decided(kind, session: self.core.session)
            self.witness.told(kind, core: self.core, now: self.appNow, gateway: self.gateway)
        }
        self.journal.append(kinds)
        self.callDisk()
    }

    /// Mostly it is quick, and sometimes it takes seconds.
    private mutating func callDisk() {
        guard self.device.hasWork, !self.isDiskBusy else { return }
        self.isDiskBusy = true
        let delay = self.trouble(0.05) ? self.some(0.5...8) : self.some(0.000_1...0.05)
        self.schedule(.diskWorks(run: self.run), in: delay)
    }

    private mutating func diskWorks() {
        self.isDiskBusy = false
        self.device.set(now: self.origin + self.now.sinceStart, wallTime: self.wallTime)
        self.device.doWork()
        for report in self.reports.take() {
            if case .committed(let through) = report { self.reachesDisk(Int(through - self.committedCount)) }
            if case .failed = report { self.witness.diskFailures += 1 }
            self.core.journal(report, now: self.appNow)
        }
        self.callDisk()
    }

    /// The next entries, so many of them, are on the disk.
    private mutating func reachesDisk(_ count: Int) {
        for entry in self.waiting.prefix(count) {
            self.disk.apply(entry)
            self.witness.kept(entry.kind, session: self.core.session)
        }
        self.waiting.removeFirst(count)
        self.committedCount += UInt64(count)
    }

    /// The app ends while the disk may be writing for it: any part of that is there, from its beginning.
    private mutating func dieWriting() {
        self.device.set(now: self.origin + self.now.sinceStart, wallTime: self.wallTime)
        self.device.die(afterBytes: self.chance(0.5) ? 0 : Int(self.some(0...1_500)))
        _ = self.reports.take()
        var found = JournalState()
        for entry in self.device.contents(of: Self.path)?.entries ?? [] { found.apply(entry) }
        var expected = self.disk
        var count = 0
        while Witness.bytes(of: expected) != Witness.bytes(of: found), count < self.waiting.count {
            expected.apply(self.waiting[count])
            count += 1
        }
        self.reachesDisk(count)
        self.witness.readBack(found, expected: self.disk)
        self.waiting = []
    }

    /// The gateway's clock is a bit fast and 3 s ahead.
    var gatewayTime: Timestamp { gatewayStart + .seconds(3 + self.now.sinceStart.inSeconds * 1.000_05) }

    /// The wall clock of the listener's device: wrong by minutes, and set again now and then.
    var wallTime: Timestamp { gatewayStart + .seconds(-200) + self.now.sinceStart }

    /// The time as this run of the app counts it.
    var appNow: LocalInstant { LocalInstant(sinceStart: self.now - self.runStart) }

    // MARK: Running

    mutating func run(until end: LocalInstant) {
        while true {
            let wake =
                self.isAppAlive ? self.core.nextWake(now: self.appNow).map { self.runStart + $0.sinceStart } : nil
            guard let at = earlier(wake, self.entries.last?.at), at <= end else { break }
            if let wake, wake <= at {
                // A wake that is due again at once would never let time go on: at least a microsecond passes.
                self.now = max(wake, self.now + .microseconds(1))
                self.core.wake(now: self.appNow)
                self.witness.wakes += 1
            } else if let entry = self.entries.popLast() {
                self.now = max(self.now, at)
                self.happen(entry.occurrence)
            }
            self.performActions()
            if self.isAppAlive { self.witness.compare(self.core, with: self.gateway, at: self.gatewayTime) }
        }
        self.now = max(self.now, end)
    }

    mutating func start() {
        self.core.start(now: self.appNow)
        self.performActions()
    }

    mutating func stop() {
        self.core.stop(now: self.appNow)
        self.performActions()
    }

    mutating func schedule(_ occurrence: Occurrence, in seconds: Double) {
        self.schedule(occurrence, at: self.now + .seconds(max(0, seconds)))
    }

    mutating func schedule(_ occurrence: Occurrence, at: LocalInstant) {
        // Of what happens at the same time, what was scheduled first comes first.
        var index = self.entries.endIndex
        while index > 0, self.entries[index - 1].at <= at { index -= 1 }
        self.entries.insert(Entry(at: at, occurrence: occurrence), at: index)
    }

    mutating func chance(_ probability: Double) -> Bool {
        Double.random(in: 0..<1, using: &self.random) < probability
    }

    /// As `chance`, but never while all is well.
    mutating func trouble(_ probability: Double) -> Bool {
        self.chance(probability) && self.isRough
    }

    mutating func some(_ range: ClosedRange<Double>) -> Double {
        Double.random(in: range, using: &self.random)
    }

    // MARK: The app's life

    /// The operating system ends the app: nothing of it is left but what is on the disk.
    ///
    /// Of what was being written any part may be there, from its beginning.
    mutating func kill(isBackSoon: Bool = false) {
        guard self.isAppAlive else { return }
        self.dieWriting()
        self.isAppAlive = false
        self.hangUp()
        self.playing = nil
        self.witness.killed(self.core)
        // Mostly it is back soon; sometimes the session is too old by then.
        if isBackSoon { return self.schedule(.appStarts, in: self.some(0.1...2)) }
        self.schedule(.appStarts, in: self.chance(0.2) ? self.some(550...700) : self.some(0.1...30))
    }

    /// Ends an app that cannot use its disk, so that its next run can tell what earlier ones left there.
    mutating func restartWithoutDisk() {
        self.device.condition = .well
        if self.core.disk == .none { self.kill(isBackSoon: true) }
    }

    private mutating func startAgain() {
        guard !self.isAppAlive else { return }
        self.run += 1
        self.isAppAlive = true
        self.runStart = self.now
        self.openJournal()
        self.witness.started(self.core)
        self.start()
    }

    private mutating func happen(_ occurrence: Occurrence) {
        switch occurrence {
        case .toListener, .toGateway, .effective, .tick: self.carry(occurrence)
        case .loopTurn, .loopHeads, .loopCatchesUp: self.turn(occurrence)
        case .gatewayTimer(let number): if number == self.gatewayTimerNumber { self.runGatewayTimers() }
        case .broadcaster: self.broadcast()
        case .trouble: self.makeTrouble()
        case .appStarts: self.startAgain()
        case .diskWorks(let run): if self.lives(run) { self.diskWorks() }
        case .diskRecovers: self.device.condition = .well
        case .appAsks(let run): if self.lives(run) { self.appAsks() }
        case .appFinishes(let advertisement, let run): if self.lives(run) { self.appFinishes(advertisement) }
        case .appDecides(let id, let isWanted, let run):
            if self.lives(run) { self.core.decided(id, isWanted: isWanted, now: self.appNow) }
        case .appResumes(let run): if self.lives(run) { self.core.resume(now: self.appNow) }
        case .tracked(let request, let result, let run):
            if self.lives(run) { self.core.tracked(request.id, result, now: self.appNow) }
        }
    }

    private func lives(_ run: Int) -> Bool { self.isAppAlive && run == self.run }

    private mutating func makeTrouble() {
        self.schedule(.trouble, in: self.some(5...60))
        guard self.isRough else {
            // Listeners come and go in fine weather too.
            if self.isOnAir, self.chance(0.5) { self.breakConnection() }
            return
        }
        switch self.some(0...1) {
        case ..<0.2:
            self.gateway.restart(losesHistory: self.chance(0.4))
            self.makeLoops()
        case ..<0.35:
            // The connection hangs: nothing arrives, without an error.
            self.hangUp()
            return
        case ..<0.5:
            if self.isAppAlive { self.moveInTime() }
            return
        case ..<0.58:
            self.device.condition = self.chance(0.6) ? .full : .broken
            self.schedule(.diskRecovers, in: self.some(1...120))
            return
        case ..<0.75:
            self.kill()
            return
        case ..<0.85:
            guard self.isAppAlive else { return }
            self.core.suspend(now: self.appNow)
            self.performActions()
            self.schedule(.appResumes(run: self.run), in: self.some(0.1...60))
            return
        default: break
        }
        self.breakConnection()
    }

    private mutating func moveInTime() {
        let now = self.appNow
        let seconds = self.some(0...40)
        switch self.some(0...1) {
        case ..<0.4: self.core.changeDelay(now: now) { $0.set(delay: .seconds(seconds), now: now) }
        case ..<0.6:
            let time = self.gatewayTime - .seconds(seconds)
            self.core.changeDelay(now: now) { $0.set(programmeTime: time, now: now) }
        case ..<0.8: self.core.changeDelay(now: now) { $0.pause(now: now) }
        default: self.core.changeDelay(now: now) { $0.resume(now: now) }
        }
        self.performActions()
    }

    // MARK: What the core wants

    mutating func performActions() {
        guard self.isAppAlive else { return }
        self.keep(self.core.takeJournal())
        let actions = self.core.takeActions()
        // What is on the disk counts, also where the app ends before anything follows from it.
        if !actions.isEmpty, self.trouble(0.000_2) { return self.kill() }
        for action in actions {
            switch action {
            case .event(let event):
                self.witness.saw(event, session: self.core.session)
                if case .positionLost = event, self.isCalm { self.witness.missedNoticeOnCalmConnection() }
            case .askApp(let id, _):
                self.schedule(.appDecides(id, isWanted: self.chance(0.8), run: self.run), in: self.some(0...1))
            case .tellAvailable: self.schedule(.appAsks(run: self.run), in: self.some(0...0.05))
            case .tellStillAvailable:
                if self.core.isWaitingForApp { self.schedule(.appAsks(run: self.run), in: self.some(0...0.05)) }
            case .tellWithdrawn(let withdrawal):
                if withdrawal.current == self.playing { self.playing = nil }
            case .preStreamSettled: self.witness.preStreamSettled += 1
            case .stopped: self.witness.stopped += 1
            case .track(let request): self.call(request)
            case .log, .askForToken: break
            case .connect, .disconnect, .subscribe, .unsubscribe, .send: self.carry(out: action)
            }
        }
    }

    /// Calls a tracking URL.
    ///
    /// It arrives, or it certainly does not, or that is not known, also because the app is killed.
    private mutating func call(_ request: TrackingRequest) {
        self.witness.tracked(request, disk: self.core.disk == .none ? nil : self.disk)
        var result = TrackingResult.answered(status: 204)
        switch self.some(0...1) {
        case ..<0.2: result = .couldNotConnect("refused")
        case ..<0.4: result = .answered(status: 503)
        case ..<0.5: result = .uncertain("no answer")
        default: break
        }
        switch result {
        case .couldNotConnect, .answered(status: 503, _): break
        default: self.witness.trackingArrived(request.url)
        }
        self.schedule(.tracked(request, result, run: self.run), in: self.some(0.01...5))
    }

    // MARK: The app's user

    private mutating func appAsks() {
        if self.chance(0.05) {
            self.core.ignoreAll(now: self.appNow)
            self.performActions()
            return
        }
        let advertisement = self.core.nextAdvertisement(now: self.appNow)
        let core = self.core
        self.performActions()
        guard let advertisement, self.isAppAlive else { return }
        if self.device.condition != .well { self.witness.handedOutWithoutDisk += 1 }
        self.witness.handedOut(advertisement, core: core, now: self.appNow, gatewayTime: self.gatewayTime)
        self.playing = advertisement
        // The worst moment: it is heard, and the disk may not know yet.
        if self.trouble(0.03) { return self.kill(isBackSoon: true) }
        if self.chance(0.3) { self.report(.started, advertisement) }
        if self.chance(0.1) { self.report(.quartile(1), advertisement) }
        if self.chance(0.15) { self.click(advertisement) }
        guard self.isAppAlive, self.chance(0.97) else { return }
        self.schedule(
            .appFinishes(advertisement, run: self.run),
            in: advertisement.exactDuration.inSeconds + self.some(0...0.2)
        )
    }

    private mutating func report(_ report: AdvertisementReport, _ advertisement: Advertisement) {
        guard self.isAppAlive else { return }
        self.core.report(report, advertisement, now: self.appNow)
        self.performActions()
    }

    private mutating func click(_ advertisement: Advertisement) {
        guard self.isAppAlive else { return }
        self.witness.clicked(advertisement, session: self.core.session)
        self.core.bannerClicked(advertisement, now: self.appNow)
        self.performActions()
    }

    private mutating func appFinishes(_ advertisement: Advertisement) {
        // The banner stays a while: some click before its outcome, some after, some twice.
        if self.chance(0.15) { self.click(advertisement) }
        guard self.isAppAlive, self.playing == advertisement else { return }
        self.playing = nil
        if self.chance(0.4) {
            let report = [AdvertisementReport.completed, .skipped, .failed(vastError: 405)]
                .randomElement(using: &self.random)
            self.report(report ?? .completed, advertisement)
            if self.chance(0.15) { self.click(advertisement) }
        }
        if self.isAppAlive { self.appAsks() }
    }
}
