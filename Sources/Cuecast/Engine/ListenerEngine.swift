// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import Logging
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// One listening session at work: gives the core its events and the time, and performs what the core decides.
///
/// The core sits behind a lock, because apps ask for advertisements synchronously and transports call from their own threads.
/// Actions are performed outside the lock, in the order of the decisions, by the first thread that finds no other thread
/// performing them; none of them blocks.
///
/// There is no core before the journal was read, which its own thread does: nothing is decided until then. What the app
/// does meanwhile waits and comes first, in its order; an app that asks for an advertisement gets none.
///
/// `SessionLife` says where the session is. Connections, questions to the app, delegates and tracking are parts with a state of
/// their own; the engine passes on what they say.
final class ListenerEngine: Sendable {
    /// How often one caller performs what others decided meanwhile.
    private static let roundsMax = 16
    /// The longest that the timer sleeps: the core is asked again at least this often.
    private static let sleepMax = Duration.seconds(3_600)
    /// The most calls of the app that wait for the journal to be read; of more, the latest are dropped.
    static let callsWaitingMax = 256

    private typealias Call = @Sendable (inout ListenerCore, LocalInstant) -> Void

    private struct State {
        var life = SessionLife<Call>()
        /// `nil` before the journal was read.
        var core: ListenerCore?
        var actions = ActionQueue()
        var timer = WakeTimer()
        /// Ends the session at ``ListenerTimings/stopLimit``.
        var stopTimer: Task<Void, Never>?

        /// A session without a timer: what it decides for later never comes.
        mutating func endTimers() {
            self.timer.end()
            self.stopTimer?.cancel()
        }
    }

    private let state = Mutex(State())
    private let clock = SessionClock()
    private let gates = SessionGates()
    private let settings: ListenerSettings
    let configuration: ListenerConfiguration
    private let journal: ListenerJournal
    private let link: GatewayLink
    private let questions: AppQuestions
    private let tracking: TrackingDispatcher?
    private let delegates: DelegateNotifier
    private let hub: EventHub
    /// For lines that are written while a transport waits for us to come back too.
    private let log: LogQueue

    init(
        settings: ListenerSettings,
        configuration: ListenerConfiguration,
        transport: any ListenerTransport,
        center: AdvertisementCenter,
        hub: EventHub,
        journal: ListenerJournal,
        logger: Logger
    ) {
        var logger = logger
        logger[metadataKey: "stream"] = "\(settings.stream)"
        self.settings = settings
        self.configuration = configuration
        self.journal = journal
        self.link = GatewayLink(transport)
        self.questions = AppQuestions(configuration, logger: logger)
        self.tracking = configuration.tracking.map { TrackingDispatcher(sender: $0.sender) }
        self.delegates = DelegateNotifier(center, logger: logger)
        self.hub = hub
        self.log = LogQueue(logger)
    }

    deinit {
        // Not stopped, only dropped: the timers would go on without us. The parts end by themselves.
        self.state.withLock { $0.endTimers() }
    }

    /// Lets go of the file and the observers of a client that was dropped.
    ///
    /// Not when this object goes: a thread that is just calling it may hold it a moment longer, and the app's next client
    /// may have them at once.
    func abandon() {
        self.delegates.detach(self)
        if self.state.withLock({ $0.life.isFileHeld }) { self.journal.close() }
    }

    // MARK: Beginning

    /// Begins the session once the journal is read.
    ///
    /// - Returns: Whether it has begun: `false` where the file takes longer than ``ListenerTimings/storageWait``, and it
    ///   begins later by itself.
    /// - Throws: ``CuecastError/storageInUse(path:)``; the session is over then.
    func start() async throws(CuecastError) -> Bool {
        let timer = Task(name: "Cuecast start") { [weak self, wait = self.settings.timings.storageWait] in
            guard (try? await Task.sleep(for: wait)) != nil else { return }
            self?.startWaitOver()
        }
        self.journal.open { [weak self] report in
            self?.step { $0.journal(report, now: $1) }
        } opened: { [weak self] opened in
            self?.opened(opened)
        }
        let begun = await self.gates.begun.passed()
        timer.cancel()
        return try begun.get()
    }

    private func startWaitOver() {
        if self.state.withLock({ $0.life.startWaitOver() }) { self.gates.begun.open(.success(false)) }
    }

    /// The journal was read, or cannot be.
    private func opened(_ opened: ListenerJournal.Opened) {
        var problems = opened.problems
        if opened == .inUse, case .file(let path) = self.configuration.storage {
            let error = CuecastError.storageInUse(path: path)
            if self.state.withLock({ $0.life.fileInUse(error) }) { return self.free() }
            problems = [error.description]
        }
        self.begin(on: opened.disk, problems: problems)
        self.gates.begun.open(.success(true))
    }

