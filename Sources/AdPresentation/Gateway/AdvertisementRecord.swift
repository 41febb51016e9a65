// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Cuecast
internal import Synchronization

/// The reports to the gateway about one advertisement that a presenter shows.
///
/// Where it is heard too, that it was seen and clicked only: its outcome comes from the player.
///
/// It closes itself when it is dropped, so that nothing that was handed out is left without an outcome.
final class AdvertisementRecord: Sendable {
    private struct State {
        var impressedAt: ContinuousClock.Instant?
        var isOver = false
    }

    let advertisement: Advertisement
    private let isHeard: Bool
    private let stream: LiveStream
    private let advertisements: any Advertisements
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    init(
        _ advertisement: Advertisement,
        isHeard: Bool,
        of stream: LiveStream,
        in advertisements: any Advertisements,
        now: @escaping @Sendable () -> ContinuousClock.Instant
    ) {
        self.advertisement = advertisement
        self.isHeard = isHeard
        self.stream = stream
        self.advertisements = advertisements
        self.now = now
    }

    deinit { self.closed() }

    func impressed() {
        let now = self.now()
        let isFirst = self.state.withLock { state in
            guard !state.isOver, state.impressedAt == nil else { return false }
            state.impressedAt = now
            return true
        }
        guard isFirst else { return }
        if !self.isHeard { self.advertisements.report(.started, for: self.advertisement) }
        self.advertisements.onAdBannerShown(self.stream, advertisement: self.advertisement)
    }

    func clicked() {
        self.advertisements.onAdBannerClicked(self.stream, advertisement: self.advertisement)
    }

    func failed(_ error: any Error) {
        self.end { _ in .failed(vastError: Self.vastError(for: error)) }
    }

    /// Completed if it was shown for its duration, skipped if for less; failed if it was never shown.
    func closed() {
        let now = self.now()
        let duration = self.advertisement.exactDuration
        self.end { impressedAt in
            guard let impressedAt else { return .failed(vastError: VASTError.notDisplayed) }
            return impressedAt.duration(to: now) >= duration ? .completed : .skipped
        }
    }

    private func end(_ report: (ContinuousClock.Instant?) -> AdvertisementReport) {
        let (isFirst, impressedAt) = self.state.withLock { state in
            defer { state.isOver = true }
            return (!state.isOver, state.impressedAt)
        }
        if isFirst, !self.isHeard { self.advertisements.report(report(impressedAt), for: self.advertisement) }
    }

    /// The codes of VAST 4.3, section 2.3.6.3, that a banner can end with: a banner is a companion.
    enum VASTError {
        /// No display within the time that there was.
        static let notDisplayed = 304
        /// General companion error: there is none.
        static let companion = 600
        /// The companion could not be shown.
        static let companionNotShown = 602
        /// The companion could not be fetched.
        static let companionNotFetched = 603
        /// No companion of a type that can be shown.
        static let companionNotSupported = 604
    }

    static func vastError(for error: any Error) -> Int {
        guard let error = error as? AdContentError else { return VASTError.companionNotShown }
        return switch error {
        case .invalidURL, .unreachable, .timedOut, .status, .tooLarge: VASTError.companionNotFetched
        case .mediaType, .unreadableImage: VASTError.companionNotSupported
        case .noAdvertisement, .noBanner: VASTError.companion
        }
    }
}
