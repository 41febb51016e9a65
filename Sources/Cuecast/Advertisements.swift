// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The advertisements of the stream that is heard: the observers that are told of them, and the queue that holds them.
///
/// ```swift
/// final class Player: AdvertisementDelegate {
///     func onAdvertisementAvailable() { self.playNext() }
///
///     func playNext() {
///         guard let advertisement = advertisements.getAdvertisement() else { return }
///         self.play(advertisement.audioFileURL) { self.playNext() }
///     }
/// }
/// ```
///
/// No method blocks or suspends; all may be called from any thread, and from within a delegate's methods.
public protocol Advertisements: Sendable {
    /// Tells `advertisementDelegate` of advertisements from now on, on the main actor.
    ///
    /// There may be many observers; one object is told once, however often it is added. Objects are held weakly. Values
    /// are held strongly and cannot be removed. Add observers before the stream starts: the very first answer of the
    /// gateway may hold an advertisement. An observer that is added while advertisements are queued is told of them.
    ///
    /// On Linux nothing runs main-actor code while the main thread is blocked, for instance by a semaphore: then no
    /// delegate is ever called, and after 5 s a line in the log says so.
    func addObserver<D: AdvertisementDelegate>(advertisementDelegate: D)

    /// Tells `advertisementDelegate` of advertisements from now on, on the actor `on`.
    func addObserver<D: AdvertisementDelegate & Sendable>(advertisementDelegate: D, on: some Actor)

    /// Tells `advertisementDelegate` no more.
    ///
    /// Called on the actor on which the delegate is told, no call of it follows.
    func removeObserver<D: AdvertisementDelegate>(advertisementDelegate: D)

    /// The next advertisement of the queue, to be played now; `nil` when there is none or another one still plays.
    ///
    /// After a push: get; `nil`: done; play; at its end get again. One push can hold several advertisements, and what is
    /// not fetched stays queued until its break is over.
    func getAdvertisement() -> Advertisement?

    /// The advertisement that plays now: handed out, without an outcome, and not long over; `nil` when none does.
    ///
    /// It stays the player's: what shows its banner takes nothing out of the queue. With ``HandOutMode/manual`` it is the one
    /// whose start was reported last.
    var currentAdvertisement: Advertisement? { get }

    /// Drops what is queued: it cannot be retrieved any more, and is told to the gateway as ignored by the user.
    ///
    /// The advertisement that plays is not affected, nor what is not queued yet.
    func ignoreReceivedAdvertisements()

    /// The listener opened the banner of `advertisement` while hearing `stream`.
    ///
    /// The trackers `bannerClick` are called; where the advertisement has no banner it is the same as
    /// ``onAdvertisementClicked(_:advertisement:)``.
    ///
    /// Call it before the advertisement's outcome is concluded, and the outcome says ``AdvertisementOutcome/clicked``: that is
    /// how the gateway counts it, once however often it is called. A click that comes later, or of an advertisement whose
    /// outcome stays unknown, is an event and a call of the tracking URL all the same, but not in the gateway's counts.
    func onAdBannerClicked(_ stream: LiveStream, advertisement: Advertisement)

    /// The listener acted on `advertisement` itself, for instance on a button that opens
    /// ``Advertisement/clickThroughURL``, while hearing `stream`.
    ///
    /// The trackers `clickTracking` are called. It counts like a click on the banner: once, and where it comes before the
    /// outcome is concluded.
    func onAdvertisementClicked(_ stream: LiveStream, advertisement: Advertisement)

    /// The listener saw the banner of `advertisement` while hearing `stream`: at least half of it was visible.
    ///
    /// The trackers `bannerView` are called, once for the advertisement however often its banner is shown. Views that
    /// `AdPresentation` shows tell it by themselves.
    func onAdBannerShown(_ stream: LiveStream, advertisement: Advertisement)

    /// Tells what happens to an advertisement that was handed out.
    ///
    /// Reports are optional: without them the outcome is inferred from the time that passes. ``AdvertisementReport/completed``,
    /// ``AdvertisementReport/skipped`` and ``AdvertisementReport/failed(vastError:)`` close the advertisement; what is
    /// reported after that is refused, with an event.
    func report(_ report: AdvertisementReport, for advertisement: Advertisement)
}

/// Is told of advertisements.
public protocol AdvertisementDelegate {
    /// A new number of advertisements is available: the listener hears the start of their break now.
    func onAdvertisementAvailable()

    /// Advertisements that were available will not be played (any further): the break was cancelled or ended.
    ///
    /// Where `withdrawal.current` plays, stop it at `withdrawal.stopAt`. Called again where that moves: the latest counts.
    /// Does nothing by default.
    func onAdvertisementsWithdrawn(_ withdrawal: AdvertisementWithdrawal)
}

extension AdvertisementDelegate {
    /// Does nothing.
    public func onAdvertisementsWithdrawn(_ withdrawal: AdvertisementWithdrawal) {}
}
