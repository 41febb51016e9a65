// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Foundation

#if canImport(UIKit) && !os(watchOS)
public import UIKit
#elseif canImport(AppKit)
public import AppKit
#endif

/// Is told what becomes of the advertisement of an ``AdPresentationSession``.
@MainActor
public protocol AdPresentationDelegate: AnyObject {
    /// The advertisement is in another state. `.failed` comes only when no provider is left to try.
    func adPresentation(_ session: AdPresentationSession, didChangeState state: AdViewState)

    /// The provider with this name failed; the next one is tried, where there is one.
    func adPresentation(_ session: AdPresentationSession, provider: String, didFail error: any Error)

    /// A provider broke a rule; what it reported was refused.
    func adPresentation(_ session: AdPresentationSession, didRefuse violation: AdOrderViolation)
}

extension AdPresentationDelegate {
    /// Does nothing.
    public func adPresentation(_ session: AdPresentationSession, provider: String, didFail error: any Error) {}

    /// Does nothing.
    public func adPresentation(_ session: AdPresentationSession, didRefuse violation: AdOrderViolation) {}
}

/// Why a provider was given up without an answer of its own.
@nonexhaustive
public enum AdLoadError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
    /// No provider is registered.
    case noProvider
    /// The provider did not answer within this time.
    case noAnswer(after: Duration)
    /// The view controller to present from lives no more.
    case noParent
    /// The provider did not say why it failed.
    case unknown

    /// One sentence for people.
    public var description: String {
        switch self {
        case .unknown: "The provider did not say why it failed."
        case .noProvider: "No provider of advertisements is registered."
        case .noAnswer(let time): "The provider did not answer within \(time)."
        case .noParent: "The view controller to present from lives no more."
        }
    }

    /// The same sentence.
    public var errorDescription: String? { self.description }
}

/// One place for an advertisement in an app: asks one provider after the other until one has an advertisement, and keeps
/// both sides to the order of calls.
///
/// ```swift
/// let session = AdPresentationSession(
///     adConfig: AdConfig(adUnitID: "radio1/home", inlineBannerSize: "BANNER"),
///     parentVC: self,
///     container: self.bannerContainer
/// )
/// session.delegate = self
/// session.load()
/// ```
///
/// Each load asks fresh instances of the providers, and each provider makes a presenter for this one advertisement.
@MainActor
public final class AdPresentationSession {
    /// The object that is told; held weakly.
    public weak var delegate: (any AdPresentationDelegate)?
    /// The configuration of the load.
    public let adConfig: AdConfig
    /// How long a provider may take to answer before the next one is tried; 30 s.
    public var answerWaitMax: Duration = .seconds(30)
    /// How far the advertisement is.
    public private(set) var state = AdViewState.uninitialized
    /// The app's side of the provider that is asked or was taken; `nil` before the load and when all have failed.
    private(set) var host: AdHost?

    private let manager: AdvertisementManager
    private weak var parentVC: PlatformViewController?
    private weak var container: PlatformView?
    private var plugin: (any AdPluginProtocol)?
    private var index = 0
    /// The number of the load; what belongs to an earlier one is dropped.
    private var round = 0
    private var deadline: Task<Void, Never>?

    /// A session that has loaded nothing.
    ///
    /// - Parameters:
    ///   - adConfig: the configuration of the load.
    ///   - parentVC: presents what covers the screen; held weakly.
    ///   - container: the view that a banner is put into; held weakly. `nil`: the app takes it from ``adView``.
    ///   - manager: the providers, in the order in which they are tried.
    public init(
        adConfig: AdConfig,
        parentVC: PlatformViewController,
        container: PlatformView? = nil,
        manager: AdvertisementManager = .shared
    ) {
        self.adConfig = adConfig
        self.parentVC = parentVC
        self.container = container
        self.manager = manager
    }

    deinit { self.deadline?.cancel() }

    /// The name of the provider that is asked or was taken, for analytics and reports; `nil`: none.
    public var providerName: String? { self.host?.providerName }

    /// The provider's view of a banner; `nil` before it is loaded, and for interstitials.
    public var adView: PlatformView? { self.host?.adView }

    /// The size of the banner in points; zero where there is none.
    public var size: CGSize { self.host?.size ?? .zero }

    /// Loads an advertisement, or another one in place of the one that is there.
    public func load() {
        self.drop()
        self.round += 1
        self.index = 0
        self.state = .uninitialized
        self.tryNext()
    }

