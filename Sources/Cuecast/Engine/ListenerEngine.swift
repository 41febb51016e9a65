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
final class ListenerEngine: Sendable {
    /// How long a delegate's call may wait for the main actor before the log says so.
    static let mainActorWaitMax = Duration.seconds(5)
    /// How often one caller performs what others decided meanwhile.
    private static let roundsMax = 16
    /// A device that was asleep for less is not noticed.
    private static let sleepMin = Duration.seconds(1)
    /// The longest that the timer sleeps: the core is asked again at least this often.
    private static let sleepMax = Duration.seconds(3_600)

    private struct State {
        var core: ListenerCore
        var actions: [ListenerCore.Action] = []
        var isPerforming = false
        var connection: (any ListenerConnection)?
        /// Connections that have not said yet that they are closed.
        var openConnections: Set<Int> = []
        var timer: Task<Void, Never>?
        var timerAt: LocalInstant?
        var timerNumber = 0
        var tokenTask: Task<Void, Never>?
        /// The app's decisions about breaks that are still awaited.
        var policyTasks: [BreakID: Task<Void, Never>] = [:]
        /// How far the clock that sleeps with the device was behind the other when it was last looked at.
        var slept = Duration.zero
        var mainActorCheckAt: LocalInstant?
        var hasLoggedMainActor = false
        var isPreStreamSettled = false
        var isCoreStopped = false
        /// Whether what belonged to the session is being freed.
        var isFinishing = false
        var isStopped = false
        var preStreamWaiters: [CheckedContinuation<Void, Never>] = []
        var stopWaiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Mutex<State>
    private let configuration: ListenerConfiguration
    private let transport: any ListenerTransport
    private let center: AdvertisementCenter
    private let hub: EventHub
    private let journal: ListenerJournal
    private let dispatcher: TrackingDispatcher?
    private let logger: Logger
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
        var generator = SystemRandomNumberGenerator()
        let session = SessionID.random()
        var logger = logger
        logger[metadataKey: "stream"] = "\(settings.stream)"
        // Enough to find the session in the gateway's log, and not enough to speak in its name.
        logger[metadataKey: "session"] = "\(session.description.prefix(8))"
        self.logger = logger
        self.origin = .now
        self.suspendingOrigin = .now
        self.state = Mutex(
            State(
                core: ListenerCore(
                    settings: settings,
                    session: session,
                    origin: self.origin,
                    state: journal.contents,
                    wallTime: ListenerJournal.wallTime,
                    seed: generator.next()
                )
            )
        )
        self.configuration = configuration
        self.transport = transport
        self.center = center
        self.hub = hub
        self.journal = journal
        self.dispatcher = configuration.tracking.map { TrackingDispatcher(sender: $0.sender) }
    }

    deinit {
        // Not stopped, only dropped: free what would go on without us.
        self.state.withLock { state in
            state.timer?.cancel()
            state.tokenTask?.cancel()
            for task in state.policyTasks.values { task.cancel() }
            state.connection?.close()
        }
        self.dispatcher?.stop()
        self.journal.close()
    }

    // MARK: What the app does

    func start() { self.step { $0.start(now: $1) } }

    func stop() { self.step { $0.stop(now: $1) } }

    func nextAdvertisement(isShown: Bool = false) -> Advertisement? {
        self.step { $0.nextAdvertisement(now: $1, isShown: isShown) }
    }

    var currentAdvertisement: Advertisement? { self.step { core, _ in core.isRunning ? core.queue.current : nil } }

    func ignoreAll() { self.step { $0.ignoreAll(now: $1) } }

    func hear(_ change: @Sendable (inout Hearing, LocalInstant) -> Void) {
        self.step { core, now in core.hear(now: now) { change(&$0, now) } }
    }

    func suspend() { self.step { $0.suspend(now: $1) } }

    func resume() { self.step { $0.resume(now: $1) } }

    func report(_ report: AdvertisementReport, _ advertisement: Advertisement) {
        self.step { $0.report(report, advertisement, now: $1) }
    }

    func bannerClicked(_ stream: LiveStream, _ advertisement: Advertisement) {
        guard stream == self.configuration.stream else { return }
        self.step { $0.bannerClicked(advertisement, now: $1) }
    }

    var isWaitingForApp: Bool { self.state.withLock { $0.core.isWaitingForApp } }

    var connectionState: ConnectionState { self.state.withLock { $0.core.connectionState } }

