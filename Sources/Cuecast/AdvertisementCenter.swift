// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization

/// The advertisements of one client, or of one client after another: observers stay when the stream changes.
public final class AdvertisementCenter: Advertisements {
    private struct State {
        var observers: [Observer] = []
        weak var engine: ListenerEngine?

        mutating func forgetDeadObservers() {
            self.observers.removeAll { !$0.isAlive }
        }
    }

    /// The center of apps that reach their advertisements from everywhere.
    ///
    /// Give it to the client; without such a client its queue is empty.
    public static let shared = AdvertisementCenter()

    private let state = Mutex(State())

    /// A center without observers, to be given to a client.
    public init() {}

    /// Tells `advertisementDelegate` of advertisements from now on, on the main actor.
    public func addObserver<D: AdvertisementDelegate>(advertisementDelegate: D) {
        self.add(Observer(advertisementDelegate, on: MainActor.shared), for: advertisementDelegate)
    }

    /// Tells `advertisementDelegate` of advertisements from now on, on the actor `on`.
    public func addObserver<D: AdvertisementDelegate & Sendable>(advertisementDelegate: D, on: some Actor) {
        self.add(Observer(advertisementDelegate, on: on), for: advertisementDelegate)
    }

    private func add<D: AdvertisementDelegate>(_ observer: Observer, for delegate: D) {
        let isAdded = self.state.withLock { state in
            state.forgetDeadObservers()
            if observer.objectID != nil, state.observers.contains(where: { $0.holds(delegate) }) { return false }
            state.observers.append(observer)
            return true
        }
        if isAdded, self.isWaitingForApp { self.tell(.stillAvailable, to: [observer]) }
    }

    /// Tells `advertisementDelegate` no more.
    public func removeObserver<D: AdvertisementDelegate>(advertisementDelegate: D) {
        let removed = self.state.withLock { state in
            state.forgetDeadObservers()
            let removed = state.observers.filter { $0.holds(advertisementDelegate) }
            state.observers.removeAll { observer in removed.contains { $0 === observer } }
            return removed
        }
        for observer in removed { observer.cancel() }
    }

    /// The next advertisement of the queue, to be played now; `nil` when there is none or another one still plays.
    public func getAdvertisement() -> Advertisement? {
        self.engine?.nextAdvertisement()
    }

    /// The advertisement that plays now; `nil` when none does.
    public var currentAdvertisement: Advertisement? { self.engine?.currentAdvertisement }

    /// The next advertisement of the queue, to be shown and not to be heard: of it only reports count.
    package func advertisementToShow() -> Advertisement? {
        self.engine?.nextAdvertisement(isShown: true)
    }

    /// Drops what is queued.
    public func ignoreReceivedAdvertisements() {
        self.engine?.ignoreAll()
    }

    /// The listener opened the banner of `advertisement` while hearing `stream`.
    public func onAdBannerClicked(_ stream: LiveStream, advertisement: Advertisement) {
        self.engine?.bannerClicked(stream, advertisement)
    }

    /// The listener acted on `advertisement` itself while hearing `stream`.
    public func onAdvertisementClicked(_ stream: LiveStream, advertisement: Advertisement) {
        self.engine?.advertisementClicked(stream, advertisement)
    }

    /// The listener saw the banner of `advertisement` while hearing `stream`.
    public func onAdBannerShown(_ stream: LiveStream, advertisement: Advertisement) {
        self.engine?.bannerShown(stream, advertisement)
    }

    /// Tells what happens to an advertisement that was handed out.
    public func report(_ report: AdvertisementReport, for advertisement: Advertisement) {
        self.engine?.report(report, advertisement)
    }

    // MARK: The client's side

    var engine: ListenerEngine? { self.state.withLock { $0.engine } }

    private var isWaitingForApp: Bool { self.engine?.isWaitingForApp ?? false }

    /// Connects the queue of a session that begins.
    ///
    /// - Returns: `false` where another session goes on.
    func attach(_ engine: ListenerEngine) -> Bool {
        self.state.withLock { state in
            guard state.engine == nil || state.engine === engine else { return false }
            state.engine = engine
            return true
        }
    }

    /// The session is over.
    func detach(_ engine: ListenerEngine) {
        self.state.withLock { state in
            if state.engine === engine { state.engine = nil }
        }
    }

    func tell(_ call: DelegateCall) {
        let observers = self.state.withLock { state in
            state.forgetDeadObservers()
            return state.observers
        }
        self.tell(call, to: observers)
    }

    /// How many are told, with those whose object is gone since this was last changed or used.
    var observerCount: Int { self.state.withLock { $0.observers.count } }

    private func tell(_ call: DelegateCall, to observers: [Observer]) {
        for observer in observers {
            observer.tell(call) { [weak self, weak observer] in
                guard let self, let observer else { return }
                self.state.withLock { state in state.observers.removeAll { $0 === observer } }
            } isWanted: { [weak self] in
                call != .stillAvailable || self?.isWaitingForApp ?? false
            }
        }
    }

    /// When the call was made that has been waiting longest for the main actor.
    var oldestCallOnMainActor: ContinuousClock.Instant? {
        self.state.withLock { $0.observers }.compactMap(\.waitingOnMainActorSince).min()
    }
}