    private func begin(on disk: JournalDisk, problems: [String]) {
        let now = self.clock.now
        var generator = SystemRandomNumberGenerator()
        // Outside the lock: there may be much to go through, and the provider is the app's code.
        var settings = self.settings
        if let provider = self.configuration.consentProvider { settings.consent = provider() }
        var core = ListenerCore(
            settings: settings,
            session: .random(),
            origin: self.clock.origin,
            state: self.journal.contents,
            wallTime: ListenerJournal.wallTime - now.sinceStart,
            disk: disk,
            seed: generator.next()
        )
        for problem in problems { core.storageFailed(problem) }
        // Enough to find the session in the gateway's log, and not enough to speak in its name.
        self.log.logger.debug("Session", metadata: ["session": "\(core.session.description.prefix(8))"])
        let isOurs = self.state.withLock { state in
            guard let beginning = state.life.begin() else { return false }
            state.core = core
            return
                self.decide(&state) { core, now in
                    switch beginning {
                    case .stop: core.stop(now: now)
                    case .start(let calls):
                        core.start(now: now)
                        for call in calls { call(&core, now) }
                    }
                }
                .isOurs
        }
        if isOurs { self.performAll() }
        self.link.watchNetwork { [weak self] in self?.networkChanged(isAvailable: $0) }
    }

    // MARK: Asking

    var connectionState: ConnectionState {
        self.state.withLock { state in
            guard let core = state.core, !state.life.isOver else { return state.life.connectionState }
            return core.connectionState
        }
    }

    var connectionLoss: ConnectionLoss? {
        self.state.withLock { $0.life.isOver ? nil : $0.core?.conversation.connection.state.loss }
    }

    var gatewayClock: GatewayClockReading? {
        self.state.withLock { state in
            let now = self.clock.now
            let clock = state.core?.conversation.clock
            guard let time = clock?.gatewayTime(at: now), let error = clock?.errorBound(at: now) else { return nil }
            return GatewayClockReading(date: Date(time), errorMax: error, at: self.clock.origin + now.sinceStart)
        }
    }

    /// `nil` before the session has begun.
    var sessionID: String? { self.state.withLock { $0.core?.session.description } }

    var isWaitingForApp: Bool { self.state.withLock { $0.core?.isWaitingForApp ?? false } }

    var isStopped: Bool { self.state.withLock { $0.life.isOver } }

    /// Returns when what plays before the stream is queued, or there is nothing, or it took too long.
    func preStreamSettled() async { await self.gates.preStream.passed() }

    /// Returns when the session is over and all that belonged to it is freed.
    func stopped() async {
        await self.gates.ended.passed()
        let timer = self.state.withLock { $0.timer.task }
        await timer?.value
        await self.tracking?.idle()
    }

    // MARK: Deciding

    /// Lets the core decide, then performs what it decided; `nil` where there is none yet.
    @discardableResult
    func step<Result: Sendable>(
        _ decide: @Sendable (inout ListenerCore, LocalInstant) -> Result
    ) -> Result? {
        // Not under the lock: it is the app's code.
        let provider = self.configuration.tracking == nil ? nil : self.configuration.consentProvider
        let consent = provider.map { $0() }
        let (result, isOurs) = self.state.withLock { state in
            self.decide(&state) { core, now in
                if let consent { core.set(consent: consent, now: now) }
                return decide(&core, now)
            }
        }
        if isOurs { self.performAll() }
        return result
    }

    /// As `step`, but before the journal was read it waits for that.
    func call(_ call: @escaping @Sendable (inout ListenerCore, LocalInstant) -> Void) {
        let waits = self.state.withLock { $0.life.keeps(call, callsMax: Self.callsWaitingMax) }
        if !waits { self.step { call(&$0, $1) } }
    }

    /// - Returns: also whether the caller is to perform what was decided.
    private func decide<Result: Sendable>(
        _ state: inout State,
        _ decide: @Sendable (inout ListenerCore, LocalInstant) -> Result
    ) -> (result: Result?, isOurs: Bool) {
        guard var core = state.core.take() else { return (nil, false) }
        let result = decide(&core, self.clock.now)
        self.journal.append(core.takeJournal())
        let isOurs = state.actions.add(core.takeActions())
        self.setTimer(&state.timer, for: core)
        state.core = core
        return (result, isOurs)
    }

    private func setTimer(_ timer: inout WakeTimer, for core: borrowing ListenerCore) {
        let now = self.clock.now
        timer.want(core.nextWake(now: now).map { min($0, now + Self.sleepMax) }) { number, wake in
            WakeTimer.task(from: wake, origin: self.clock.origin) { [weak self] in self?.timerFires(number: number) }
        }
    }

    /// - Returns: when this timer is to fire again; `nil`: it is not the timer any more, or nothing waits for one.
    private func timerFires(number: Int) -> LocalInstant? {
        guard self.state.withLock({ $0.timer.fires(number: number) }) else { return nil }
        if self.clock.hasSleptSinceLastAsked() { self.step { $0.woke(now: $1) } }
        self.step { $0.wake(now: $1) }
        return self.state.withLock { $0.timer.fired() }
    }