    var gatewayClock: GatewayClockReading? {
        self.state.withLock { state in
            let now = self.now
            guard let time = state.core.clock.gatewayTime(at: now), let error = state.core.clock.errorBound(at: now)
            else {
                return nil
            }
            return GatewayClockReading(date: Date(time), errorMax: error, at: self.origin + now.sinceStart)
        }
    }

    var isStopped: Bool { self.state.withLock { $0.isStopped } }

    /// Returns when what plays before the stream is queued, or there is nothing, or it took too long.
    func preStreamSettled() async {
        await withCheckedContinuation { continuation in
            let isSettled = self.state.withLock { state in
                if !state.isPreStreamSettled { state.preStreamWaiters.append(continuation) }
                return state.isPreStreamSettled
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
        await self.journal.closed()
    }

    // MARK: Deciding

    private var now: LocalInstant { LocalInstant(sinceStart: self.origin.duration(to: .now)) }

    /// Lets the core decide, then performs what it decided.
    private func step<Result: Sendable>(
        _ decide: @Sendable (inout ListenerCore, LocalInstant) -> Result
    ) -> Result {
        let (result, isOurs) = self.state.withLock { state in
            let result = decide(&state.core, self.now)
            // Before anything that follows from it is seen: an advertisement that the app gets is known to be handed out.
            let failure = self.journal.write(state.core.takeJournal())
            state.actions += state.core.takeActions()
            if let failure {
                let line = "The session's file cannot be written: \(failure)"
                state.actions += [
                    .log(ListenerCore.LogLine(level: .error, message: line)), .event(.storageFailed(failure)),
                ]
            }
            self.setTimer(&state)
            defer { state.isPerforming = true }
            return (result, !state.isPerforming)
        }
        if isOurs { self.performAll() }
        return result
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
        case .log(let line): self.log(line)
        case .stopped:
            self.state.withLock { $0.isCoreStopped = true }
            self.finishStopping()
        }
    }

    private func track(_ request: TrackingRequest) {
        // That it was sent would not be known after the app's end, and it would be sent again.
        guard !self.journal.isFailing else {
            let reason = TrackingResult.couldNotConnect("the session's file cannot be written")
            return self.step { $0.tracked(request.id, reason, now: $1) }
        }
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

    /// The session is over when the core says so and every connection has said that it is closed.
    private func finishStopping() {
        let isOurs = self.state.withLock { state in
            guard state.isCoreStopped, state.openConnections.isEmpty, !state.isFinishing else { return false }
            state.isFinishing = true
            state.timer?.cancel()
            state.tokenTask?.cancel()
            for task in state.policyTasks.values { task.cancel() }
            return true
        }
        guard isOurs else { return }
        self.dispatcher?.stop()
        self.journal.close()
        self.center.detach(self)
        self.hub.finish()
        // Only now: whoever waited may use the file and the observers again at once.
        let waiters = self.state.withLock { state in
            state.isStopped = true
            defer { state.stopWaiters = [] }
            return state.stopWaiters
        }
        for waiter in waiters { waiter.resume() }
    }

    // MARK: Time

    /// Makes sure that the timer fires no later than the core wants to be woken.
    ///
    /// One that fires too early does no harm.
    private func setTimer(_ state: inout State) {
        let now = self.now
        guard let wanted = earlier(state.core.nextWake(now: now), state.mainActorCheckAt) else { return }
        let wake = min(wanted, now + Self.sleepMax)
        if let set = state.timerAt, set <= wake { return }
        state.timer?.cancel()
        state.timerNumber += 1
        state.timerAt = wake
        let number = state.timerNumber
        let deadline = self.origin + wake.sinceStart
        state.timer = Task(name: "Cuecast timer") { [weak self] in
            do {
                try await Task.sleep(until: deadline, tolerance: .zero, clock: .continuous)
            } catch {
                return  // Another timer was set, or the session is over.
            }
            self?.timerFired(number: number)
        }
    }

    private func timerFired(number: Int) {
        self.state.withLock { state in
            if state.timerNumber == number { state.timerAt = nil }
        }
        self.checkMainActor()
        self.checkSleep()
        self.step { $0.wake(now: $1) }
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

    private func log(_ line: ListenerCore.LogLine) {
        switch line.level {
        case .debug: self.logger.debug("\(line.message)")
        case .info: self.logger.info("\(line.message)")
        case .warning: self.logger.warning("\(line.message)")
        case .error: self.logger.error("\(line.message)")
        }
    }
}
