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
/// The core sits behind a lock, because apps ask for advertisements synchronously and transports call from their own
/// threads. Actions are performed outside the lock, in the order of the decisions, by whichever thread finds nobody else
/// at it; none of them blocks.
///
/// There is no core before the journal was read, which its own thread does: nothing is decided until then. What the app
/// does meanwhile waits and comes first, in its order; who asks for an advertisement gets none.
final class ListenerEngine: Sendable {
    /// How long a delegate's call may wait for the main actor before the log says so.
    static let mainActorWaitMax = Duration.seconds(5)
    /// How often one caller performs what others decided meanwhile.
    private static let roundsMax = 16
    /// A device that was asleep for less is not noticed.
    private static let sleepMin = Duration.seconds(1)
    /// The longest that the timer sleeps: the core is asked again at least this often.
    private static let sleepMax = Duration.seconds(3_600)
    /// The most calls of the app that wait for the journal to be read; of more, the latest are dropped.
    static let callsWaitingMax = 256

    private typealias Call = @Sendable (inout ListenerCore, LocalInstant) -> Void

    private struct State {
        /// `nil` before the journal was read.
        var core: ListenerCore?
        /// What the app did before that.
        var calls: [Call] = []
        /// Whoever waits for the session to begin.
        var startWaiter: CheckedContinuation<Result<Bool, CuecastError>, Never>?
        var startTimer: Task<Void, Never>?
        /// Why the session could not begin.
        var startError: CuecastError?
        /// Whether it was asked to stop.
        var isStopAsked = false
        /// Whether readers of events get those of the next session too.
        var keepsEvents = false
        var stopTimer: Task<Void, Never>?
        /// Whether the file is let go of.
        var isJournalClosed = false
        var actions: [ListenerCore.Action] = []
        var isPerforming = false
        var connection: (any ListenerConnection)?
        /// Connections that have not said yet that they are closed.
        var openConnections: Set<Int> = []
        var networkWatch: (any NetworkWatch)?
        var timer: Task<Void, Never>?
        var timerAt: LocalInstant?
        var timerNumber = 0
        /// Whether the timer's own task is at work: it sets the next time itself.
        var isTimerFiring = false
        var tokenTask: Task<Void, Never>?
        /// The app's decisions about breaks that are still awaited.
        var policyTasks: [BreakID: Task<Void, Never>] = [:]
        /// How far the clock that sleeps with the device was behind the other when it was last looked at.
        var slept = Duration.zero
        var mainActorCheckAt: LocalInstant?
        var hasLoggedMainActor = false
        var isPreStreamSettled = false
        /// Whether nothing more is decided.
        var isCoreStopped = false
        /// Whether what belonged to the session is being freed.
        var isFinishing = false
        var isStopped = false
        var preStreamWaiters: [CheckedContinuation<Void, Never>] = []
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let settings: ListenerSettings
    private let configuration: ListenerConfiguration
    private let transport: any ListenerTransport
    private let center: AdvertisementCenter
    private let hub: EventHub
    private let journal: ListenerJournal
    private let dispatcher: TrackingDispatcher?
    private let logger: Logger
    /// For lines that are written while a transport waits for us to come back.
    private let logQueue: LogQueue
    private let origin: ContinuousClock.Instant
    private let suspendingOrigin: SuspendingClock.Instant

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
        self.logger = logger
        self.logQueue = LogQueue(logger)
        self.origin = .now
        self.suspendingOrigin = .now
        self.settings = settings
        self.configuration = configuration
        self.transport = transport
        self.center = center
        self.hub = hub
        self.journal = journal
        self.dispatcher = configuration.tracking.map { TrackingDispatcher(sender: $0.sender) }
    }

    deinit {
        // Not stopped, only dropped: end what would go on without us.
        self.state.withLock { state in
            state.timer?.cancel()
            state.startTimer?.cancel()
            state.stopTimer?.cancel()
            state.tokenTask?.cancel()
            for task in state.policyTasks.values { task.cancel() }
            state.connection?.close()
        }
        self.state.withLock { $0.networkWatch }?.end()
        self.dispatcher?.stop()
    }

