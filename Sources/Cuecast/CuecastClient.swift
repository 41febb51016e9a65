// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
public import Logging
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Listens to the advertisements of one live stream.
///
/// ```swift
/// let client = try CuecastClient(
///     configuration: ListenerConfiguration(gateway: GatewayAddress(host: "ads.example.org"), stream: LiveStream(id: "radio1")),
///     transport: ZeroMQListenerTransport()
/// )
/// client.advertisements.addObserver(advertisementDelegate: player)
/// await client.start()   // returns when what plays before the stream is queued, or there is nothing
/// player.playStream()
/// …
/// client.stop()
/// ```
///
/// The client tells that advertisements are available and what is in them; playing and showing them is the app's work.
/// It connects again by itself after every loss, and makes up for what was missed meanwhile.
///
/// Start it when the listener begins to hear the stream and stop it at the end: each time is a session of its own. All
/// methods may be called from any thread. A client that is dropped without being stopped frees everything, but tells the
/// gateway nothing.
public final class CuecastClient: Sendable {
    private struct State {
        var engine: ListenerEngine?
        var settings: ListenerSettings
        var stream: LiveStream
    }

    /// The observers and the queue.
    public let advertisements: AdvertisementCenter
    /// The configuration that the client was made with; ``stream`` and ``setConsent(_:)`` may have changed since.
    public let configuration: ListenerConfiguration

    private let transport: any ListenerTransport
    private let logger: Logger
    private let hub: EventHub
    private let journal: ListenerJournal
    private let state: Mutex<State>

    /// A client that is not started.
    ///
    /// - Parameters:
    ///   - configuration: where the gateway is, which stream, and what else differs from the defaults.
    ///   - transport: the transport of the frames.
    ///   - advertisements: the observers, where they are to outlive this client.
    ///   - logger: where a few lines go about losing and finding the gateway.
    /// - Throws: ``CuecastError/invalidConfiguration(_:)`` with the rule that was broken.
    public convenience init(
        configuration: ListenerConfiguration,
        transport: any ListenerTransport,
        advertisements: AdvertisementCenter = AdvertisementCenter(),
        logger: Logger = Logger(label: "cuecast.client")
    ) throws(CuecastError) {
        try self.init(
            configuration: configuration,
            transport: transport,
            advertisements: advertisements,
            logger: logger,
            files: DiskFileSystem()
        )
    }

    /// A client with a file system of its own.
    init(
        configuration: ListenerConfiguration,
        transport: any ListenerTransport,
        advertisements: AdvertisementCenter,
        logger: Logger = Logger(label: "cuecast.client"),
        files: any JournalFileSystem
    ) throws(CuecastError) {
        self.state = Mutex(
            State(
                settings: try ListenerSettings(configuration, takesPush: transport.takesPush),
                stream: configuration.stream
            )
        )
        self.configuration = configuration
        self.transport = transport
        self.advertisements = advertisements
        self.logger = logger
        self.hub = EventHub(bufferedMax: configuration.eventsBufferedMax)
        self.journal = ListenerJournal(configuration.storage, files: files)
    }

    deinit {
        self.hub.finish()
        self.state.withLock { $0.engine }?.abandon()
    }

    /// Begins to keep what happens from now on, in order, for one reader; to read from the very first event, call it
    /// before ``start()``.
    ///
    /// Each call makes a reader of its own, which is freed when the last reference to the sequence is released. It ends when the
    /// client has stopped, and when the client is dropped.
    public func makeEvents() -> ListenerEvents { self.hub.makeEvents() }

    /// The stream that is heard, or will be at the next ``start()``.
    public var stream: LiveStream { self.state.withLock { $0.stream } }

    /// The session's id, 32 hexadecimal digits, by which the gateway's operator finds what is kept of this listener; `nil` before a
    /// session has begun.
    ///
    /// It is random and says nothing of the device. Each ``start()`` and each ``change(to:)`` begins another session, unless the one
    /// of an app that was ended in the middle goes on (``ListenerTimings/sessionResumeMax``); after ``stop()`` it is still that of the
    /// last one. It is known when ``start()`` has returned, or, where a slow file is still read then, with
    /// ``ListenerEvent/sessionBegan(resumed:)``. ``AcknowledgementStatus/sessionID`` says it of earlier ones.
    ///
    /// Show it to the listener or keep it where the listener may ask to be forgotten (`cuecast forget --session`), and nowhere
    /// else: on a stream that asks for no token, knowing it is enough to speak in the listener's name.
    public var sessionID: String? { self.state.withLock { $0.engine }?.sessionID }

