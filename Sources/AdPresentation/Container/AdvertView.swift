// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Foundation
internal import Logging

#if canImport(UIKit) && !os(watchOS)
public import UIKit
#elseif canImport(AppKit)
public import AppKit
#endif

/// A container that loads one advertisement and shows it.
///
/// ```swift
/// let advert = AdvertView(
///     frame: CGRect(x: 0, y: 0, width: 320, height: 100),
///     contextFeedID: "radio1/sidebar",
///     source: GatewayBannerSource(client.advertisements, stream: LiveStream(id: "radio1"))
/// )
/// advert.delegate = self
/// advert.loadAd()
///
/// func didChangeStatus(advertView: AdvertView, status: AdvertStatus) {
///     if let height = advertView.contentHeight { advertView.frame.size.height = height }
/// }
/// ```
///
/// The status is `created` to begin with, of which nobody is told. ``loadAd()`` and ``stop()`` may be called at any time.
@MainActor
public final class AdvertView: PlatformView {
    /// Which advertisement: a stream's id, or `stream/placement`.
    ///
    /// A change counts for the next ``loadAd()``.
    public var contextFeedID: String
    /// What surrounds the advertisement, for instance the address of an article.
    ///
    /// A change counts for the next ``loadAd()``.
    public var context: String?
    /// Who is told of the status; held weakly.
    public weak var delegate: (any AdvertDelegate)?

    private let source: any AdContentSource
    private let renderer: any AdRenderer
    /// What the renderer draws in.
    ///
    /// The view itself is not given away, so that it can be freed while content loads.
    private let canvas: PlatformView
    private var machine = AdvertStateMachine()
    private var loading: Task<Void, Never>?

    /// A container with nothing loaded.
    ///
    /// - Parameters:
    ///   - frame: where it is; content may show in it before its height is known.
    ///   - contextFeedID: which advertisement: a stream's id, or `stream/placement`.
    ///   - context: what surrounds it, for instance the address of an article.
    ///   - source: where the content comes from; `nil`: it is the banner of the advertisement of `Mycrocast.shared` that
    ///     plays.
    ///   - renderer: what shows it; `nil`: what suits the system. It serves this container only.
    ///   - delegate: who is told of the status; held weakly.
    public init(
        frame: CGRect = .zero,
        contextFeedID: String,
        context: String? = nil,
        source: (any AdContentSource)? = nil,
        renderer: (any AdRenderer)? = nil,
        delegate: (any AdvertDelegate)? = nil
    ) {
        self.contextFeedID = contextFeedID
        self.context = context
        self.source = source ?? GatewayBannerSource()
        self.delegate = delegate
        self.renderer = renderer ?? AdRendering.makeDefault()
        self.canvas = PlatformView(frame: CGRect(origin: .zero, size: frame.size))
        super.init(frame: frame)
        self.addSubview(self.canvas)
    }

    #if (canImport(UIKit) && !os(watchOS)) || canImport(AppKit)
    /// Containers are not archived.
    @available(*, unavailable, message: "A container is made with its source.")
    public required init?(coder: NSCoder) {
        nil
    }
    #endif

    deinit { self.loading?.cancel() }

    /// How far the view is.
    public var status: AdvertStatus { self.machine.status }

    /// The height of the content in points; `nil` until it is rendered.
    public var contentHeight: CGFloat? { self.machine.contentHeight }

    /// Loads the advertisement, or loads it anew: what an earlier load would still bring is dropped.
    ///
    /// The status is `loading` when this returns, or `failed(.invalidRequest)` where no request can be made.
    public func loadAd() {
        self.loading?.cancel()
        self.renderer.clear(self.canvas)
        let settings = AdvertSettings.shared
        guard let feed = ContextFeed(self.contextFeedID) else {
            self.take(.refuse, settings)
            return
        }
        let request = AdvertRequest(feed: feed, context: self.context, settings: settings)
        guard self.source.canRequest(request) else {
            self.take(.refuse, settings)
            return
        }
        let load = self.machine.load + 1
        self.take(.load, settings)
        // The delegate may have stopped it, or begun another load.
        guard self.machine.load == load else { return }
        self.canvas.frame = CGRect(origin: .zero, size: self.frame.size)
        self.loading = Task(name: "Advert view") { [source, renderer, canvas, weak self] in
            do {
                try Task.checkCancellation()
                let content = try await source.content(for: request)
                guard self?.take(.arrived(load: load), settings) == true, self?.machine.load == load else { return }
                let height = try await renderer.render(content, in: canvas)
                guard height.isFinite, height >= 0 else { throw AdContentError.unreadableImage }
                self?.show(load: load, height: height, settings)
            } catch {
                self?.take(.failed(load: load, AdvertError(of: error)), settings)
            }
        }
    }

    /// Stops loading and shows nothing: the view is as it was created, and its delegate is told.
    ///
    /// Where nothing was loaded nothing happens.
    public func stop() {
        self.loading?.cancel()
        self.renderer.clear(self.canvas)
        self.take(.stop, AdvertSettings.shared)
    }

    /// Returns when the latest load is over, in whichever way.
    public func settled() async {
        await self.loading?.value
    }

    private func show(load: Int, height: CGFloat, _ settings: AdvertSettings) {
        if load == self.machine.load { self.canvas.frame.size.height = height }
        self.take(.shown(load: load, height: height), settings)
    }

    @discardableResult
    private func take(_ event: AdvertStateMachine.Event, _ settings: AdvertSettings) -> Bool {
        guard self.machine.take(event) else { return false }
        let status = self.status
        if settings.loggingEnabled {
            var metadata: Logger.Metadata = ["feed": "\(self.contextFeedID)", "status": "\(status.kind.rawValue)"]
            if case .failed(let error) = status { metadata["error"] = "\(error)" }
            settings.logger.log(
                level: status.kind == .failed ? .warning : .debug,
                "The status of an advert view changed.",
                metadata: metadata
            )
        }
        self.delegate?.didChangeStatus(advertView: self, status: status)
        return true
    }
}

/// The name under which older apps know ``AdvertView``.
public typealias DianomiAdvertView = AdvertView

extension AdvertError {
    /// What a source or a renderer threw; the cause is kept.
    fileprivate init(of error: any Error) {
        self = (error as? AdvertError) ?? .loadingError(error)
    }
}
