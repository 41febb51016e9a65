// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Foundation

/// The app's side as the conformance kit plays it: it keeps the first broken rule, and lets flows wait.
@MainActor
final class ConformanceProbe: AdViewProtocol {
    private(set) var flow: AdFlow
    /// The first rule that was broken; what comes after it tells nothing.
    private(set) var broken: (rule: AdRule, seen: String)?
    private(set) var view: PlatformView?
    private(set) var error: (any Error)?
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(_ adType: AdType) {
        self.flow = AdFlow(adType)
    }

    func adLoaded(view: PlatformView?) {
        self.take(.adLoaded(hasView: view != nil))
        self.view = self.view ?? view
    }

    func stateChanged(adViewState: AdViewState) {
        self.take(.state(adViewState, isVisible: self.view.map { Visibility.isImpressed($0) } ?? false))
    }

    func adLoadFailed(error: any Error) {
        self.error = self.error ?? error
        self.take(.adLoadFailed)
    }

    private func take(_ report: AdFlow.Report) {
        let (phase, state) = (self.flow.phase, self.flow.state)
        if self.broken == nil, let rule = self.flow.take(report) {
            self.broken = (rule, "\(report) while the advertisement was .\(state) (\(phase))")
        }
        self.wake()
    }

    /// Calls `load` of the presenter.
    func load(_ presenter: any AdPresenterProtocol, _ config: AdConfig) {
        // A probe is used for one load; where the flow refuses, the next report is a finding.
        try? self.flow.load()
        presenter.load(adConfig: config)
    }

    /// Calls `showInterstitial` of the presenter.
    func show(_ presenter: any AdPresenterProtocol) {
        try? self.flow.show()
        presenter.showInterstitial()
    }

    /// Waits until `isDone`, a rule is broken or the time is over.
    ///
    /// - Returns: whether it is done and no rule is broken.
    func wait(atMost limit: Duration, until isDone: (ConformanceProbe) -> Bool) async -> Bool {
        let deadline = ContinuousClock.now + limit
        let alarm = Task(name: "Conformance alarm") {
            try? await Task.sleep(until: deadline)
            self.wake()
        }
        while self.broken == nil, !isDone(self), ContinuousClock.now < deadline {
            await withCheckedContinuation { self.waiters.append($0) }
        }
        alarm.cancel()
        await alarm.value
        return self.broken == nil && isDone(self)
    }

    /// Waits a while for reports that must not come.
    ///
    /// - Returns: whether none broke a rule.
    func stayQuiet(for time: Duration) async -> Bool {
        _ = await self.wait(atMost: time) { _ in false }
        return self.broken == nil
    }

    private func wake() {
        let waiters = self.waiters
        self.waiters = []
        for waiter in waiters { waiter.resume() }
    }
}