    // MARK: Performing

    /// Performs what was decided, also by others meanwhile; after some rounds another thread goes on with it, because the
    /// caller's may be the app's main thread.
    private func performAll() {
        for _ in 0..<Self.roundsMax {
            let actions = self.state.withLock { $0.actions.take() }
            guard !actions.isEmpty else { return }
            for action in actions { self.perform(action) }
        }
        // Over as soon as there is nothing left to perform.
        Task(name: "Cuecast actions") { self.performAll() }
    }

    private func perform(_ action: ListenerCore.Action) {
        switch action {
        case .connect(let attempt, let gateway): self.connect(attempt: attempt, gateway: gateway)
        case .disconnect: self.link.disconnect()
        case .subscribe(let topic): self.link.connection?.subscribe(to: topic)
        case .unsubscribe(let topic): self.link.connection?.unsubscribe(from: topic)
        case .send(let frame): self.link.connection?.send(frame)
        case .askForToken(let attempt):
            self.questions.askForToken { [weak self] token in
                self?.step { $0.tokenGiven(token, attempt: attempt, now: $1) }
            }
        case .askApp(let id, let each):
            self.questions.ask(about: each, id) { [weak self] isWanted in
                self?.step { $0.decided(id, isWanted: isWanted, now: $1) }
            }
        case .track(let request):
            self.tracking?
                .send(request) { [weak self] id, result in
                    self?.step { $0.tracked(id, result, now: $1) }
                }
        case .event(let event): self.hub.send(event)
        case .tellAvailable: self.delegates.tell(.available)
        case .tellStillAvailable: self.delegates.tell(.stillAvailable)
        case .tellWithdrawn(let withdrawal): self.delegates.tell(.withdrawn(withdrawal))
        case .preStreamSettled: self.gates.preStream.open()
        case .log(let line): self.log.write(line)
        case .stopped: self.coreStopped()
        }
    }

    private func connect(attempt: Int, gateway: GatewayTarget) {
        self.state.withLock { $0.life.connecting(attempt) }
        // Events of the connection from here on are handled after this action, so that it finds the connection in its place.
        self.link.connect(to: self.configuration.address(of: gateway)) { [weak self] event in
            self?.received(event, attempt: attempt)
        }
    }

    private func received(_ event: ListenerConnectionEvent, attempt: Int) {
        self.step { $0.transport(event, attempt: attempt, now: $1) }
        guard case .closed = event else { return }
        self.freeIfOver { $0.closed(attempt) }
    }

    // MARK: Ending

    /// Begins to stop, and sees to it that the session is over after ``ListenerTimings/stopLimit``, whatever others do.
    func stop(_ ending: SessionEnding = .stopped) {
        let isFirst = self.state.withLock { state in
            guard state.life.stop(ending) else { return false }
            state.stopTimer = Task(name: "Cuecast stop") { [weak self, limit = self.settings.timings.stopLimit] in
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                self?.stopLimitReached()
            }
            return true
        }
        guard isFirst else { return }
        self.step { $0.stop(now: $1) }
    }

    private func coreStopped() {
        let mustFree = self.state.withLock { $0.life.coreStopped() }
        self.journal.close { [weak self] in
            self?.freeIfOver { $0.fileClosed() }
        }
        if mustFree { self.free() }
    }

    /// The session has had all the time that stopping may take: what is not done by now is not waited for.
    private func stopLimitReached() {
        // Its own time is over before this.
        self.step { $0.wake(now: $1) }
        guard let shortfall = self.state.withLock({ $0.life.limitReached() }) else { return }
        for each in shortfall.missing {
            self.log.logger.warning("Stopped without waiting any longer", metadata: ["for": "\(each)"])
            self.hub.send(.stoppedWithout(each))
        }
        // Comes after the reading, on the same thread.
        if shortfall.isReading { self.journal.close() }
        self.free()
    }

    /// Frees the session where this was the last that it waited for.
    private func freeIfOver(_ change: (inout SessionLife<Call>) -> Bool) {
        if self.state.withLock({ change(&$0.life) }) { self.free() }
    }

    /// Frees what belonged to the session; then it is over.
    private func free() {
        self.state.withLock { $0.endTimers() }
        self.questions.end()
        self.link.endWatch()
        self.tracking?.stop()
        self.delegates.endWatch()
        self.delegates.detach(self)
        // Only now: those that wait may use the file and the observers again at once.
        guard let ending = self.state.withLock({ $0.life.freed() }) else { return }
        switch ending {
        case .stopped:
            self.hub.finish()
            self.gates.begun.open(.success(false))
        case .replaced: self.gates.begun.open(.success(false))
        case .failed(let error): self.gates.begun.open(.failure(error))
        }
        self.gates.ended.open()
        self.gates.preStream.open()
    }
}