    /// Where the connection to the gateway stands.
    public var connectionState: ConnectionState {
        self.state.withLock { $0.engine }?.connectionState ?? .idle
    }

    /// Why there is no connection while ``connectionState`` is waiting or refused, to be switched on; `nil` otherwise.
    @_spi(Diagnostics) public var connectionLoss: ConnectionLoss? { self.state.withLock { $0.engine }?.connectionLoss }

    /// The time of the gateway's clock now, and the error of this estimate; `nil` before the gateway's first answer in this
    /// session.
    @_spi(Diagnostics) public var gatewayClock: GatewayClockReading? { self.state.withLock { $0.engine }?.gatewayClock }

    /// How many outcomes the gateway has not confirmed yet.
    ///
    /// They are told again when the client is started again; with ``ListenerStorage/file(path:)`` also when the app is.
    public var unconfirmedOutcomes: Int { self.journal.contents.outbox.count }

    /// The outcomes sent or to be sent to the gateway: the last 1,000 that were confirmed or given up, and why, then all that are
    /// pending; each oldest first.
    ///
    /// With ``ListenerStorage/file(path:)`` those of earlier runs of the app are known from the first ``start()`` on.
    @_spi(Diagnostics) public var acknowledgements: [AcknowledgementStatus] { self.journal.contents.acknowledgements }

    /// Begins a session and returns when the advertisements that play before the stream are queued, when there are
    /// none, or after ``ListenerTimings/preStreamWait``.
    ///
    /// It returns also where the gateway cannot be reached: the client goes on trying. A session that is still stopping
    /// is waited for.
    ///
    /// With ``ListenerStorage/file(path:)`` the file is read first, by a thread of its own; the caller's is never held by a
    /// disk. Where that takes longer than ``ListenerTimings/storageWait``, this returns and the session begins by itself when
    /// it is read. Before that no advertisement is handed out and none is current; what the app reports and sets waits and
    /// comes first, in its order. A file that cannot be used costs no advertisement: the session goes on in memory, with
    /// ``ListenerEvent/storageFailed(_:)``.
    ///
    /// - Throws: ``CuecastError/alreadyStarted``; ``CuecastError/advertisementsInUse`` where another client listens with
    ///   the same ``AdvertisementCenter``; ``CuecastError/storageInUse(path:)`` where another client uses the file of the
    ///   configuration.
    public func start() async throws(CuecastError) {
        if let last = self.state.withLock({ $0.engine }) {
            guard last.connectionState == .stopping || last.connectionState == .stopped else { throw .alreadyStarted }
            await last.stopped()
        }
        let engine = try self.makeEngine()
        do throws(CuecastError) {
            // What plays before the stream is not waited for where even the file took too long.
            if try await engine.start() { await engine.preStreamSettled() }
        } catch {
            self.state.withLock { state in
                if state.engine === engine { state.engine = nil }
            }
            throw error
        }
    }

    private func makeEngine() throws(CuecastError) -> ListenerEngine {
        let made: Result<ListenerEngine, CuecastError> = self.state.withLock { state in
            guard state.engine?.isStopped ?? true else { return .failure(.alreadyStarted) }
            var configuration = self.configuration
            configuration.stream = state.stream
            let engine = ListenerEngine(
                settings: state.settings,
                configuration: configuration,
                transport: self.transport,
                center: self.advertisements,
                hub: self.hub,
                journal: self.journal,
                logger: self.logger
            )
            guard self.advertisements.attach(engine) else { return .failure(.advertisementsInUse) }
            state.engine = engine
            return .success(engine)
        }
        return try made.get()
    }

    /// Hears another stream from now on, with the same observers and readers of events.
    ///
    /// Where the client listens, its session ends as by ``stop()`` and another one begins as by ``start()``: what is open of
    /// the old stream gets its outcome, which is told with the old session, also later where the gateway is away; what is
    /// queued is gone. Where it does not listen, the stream is that of the next ``start()``. The stream that is heard already
    /// changes nothing.
    ///
    /// - Throws: ``CuecastError/invalidConfiguration(_:)`` for a stream that cannot be one; else as ``start()``.
    public func change(to stream: LiveStream) async throws(CuecastError) {
        let id = try ListenerSettings.streamID(of: stream)
        let engine: ListenerEngine? = self.state.withLock { state in
            guard state.stream != stream else { return nil }
            state.stream = stream
            state.settings.stream = id
            return state.engine
        }
        guard let engine, engine.connectionState != .stopping, engine.connectionState != .stopped else { return }
        engine.stop(.replaced)
        try await self.start()
    }