    /// Lets go of the file and the observers of a client that was dropped.
    ///
    /// Not when this object goes: a thread that is just calling it may hold it a moment longer, and the app's next client
    /// may have them at once.
    func abandon() {
        self.center.detach(self)
        let isOpen = self.state.withLock { state in
            defer { state.isJournalClosed = true }
            return !state.isJournalClosed
        }
        if isOpen { self.journal.close() }
    }

    // MARK: Beginning

    /// Begins the session once the journal is read.
    ///
    /// - Returns: Whether it has begun: `false` where the file takes longer than ``ListenerTimings/storageWait``, and it
    ///   begins later by itself.
    /// - Throws: ``CuecastError/storageInUse(path:)``; the session is over then.
    func start() async throws(CuecastError) -> Bool {
        let result = await withCheckedContinuation { continuation in
            self.state.withLock { state in
                state.startWaiter = continuation
                state.startTimer = Task(name: "Cuecast start") {
                    [weak self, wait = self.settings.timings.storageWait] in
                    guard (try? await Task.sleep(for: wait)) != nil else { return }
                    self?.startEnded(.success(false))
                }
            }
            self.journal.open { [weak self] report in
                self?.step { $0.journal(report, now: $1) }
            } opened: { [weak self] opened in
                self?.opened(opened)
            }
        }
        return try result.get()
    }

    private func startEnded(_ result: Result<Bool, CuecastError>) {
        let waiter = self.state.withLock { state in
            state.startTimer?.cancel()
            return state.startWaiter.take()
        }
        waiter?.resume(returning: result)
    }

    /// The journal was read, or cannot be.
    private func opened(_ opened: ListenerJournal.Opened) {
        var problems: [String] = []
        var disk = JournalDisk.none
        switch opened {
        case .memory: break
        case .file(let found):
            problems = found
            disk = .committing(through: 0)
        case .failing(let found):
            problems = found
            disk = .failing
        case .unusable(let reason): problems = [reason]
        case .inUse:
            guard case .file(let path) = self.configuration.storage else { break }
            let error = CuecastError.storageInUse(path: path)
            problems = [error.description]
            let isAwaited = self.state.withLock { state in
                guard state.startWaiter != nil else { return false }
                state.startError = error
                state.isCoreStopped = true
                state.isJournalClosed = true
                return true
            }
            if isAwaited { return self.finishStopping() }
        }
        self.begin(on: disk, problems: problems)
        self.startEnded(.success(true))
    }

    private func begin(on disk: JournalDisk, problems: [String]) {
        let now = self.now
        var generator = SystemRandomNumberGenerator()
        // Outside the lock: there may be much to go through, and the provider is the app's code.
        var settings = self.settings
        if let provider = self.configuration.consentProvider { settings.consent = provider() }
        var core = ListenerCore(
            settings: settings,
            session: .random(),
            origin: self.origin,
            state: self.journal.contents,
            wallTime: ListenerJournal.wallTime - now.sinceStart,
            disk: disk,
            seed: generator.next()
        )
        for problem in problems { core.storageFailed(problem) }
        // Enough to find the session in the gateway's log, and not enough to speak in its name.
        self.logger.debug("Session", metadata: ["session": "\(core.session.description.prefix(8))"])
        let isOurs = self.state.withLock { state in
            guard !state.isStopped else { return false }
            state.core = core
            let calls = state.calls
            state.calls = []
            let isStopAsked = state.isStopAsked
            return
                self.decide(&state) { core, now in
                    // Stopped before it began: what came before that is of no use.
                    guard !isStopAsked else { return core.stop(now: now) }
                    core.start(now: now)
                    for call in calls { call(&core, now) }
                }
                .isOurs
        }
        if isOurs { self.performAll() }
        self.watchNetwork()
    }

