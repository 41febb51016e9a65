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
    }

    /// The observers and the queue.
    public let advertisements: AdvertisementCenter
    /// What the client was made with.
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
    ///   - transport: what carries the frames.
    ///   - advertisements: the observers, where they are to outlive this client.
    ///   - logger: where a few lines go about losing and finding the gateway.
    /// - Throws: ``CuecastError/invalidConfiguration(_:)`` with the rule that was broken.
    public init(
        configuration: ListenerConfiguration,
        transport: any ListenerTransport,
        advertisements: AdvertisementCenter = AdvertisementCenter(),
        logger: Logger = Logger(label: "cuecast.client")
    ) throws(CuecastError) {
        self.state = Mutex(State(settings: try ListenerSettings(configuration)))
        self.configuration = configuration
        self.transport = transport
        self.advertisements = advertisements
        self.logger = logger
        self.hub = EventHub(bufferedMax: configuration.eventsBufferedMax)
        self.journal = ListenerJournal(configuration.storage)
    }

    /// What happens from now on, in order; to read from the very first event, take it before ``start()``.
    public var events: ListenerEvents { self.hub.makeEvents() }

    /// Where the connection to the gateway stands.
    public var connectionState: ConnectionState {
        self.state.withLock { $0.engine }?.connectionState ?? .idle
    }

    /// What the gateway's clock shows now, and how wrong that can be; `nil` before it answered for the first time in this
    /// session.
    public var gatewayClock: GatewayClockReading? { self.state.withLock { $0.engine }?.gatewayClock }

    /// How many outcomes the gateway has not confirmed yet.
    ///
    /// They are told again when the client is started again; with ``ListenerStorage/file(path:)`` also when the app is.
    public var unconfirmedOutcomes: Int { self.journal.contents.outbox.count }

    /// What was told to the gateway or is to be told: the last 1,000 outcomes that were confirmed or given up, and why,
    /// then all that are pending; each oldest first.
    ///
    /// With ``ListenerStorage/file(path:)`` those of earlier runs of the app are known from the first ``start()`` on.
    public var acknowledgements: [AcknowledgementStatus] { self.journal.contents.acknowledgements }

    /// Begins a session and returns when the advertisements that play before the stream are queued, when there are
    /// none, or after ``ListenerTimings/preStreamWait``.
    ///
    /// It returns also where the gateway cannot be reached: the client goes on trying. A session that is still stopping
    /// is waited for.
    ///
    /// - Throws: ``CuecastError/alreadyStarted``; ``CuecastError/advertisementsInUse`` where another client listens with
    ///   the same ``AdvertisementCenter``; ``CuecastError/storageInUse(path:)`` and
    ///   ``CuecastError/storageUnavailable(path:reason:)`` where the file of the configuration cannot be used.
    public func start() async throws(CuecastError) {
        if let last = self.state.withLock({ $0.engine }) {
            guard last.connectionState == .stopping || last.connectionState == .stopped else { throw .alreadyStarted }
            await last.stopped()
        }
        let engine = try self.makeEngine()
        engine.start()
        await engine.preStreamSettled()
    }

    private func makeEngine() throws(CuecastError) -> ListenerEngine {
        let made: Result<ListenerEngine, CuecastError> = self.state.withLock { state in
            guard state.engine?.isStopped ?? true else { return .failure(.alreadyStarted) }
            do throws(CuecastError) {
                let damaged = try self.journal.open()
                if damaged > 0 {
                    self.logger.warning(
                        "The session's file was damaged: what could not be read is lost",
                        metadata: ["places": "\(damaged)"]
                    )
                    self.hub.send(.storageFailed("\(damaged) places of the file could not be read"))
                }
            } catch {
                return .failure(error)
            }
            let engine = ListenerEngine(
                settings: state.settings,
                configuration: self.configuration,
                transport: self.transport,
                center: self.advertisements,
                hub: self.hub,
                journal: self.journal,
                logger: self.logger
            )
            guard self.advertisements.attach(engine) else {
                self.journal.close()
                return .failure(.advertisementsInUse)
            }
            state.engine = engine
            return .success(engine)
        }
        return try made.get()
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
    /// Within a second of ``stop()``, with a transport that keeps its promises.
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
        engine?.hear { $0.set(delay: delay, now: $1) }
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
        self.state.withLock { $0.engine }?.hear { $0.set(programmeTime: timestamp, now: $1) }
    }

    /// The listener has paused the stream: the programme stands still, and the delay grows until
    /// ``resumeProgramme()``.
    ///
    /// For a stream that goes on where it stopped. A player that goes on live needs neither.
    public func pauseProgramme() {
        self.state.withLock { $0.engine }?.hear { $0.pause(now: $1) }
    }

    /// The listener hears the stream again, from where it stopped.
    public func resumeProgramme() {
        self.state.withLock { $0.engine }?.hear { $0.resume(now: $1) }
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
}