    /// Sets the listener's consent, from the next call of a tracking URL on.
    ///
    /// A call that waits keeps the consent string of its event, and is not made where the new consent denies tracking. One
    /// that is under way in this moment is not called back. Without effect where the client has a
    /// ``ListenerConfiguration/consentProvider``.
    public func setConsent(_ consent: ListenerConsent?) {
        let engine = self.state.withLock { state in
            state.settings.consent = consent
            return state.engine
        }
        engine?.set(consent: consent)
    }

    /// Ends the session, soon: what is known of open advertisements is told to the gateway first, for at most
    /// ``ListenerTimings/stopWait``.
    ///
    /// Returns at once and may be called from anywhere, also from within a delegate's methods; ``stopped()`` waits.
    public func stop() {
        self.state.withLock { $0.engine }?.stop()
    }

    /// Returns when the session is over and everything that belonged to it is freed; at once where there is none.
    ///
    /// Within a second of ``stop()`` (``ListenerTimings/stopLimit``), also with a transport or a disk that hangs: then
    /// ``ListenerEvent/stoppedWithout(_:)`` says so. Otherwise all that was to be written is on the disk by then.
    public func stopped() async {
        await self.state.withLock { $0.engine }?.stopped()
    }

    /// The listener hears the stream with this delay from now on: less than 0 counts as 0, more than 1 h as 1 h.
    ///
    /// Breaks that have not begun for the listener move with it. What lies in a part of the programme that is skipped
    /// over is ignored; nothing is played twice.
    public func setDelay(_ delay: Duration) {
        let (engine, delay) = self.state.withLock { state in
            state.settings.setDelay(delay)
            return (state.engine, state.settings.delay.now)
        }
        engine?.changeDelay { $0.set(delay: delay, now: $1) }
    }

    /// The listener hears this instant of the programme now, as the player reads it from the stream (for instance
    /// `EXT-X-PROGRAM-DATE-TIME`, RFC 8216 section 4.3.2.6): instead of a delay, and more exact.
    ///
    /// The programme's time is the gateway's: what the broadcaster's encoder stamps must come from a clock that agrees with
    /// it. From then on the programme goes on at its usual pace; say again after a seek. It counts for the session.
    public func setProgrammeTime(_ time: Date) {
        let microseconds = (time.timeIntervalSince1970 * 1_000_000).rounded()
        guard microseconds.isFinite, abs(microseconds) < 9e18 else { return }
        let timestamp = Timestamp(microseconds: Int64(microseconds))
        self.state.withLock { $0.engine }?.changeDelay { $0.set(programmeTime: timestamp, now: $1) }
    }

    /// The listener has paused the stream: the programme stands still, and the delay grows until
    /// ``resumeProgramme()``.
    ///
    /// For a stream that goes on where it stopped. A player that goes on live needs neither.
    public func pauseProgramme() {
        self.state.withLock { $0.engine }?.changeDelay { $0.pause(now: $1) }
    }

    /// The listener hears the stream again, from where it stopped.
    public func resumeProgramme() {
        self.state.withLock { $0.engine }?.changeDelay { $0.resume(now: $1) }
    }

    /// The app goes to the background, or a phone call comes.
    ///
    /// The connection ends, nothing is handed out and no delegate is called. The advertisement that plays counts as paused.
    /// Acknowledgements wait until ``resume()``. Does nothing where the client does not listen.
    public func suspend() {
        self.state.withLock { $0.engine }?.suspend()
    }

    /// The app is back: the client connects at once and makes up for what was missed; advertisements whose time is over
    /// are ignored as ``IgnoreReason/expired``.
    public func resume() {
        self.state.withLock { $0.engine }?.resume()
    }

    /// The device's network came, went, or is another one: call it from what your system tells of the network.
    ///
    /// With a network, a client that waits to try again tries within ``ListenerTimings/retryDelayFirst``, unless the gateway
    /// asked it to stay away; one that is connected asks the gateway for a sign of life, and connects anew where none comes within
    /// ``ListenerTimings/requestTimeout``. Without one, tries are rare and an open connection is left alone. Transports that
    /// know of the network do this by themselves (``ListenerTransport/watchNetwork(changed:)``). Does nothing where the client
    /// does not listen.
    public func networkChanged(isAvailable: Bool) {
        self.state.withLock { $0.engine }?.networkChanged(isAvailable: isAvailable)
    }
}