    /// Hears of changes of the network from now on, where the transport knows of them.
    private func watchNetwork() {
        // Not under the lock: it may tell at once.
        let watch = self.transport.watchNetwork { [weak self] isAvailable in
            self?.networkChanged(isAvailable: isAvailable)
        }
        guard let watch else { return }
        let isLate = self.state.withLock { state in
            if !state.isFinishing { state.networkWatch = watch }
            return state.isFinishing
        }
        if isLate { watch.end() }
    }

    // MARK: What the app does

    /// Begins to stop, and sees to it that the session is over after ``ListenerTimings/stopLimit``, whatever others do.
    ///
    /// - Parameter keepsEvents: whether readers of events get those of the next session too.
    func stop(keepsEvents: Bool = false) {
        let isFirst = self.state.withLock { state in
            guard !state.isStopAsked, !state.isStopped else { return false }
            state.isStopAsked = true
            state.keepsEvents = keepsEvents
            state.stopTimer = Task(name: "Cuecast stop") { [weak self, limit = self.settings.timings.stopLimit] in
                guard (try? await Task.sleep(for: limit)) != nil else { return }
                self?.stopLimitReached()
            }
            return true
        }
        guard isFirst else { return }
        self.step { $0.stop(now: $1) }
    }

    func nextAdvertisement(isShown: Bool = false) -> Advertisement? {
        self.step { $0.nextAdvertisement(now: $1, isShown: isShown) } ?? nil
    }

    var currentAdvertisement: Advertisement? {
        self.step { core, _ in core.isRunning ? core.queue.current : nil } ?? nil
    }

    func ignoreAll() { self.call { $0.ignoreAll(now: $1) } }

    func hear(_ change: @escaping @Sendable (inout Hearing, LocalInstant) -> Void) {
        self.call { core, now in core.hear(now: now) { change(&$0, now) } }
    }

    func set(consent: ListenerConsent?) {
        guard self.configuration.consentProvider == nil else { return }
        self.call { core, now in
            core.set(consent: consent, now: now)
            core.wake(now: now)
        }
    }

    func suspend() { self.call { $0.suspend(now: $1) } }

    func resume() { self.call { $0.resume(now: $1) } }

    func networkChanged(isAvailable: Bool) {
        self.call { $0.networkChanged(isAvailable: isAvailable, now: $1) }
    }

    func report(_ report: AdvertisementReport, _ advertisement: Advertisement) {
        self.call { $0.report(report, advertisement, now: $1) }
    }

    func bannerClicked(_ stream: LiveStream, _ advertisement: Advertisement) {
        guard stream == self.configuration.stream else { return }
        self.call { $0.bannerClicked(advertisement, now: $1) }
    }

    func advertisementClicked(_ stream: LiveStream, _ advertisement: Advertisement) {
        guard stream == self.configuration.stream else { return }
        self.call { $0.advertisementClicked(advertisement, now: $1) }
    }

    func bannerShown(_ stream: LiveStream, _ advertisement: Advertisement) {
        guard stream == self.configuration.stream else { return }
        self.call { $0.bannerShown(advertisement, now: $1) }
    }

    var isWaitingForApp: Bool { self.state.withLock { $0.core?.isWaitingForApp ?? false } }

    var connectionState: ConnectionState {
        self.state.withLock { state in
            if state.isStopped { return .stopped }
            guard let core = state.core else { return state.isStopAsked ? .stopping : .idle }
            return core.connectionState
        }
    }

    var connectionLoss: ConnectionLoss? {
        self.state.withLock { state in state.isStopped ? nil : state.core?.conversation.connection.state.loss }
    }

    var gatewayClock: GatewayClockReading? {
        self.state.withLock { state in
            let now = self.now
            let clock = state.core?.conversation.clock
            guard let time = clock?.gatewayTime(at: now), let error = clock?.errorBound(at: now) else {
                return nil
            }
            return GatewayClockReading(date: Date(time), errorMax: error, at: self.origin + now.sinceStart)
        }
    }