    /// Shows the interstitial.
    ///
    /// - Throws: why it is not its time; then nothing has changed, and the presenter was not called.
    public func showInterstitial() throws(AdOrderError) {
        guard self.adConfig.adType == .interstitial else { throw .notAnInterstitial }
        guard let host = self.host else { throw .notLoaded(self.state) }
        guard self.parentVC != nil else { throw .noParent }
        try host.showInterstitial()
    }

    /// Ends the advertisement: its presenter closes it, where it can, and is dropped.
    ///
    /// One that was loaded is `.closed` then.
    public func close() {
        let round = self.round
        self.host?.close()
        guard round == self.round else { return }
        self.round += 1
        self.drop()
        switch self.state {
        case .loaded, .impressed, .clicked: self.change(to: .closed)
        case .loading: self.state = .uninitialized
        case .uninitialized, .failed, .closed: break
        }
    }

    /// The user pulled to refresh: loads anew if the provider wants that.
    ///
    /// - Returns: whether it does.
    @discardableResult
    public func pulledToRefresh() -> Bool {
        self.reload { $0.reloadOnPullToRefresh() }
    }

    /// The screen appeared again: loads anew if the provider wants that.
    ///
    /// - Returns: whether it does.
    @discardableResult
    public func didAppear() -> Bool {
        self.reload { $0.reloadOnDidAppear() }
    }

    private func reload(_ isWanted: (any AdPluginRefreshProtocol) -> Bool) -> Bool {
        guard let plugin = self.plugin as? any AdPluginRefreshProtocol, isWanted(plugin) else { return false }
        self.load()
        return true
    }

    // MARK: One provider after the other

    private func tryNext() {
        guard let parentVC = self.parentVC else { return self.giveUp(AdLoadError.noParent) }
        guard let plugin = self.manager.makePlugin(at: self.index) else {
            return self.giveUp(self.index == 0 ? AdLoadError.noProvider : nil)
        }
        self.index += 1
        self.plugin = plugin
        let host = self.makeHost(provider: plugin.providerName())
        self.host = host
        self.startDeadline(for: host)
        do throws(AdOrderError) {
            try host.load(with: plugin, parentVC: parentVC)
        } catch {
            // A host is new, so that it can be loaded.
            self.failed(host, error)
        }
    }

    private func makeHost(provider: String) -> AdHost {
        switch self.adConfig.adType {
        case .inlineBanner:
            InlineBannerHost(self.adConfig, provider: provider, container: self.container, observer: self)
        case .screenBanner:
            ScreenBannerHost(self.adConfig, provider: provider, container: self.container, observer: self)
        case .interstitial:
            InterstitialHost(self.adConfig, provider: provider, container: nil, observer: self)
        }
    }

    private func startDeadline(for host: AdHost) {
        let wait = self.answerWaitMax
        self.deadline?.cancel()
        self.deadline = Task(name: "Ad provider deadline") { [weak self, weak host] in
            guard (try? await Task.sleep(for: wait)) != nil, let self, let host else { return }
            self.failed(host, AdLoadError.noAnswer(after: wait))
        }
    }

    /// The provider of `host` has no advertisement: the next one is tried.
    private func failed(_ host: AdHost, _ error: any Error) {
        guard host === self.host else { return }
        let round = self.round
        self.drop()
        self.delegate?.adPresentation(self, provider: host.providerName, didFail: error)
        guard round == self.round, self.host == nil else { return }
        self.tryNext()
    }

    private func giveUp(_ error: AdLoadError?) {
        let round = self.round
        if let error { self.delegate?.adPresentation(self, provider: "", didFail: error) }
        guard round == self.round else { return }
        self.change(to: .failed)
    }

    private func drop() {
        self.deadline?.cancel()
        self.deadline = nil
        let host = self.host
        self.host = nil
        host?.discard()
    }

    private func change(to state: AdViewState) {
        guard state != self.state || state == .clicked else { return }
        self.state = state
        self.delegate?.adPresentation(self, didChangeState: state)
    }
}

extension AdPresentationSession: AdHostObserver {
    func host(_ host: AdHost, changedTo state: AdViewState) {
        guard host === self.host else { return }
        switch state {
        case .failed: self.failed(host, host.error ?? AdLoadError.unknown)
        case .loaded:
            self.deadline?.cancel()
            self.deadline = nil
            self.change(to: .loaded)
        default: self.change(to: state)
        }
    }

    func host(_ host: AdHost, refused violation: AdOrderViolation) {
        self.delegate?.adPresentation(self, didRefuse: violation)
    }
}
