// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The app's calls.
extension ListenerEngine {
    func nextAdvertisement(isShown: Bool = false) -> Advertisement? {
        self.step { $0.nextAdvertisement(now: $1, isShown: isShown) } ?? nil
    }

    var currentAdvertisement: Advertisement? {
        self.step { core, _ in core.isRunning ? core.queue.current : nil } ?? nil
    }

    func ignoreAll() { self.call { $0.ignoreAll(now: $1) } }

    func changeDelay(_ change: @escaping @Sendable (inout PlaybackDelay, LocalInstant) -> Void) {
        self.call { core, now in core.changeDelay(now: now) { change(&$0, now) } }
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
}