    /// `nil` before the session has begun.
    var sessionID: String? { self.state.withLock { $0.core?.session.description } }

    var isStopped: Bool { self.state.withLock { $0.isStopped } }

    /// Returns when what plays before the stream is queued, or there is nothing, or it took too long.
    func preStreamSettled() async {
        await withCheckedContinuation { continuation in
            let isSettled = self.state.withLock { state in
                let isSettled = state.isPreStreamSettled || state.isStopped
                if !isSettled { state.preStreamWaiters.append(continuation) }
                return isSettled
            }
            if isSettled { continuation.resume() }
        }
    }

    /// Returns when the session is over and all that belonged to it is freed.
    func stopped() async {
        await withCheckedContinuation { continuation in
            let isStopped = self.state.withLock { state in
                if !state.isStopped { state.stopWaiters.append(continuation) }
                return state.isStopped
            }
            if isStopped { continuation.resume() }
        }
        let timer = self.state.withLock { $0.timer }
        await timer?.value
        await self.dispatcher?.idle()
    }

    // MARK: Deciding

    private var now: LocalInstant { LocalInstant(sinceStart: self.origin.duration(to: .now)) }

    /// Lets the core decide, then performs what it decided; `nil` where there is none yet.
    @discardableResult
    private func step<Result: Sendable>(
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
    private func call(_ call: @escaping Call) {
        let isDone = self.state.withLock { state in
            guard state.core == nil, !state.isStopped else { return false }
            if state.calls.count < Self.callsWaitingMax { state.calls.append(call) }
            return true
        }
        if !isDone { self.step { call(&$0, $1) } }
    }

    /// - Returns: also whether the caller is to perform what was decided.
    private func decide<Result: Sendable>(
        _ state: inout State,
        _ decide: @Sendable (inout ListenerCore, LocalInstant) -> Result
    ) -> (result: Result?, isOurs: Bool) {
        guard var core = state.core.take() else { return (nil, false) }
        let result = decide(&core, self.now)
        self.journal.append(core.takeJournal())
        state.actions += core.takeActions()
        state.core = core
        self.setTimer(&state)
        defer { state.isPerforming = true }
        return (result, !state.isPerforming)
    }

    /// Performs what was decided, also by others meanwhile; after some rounds somebody else goes on with it, because the
    /// caller may be the app's main thread.
    private func performAll() {
        for _ in 0..<Self.roundsMax {
            let actions = self.state.withLock { state in
                defer { state.actions = [] }
                if state.actions.isEmpty { state.isPerforming = false }
                return state.actions
            }
            guard !actions.isEmpty else { return }
            for action in actions { self.perform(action) }
        }
        // Over as soon as there is nothing left to perform.
        Task(name: "Cuecast actions") { self.performAll() }
    }

    private func perform(_ action: ListenerCore.Action) {
        switch action {
        case .connect(let attempt, let gateway): self.connect(attempt: attempt, gateway: gateway)
        case .disconnect: self.takeConnection()?.close()
        case .subscribe(let topic): self.connection?.subscribe(to: topic)
        case .unsubscribe(let topic): self.connection?.unsubscribe(from: topic)
        case .send(let frame): self.connection?.send(frame)
        case .askForToken(let attempt): self.askForToken(attempt: attempt)
        case .askApp(let id, let each): self.askApp(id, each)
        case .track(let request): self.track(request)
        case .event(let event): self.hub.send(event)
        case .tellAvailable: self.tell(.available)
        case .tellStillAvailable: self.tell(.stillAvailable)
        case .tellWithdrawn(let withdrawal): self.tell(.withdrawn(withdrawal))
        case .preStreamSettled:
            let waiters = self.state.withLock { state in
                state.isPreStreamSettled = true
                defer { state.preStreamWaiters = [] }
                return state.preStreamWaiters
            }
            for waiter in waiters { waiter.resume() }
        case .log(let line): self.logQueue.write(line)
        case .stopped:
            self.state.withLock { $0.isCoreStopped = true }
            self.journal.close { [weak self] in
                guard let self else { return }
                self.state.withLock { $0.isJournalClosed = true }
                self.finishStopping()
            }
            self.finishStopping()
        }
    }

    private func track(_ request: TrackingRequest) {
        self.dispatcher?
            .send(request) { [weak self] id, result in
                self?.step { $0.tracked(id, result, now: $1) }
            }
    }

    // MARK: Connections

    private var connection: (any ListenerConnection)? { self.state.withLock { $0.connection } }

    private func takeConnection() -> (any ListenerConnection)? {
        self.state.withLock { $0.connection.take() }
    }

    private func connect(attempt: Int, gateway: Int) {
        self.state.withLock { _ = $0.openConnections.insert(attempt) }
        let connection = self.transport.connect(to: self.configuration.gateway(gateway)) { [weak self] event in
            self?.received(event, attempt: attempt)
        }
        // What it says from here on is performed after this action, so that it finds the connection in its place.
        self.state.withLock { $0.connection = connection }
    }

    private func received(_ event: ListenerConnectionEvent, attempt: Int) {
        self.step { $0.transport(event, attempt: attempt, now: $1) }
        if case .closed = event {
            self.state.withLock { _ = $0.openConnections.remove(attempt) }
            self.finishStopping()
        }
    }

    private func askForToken(attempt: Int) {
        guard let provider = self.configuration.tokenProvider else { return }
        let task = Task(name: "Cuecast token") { [weak self, logger] in
            var token: String?
            do {
                token = try await provider()
            } catch {
                logger.warning("The app gave no token", metadata: ["error": "\(error)"])
            }
            self?.step { [token] in $0.tokenGiven(token, attempt: attempt, now: $1) }
        }
        self.state.withLock { state in
            state.tokenTask?.cancel()
            state.tokenTask = task
        }
    }

    private func askApp(_ id: BreakID, _ each: AdvertisementBreak) {
        guard let policy = self.configuration.fetchPolicy else { return }
        let task = Task(name: "Cuecast fetch policy") { [weak self] in
            let isWanted = await policy(each)
            guard let self else { return }
            self.state.withLock { $0.policyTasks[id] = nil }
            self.step { $0.decided(id, isWanted: isWanted, now: $1) }
        }
        self.state.withLock { $0.policyTasks[id] = task }
    }

    /// The session has had all the time that stopping may take: whoever is not done by now is not waited for.
    private func stopLimitReached() {
        // Its own time is over before this.
        self.step { $0.wake(now: $1) }
        let (missing, isReading) = self.state.withLock { state in
            guard !state.isFinishing else { return ([StopShortfall](), false) }
            var missing: [StopShortfall] = []
            if !state.openConnections.isEmpty { missing.append(.transport) }
            if !state.isJournalClosed { missing.append(.storage) }
            state.openConnections = []
            state.isJournalClosed = true
            let isReading = state.core == nil
            state.isCoreStopped = true
            return (missing, isReading)
        }
        for each in missing {
            self.logger.warning("Stopped without waiting any longer", metadata: ["for": "\(each)"])
            self.hub.send(.stoppedWithout(each))
        }
        // Comes after the reading, on the same thread.
        if isReading { self.journal.close() }
        self.finishStopping()
    }

    /// The session is over when the core says so, every connection has said that it is closed, and the file is let go of.
    private func finishStopping() {
        let isOurs = self.state.withLock { state in
            guard state.isCoreStopped, state.isJournalClosed, state.openConnections.isEmpty, !state.isFinishing else {
                return false
            }
            state.isFinishing = true
            state.timer?.cancel()
            state.stopTimer?.cancel()
            state.startTimer?.cancel()
            state.tokenTask?.cancel()
            for task in state.policyTasks.values { task.cancel() }
            return true
        }
        guard isOurs else { return }
        self.state.withLock { $0.networkWatch.take() }?.end()
        self.dispatcher?.stop()
        self.center.detach(self)
        // Only now: whoever waited may use the file and the observers again at once.
        let (waiters, error, keepsEvents) = self.state.withLock { state in
            state.isStopped = true
            state.calls = []
            defer {
                state.stopWaiters = []
                state.preStreamWaiters = []
            }
            // Readers go on where no session began.
            return (
                state.stopWaiters + state.preStreamWaiters, state.startError,
                state.keepsEvents || state.startError != nil
            )
        }
        if !keepsEvents { self.hub.finish() }
        self.startEnded(error.map { .failure($0) } ?? .success(false))
        for waiter in waiters { waiter.resume() }
    }

    // MARK: Time

    /// Makes sure that the timer fires no later than the core wants to be woken.
    ///
    /// One that fires too early does no harm.
    private func setTimer(_ state: inout State) {
        guard !state.isTimerFiring, let wake = self.nextWake(state) else { return }
        if let set = state.timerAt, set <= wake { return }
        state.timer?.cancel()
        state.timerNumber += 1
        state.timerAt = wake
        let number = state.timerNumber
        // One task for as long as it is the timer: each further one would wake another thread.
        state.timer = Task(name: "Cuecast timer") { [weak self, origin = self.origin] in
            var wake = wake
            do {
                while true {
                    try await Task.sleep(until: origin + wake.sinceStart, tolerance: .zero, clock: .continuous)
                    guard let next = self?.timerFired(number: number) else { return }
                    wake = next
                }
            } catch {
                return  // Another timer was set, or the session is over.
            }
        }
    }

    /// When the timer is to fire; `nil`: nothing waits for it.
    private func nextWake(_ state: borrowing State) -> LocalInstant? {
        let now = self.now
        return earlier(state.core?.nextWake(now: now), state.mainActorCheckAt).map { min($0, now + Self.sleepMax) }
    }

    /// - Returns: when this timer is to fire again; `nil`: it is not the timer any more, or nothing waits for one.
    private func timerFired(number: Int) -> LocalInstant? {
        let isCurrent = self.state.withLock { state in
            guard state.timerNumber == number else { return false }
            state.timerAt = nil
            state.isTimerFiring = true
            return true
        }
        self.checkMainActor()
        self.checkSleep()
        self.step { $0.wake(now: $1) }
        guard isCurrent else { return nil }
        return self.state.withLock { state in
            state.isTimerFiring = false
            state.timerAt = self.nextWake(state)
            return state.timerAt
        }
    }

    /// A device that was asleep may have drifted: one of the two clocks stood still meanwhile.
    private func checkSleep() {
        let slept = self.origin.duration(to: .now) - self.suspendingOrigin.duration(to: .now)
        let hasSlept = self.state.withLock { state in
            defer { state.slept = slept }
            return slept - state.slept > Self.sleepMin
        }
        if hasSlept { self.step { $0.woke(now: $1) } }
    }

    // MARK: Delegates and the log

    private func tell(_ call: DelegateCall) {
        self.center.tell(call)
        self.state.withLock { state in
            guard state.mainActorCheckAt == nil, !state.hasLoggedMainActor else { return }
            state.mainActorCheckAt = self.now + Self.mainActorWaitMax
            self.setTimer(&state)
        }
    }

    /// Delegates that are never called look like missing advertisements: say once what keeps them from it.
    private func checkMainActor() {
        let isDue = self.state.withLock { state in
            guard let due = state.mainActorCheckAt, due <= self.now else { return false }
            state.mainActorCheckAt = nil
            return true
        }
        guard isDue, let oldest = self.center.oldestCallOnMainActor else { return }
        guard oldest.duration(to: .now) >= Self.mainActorWaitMax - .milliseconds(100) else { return }
        self.state.withLock { $0.hasLoggedMainActor = true }
        self.logger.warning(
            """
            A delegate's call has been waiting for the main actor for 5 s: is the main thread blocked? \
            On Linux main-actor code runs only while it is not
            """
        )
    }
}
