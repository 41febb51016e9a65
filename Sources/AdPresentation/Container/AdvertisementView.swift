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
/// let banner = AdvertisementView(
///     frame: CGRect(x: 0, y: 0, width: 320, height: 100),
///     contextFeedID: "radio1/sidebar",
///     source: GatewayBannerSource(client.advertisements, stream: LiveStream(id: "radio1"))
/// )
/// banner.delegate = self
/// banner.loadAd()
///
/// func didChangeStatus(advertisementView: AdvertisementView, status: AdvertisementStatus) {
///     if let height = advertisementView.contentHeight { advertisementView.frame.size.height = height }
/// }
/// ```
///
/// The status is `created` to begin with, which is not reported. ``loadAd()`` and ``stop()`` may be called at any time.
///
/// When the user acts on the content, what it leads to opens (``ClickThroughHandling``), and the source is told. The content
/// is always as wide as the view, also after the view was resized; its height may change with that.
///
/// Interface Builder can make it: give a view this class and set ``contextFeedID`` there. A layout with constraints gets the
/// height of the content as the intrinsic one.
@MainActor
open class AdvertisementView: PlatformView {
    /// How often the height of one load's content may change after it was rendered, while the width stays the same.
    ///
    /// Further changes are not taken: content that is always higher than its view would have no end.
    static let heightChangesMax = 64

    /// Which advertisement: a stream's id, or `stream/placement`.
    ///
    /// A change counts for the next ``loadAd()``.
    #if canImport(ObjectiveC)
    @IBInspectable
    #endif
    public var contextFeedID: String
    /// The context of the advertisement, for instance the address of an article.
    ///
    /// A change counts for the next ``loadAd()``.
    #if canImport(ObjectiveC)
    @IBInspectable
    #endif
    public var context: String?
    /// The object that is told of the status; held weakly.
    public weak var delegate: (any AdvertisementViewDelegate)?
    /// Where the content comes from.
    ///
    /// A change counts for the next ``loadAd()``.
    public var source: any AdContentSource
    /// The renderer of the content; it serves this container only.
    ///
    /// A change counts for the next ``loadAd()``.
    public var renderer: any AdRenderer
    /// The handling of a user's action on the content; `nil`: as in ``AdvertisementSettings/clickThroughs``.
    public var clickThroughs: ClickThroughHandling?

    /// The content that is shown, or about to be.
    private struct Shown {
        let content: AdContent
        let request: AdvertisementRequest
        let source: any AdContentSource
    }

    /// The renderer of the latest load.
    private var active: any AdRenderer
    private var shown: Shown?
    private var tracker: ImpressionTracker?
    private var taps: TapWatch?
    /// The width that the content was shown in.
    private var contentWidth: CGFloat = 0
    private var heightChanges = 0
    /// A height that was told before the view was rendered.
    private var earlyHeight: CGFloat?
    /// The view in which the renderer draws.
    ///
    /// The view itself is not given away, so that it can be freed while content loads.
    private let canvas: PlatformView
    private var machine = AdvertisementStateMachine()
    private var loading: Task<Void, Never>?

    /// A container with nothing loaded.
    ///
    /// - Parameters:
    ///   - frame: where it is; content may show in it before its height is known.
    ///   - contextFeedID: which advertisement: a stream's id, or `stream/placement`.
    ///   - context: the content around it, for instance the address of an article.
    ///   - source: where the content comes from; `nil`: it is the banner of the advertisement of `AdvertisementCenter.shared` that
    ///     plays.
    ///   - renderer: shows it; `nil`: the default of the system. It serves this container only.
    ///   - delegate: the object that is told of the status; held weakly.
    public init(
        frame: CGRect = .zero,
        contextFeedID: String,
        context: String? = nil,
        source: (any AdContentSource)? = nil,
        renderer: (any AdRenderer)? = nil,
        delegate: (any AdvertisementViewDelegate)? = nil
    ) {
        self.contextFeedID = contextFeedID
        self.context = context
        self.source = source ?? GatewayBannerSource()
        self.delegate = delegate
        self.renderer = renderer ?? AdRendering.makeDefault()
        self.active = self.renderer
        self.canvas = PlatformView(frame: CGRect(origin: .zero, size: frame.size))
        super.init(frame: frame)
        self.addSubview(self.canvas)
    }

    /// A container with nothing loaded and no feed yet: set ``contextFeedID`` before ``loadAd()``.
    public override convenience init(frame: CGRect = .zero) {
        self.init(frame: frame, contextFeedID: "")
    }

    #if (canImport(UIKit) && !os(watchOS)) || canImport(AppKit)
    /// A container that Interface Builder made, with nothing loaded: ``contextFeedID`` comes from there, or is set before
    /// ``loadAd()``.
    public required init?(coder: NSCoder) {
        self.contextFeedID = ""
        self.source = GatewayBannerSource()
        self.renderer = AdRendering.makeDefault()
        self.active = self.renderer
        self.canvas = PlatformView(frame: .zero)
        super.init(coder: coder)
        self.addSubview(self.canvas)
        self.fitContent()
    }
    #endif

    deinit { self.loading?.cancel() }

    // MARK: The layout

    #if canImport(UIKit) && !os(watchOS)
    /// Gives the content the width of the view.
    open override func layoutSubviews() {
        super.layoutSubviews()
        self.fitContent()
    }

    /// The height of the content, once it is rendered; no width.
    open override var intrinsicContentSize: CGSize {
        CGSize(width: UIView.noIntrinsicMetric, height: self.contentHeight ?? UIView.noIntrinsicMetric)
    }
    #elseif canImport(AppKit)
    /// Content begins at the upper edge.
    open override var isFlipped: Bool { true }

    /// Gives the content the width of the view.
    open override func setFrameSize(_ newSize: NSSize) {
        super.setFrameSize(newSize)
        self.fitContent()
    }

    /// The height of the content, once it is rendered; no width.
    open override var intrinsicContentSize: NSSize {
        NSSize(width: NSView.noIntrinsicMetric, height: self.contentHeight ?? NSView.noIntrinsicMetric)
    }
    #else
    /// Gives the content the width of the view.
    open override func layoutChanged() {
        super.layoutChanged()
        self.fitContent()
    }
    #endif

    /// Gives the content the width of the view, and its own height where that is known.
    private func fitContent() {
        let size = CGSize(width: self.bounds.width, height: self.contentHeight ?? self.bounds.height)
        let frame = CGRect(origin: .zero, size: size)
        if self.canvas.frame != frame { self.canvas.frame = frame }
        guard self.status.kind == .rendered, size.width != self.contentWidth else { return }
        self.contentWidth = size.width
        self.heightChanges = 0
        (self.active as? any InteractiveAdRenderer)?.viewResized(self.canvas)
    }

    /// The content has another height than when it was rendered.
    private func resize(load: Int, height: CGFloat) {
        guard load == self.machine.load, height.isFinite, height >= 0 else { return }
        // The renderer is ahead of us: it has shown everything, and we have not heard of that yet.
        if self.status.kind == .loaded { self.earlyHeight = height }
        guard self.heightChanges < Self.heightChangesMax,
            self.machine.take(.resized(load: load, height: height))
        else { return }
        self.heightChanges += 1
        self.fitContent()
        self.invalidateHeight()
        self.delegate?.didChangeContentHeight(advertisementView: self)
    }

    private func invalidateHeight() {
        #if (canImport(UIKit) && !os(watchOS)) || canImport(AppKit)
        self.invalidateIntrinsicContentSize()
        #endif
    }

    // MARK: The user

    /// The user acts on the content as a whole: what it leads to opens, where that is an address that may be opened.
    ///
    /// Nothing happens before the content is here.
    open func activate() {
        self.clicked(self.shown?.content.targetURL)
    }

    private func clicked(_ address: String?) {
        guard let shown, self.status.kind == .loaded || self.status.kind == .rendered else { return }
        (self.clickThroughs ?? AdvertisementSettings.shared.clickThroughs).opened(by: self.active)
            .follow(address) { shown.source.contentClicked(shown.content, for: shown.request) }
    }

    // MARK: Loading

    /// How far the view is.
    public var status: AdvertisementStatus { self.machine.status }

    /// The height of the content in points; `nil` until it is rendered.
    public var contentHeight: CGFloat? { self.machine.contentHeight }

    /// Loads the advertisement, or loads it anew: what an earlier load would still bring is dropped.
    ///
    /// The status is `loading` when this returns, or `failed(.invalidRequest)` where no request can be made.
    open func loadAd() {
        self.clear()
        let settings = AdvertisementSettings.shared
        guard let feed = ContextFeed(self.contextFeedID) else {
            self.take(.refuse, settings)
            return
        }
        let request = AdvertisementRequest(feed: feed, context: self.context, settings: settings)
        let source = self.source
        guard source.canRequest(request) else {
            self.take(.refuse, settings)
            return
        }
        let load = self.machine.load + 1
        self.take(.load, settings)
        // The delegate may have stopped it, or begun another load.
        guard self.machine.load == load else { return }
        let renderer = self.renderer
        self.active = renderer
        self.observe(renderer, load: load)
        self.fitContent()
        self.loading = Task(name: "Advertisement view") { [canvas, weak self] in
            do {
                try Task.checkCancellation()
                let content = try await source.content(for: request)
                self?.arrived(Shown(content: content, request: request, source: source), load: load, settings)
                guard self?.shown != nil, self?.machine.load == load else { return }
                let height = try await renderer.render(content, in: canvas)
                guard height.isFinite, height >= 0 else { throw AdContentError.unreadableImage }
                self?.show(load: load, height: height, settings)
            } catch {
                self?.take(.failed(load: load, AdvertisementError(of: error)), settings)
            }
        }
    }

    /// Stops loading and shows nothing: the view is as it was created, and its delegate is told.
    ///
    /// Where nothing was loaded nothing happens.
    open func stop() {
        self.clear()
        self.take(.stop, AdvertisementSettings.shared)
    }

    /// Ends the load, and takes away what is shown.
    private func clear() {
        self.loading?.cancel()
        self.tracker?.stop()
        self.tracker = nil
        self.shown = nil
        self.active.clear(self.canvas)
        if let renderer = self.active as? any InteractiveAdRenderer {
            (renderer.onClick, renderer.onHeight) = (nil, nil)
        }
    }

    /// Has the renderer tell of clicks and heights; for one that cannot, a tap anywhere is a click.
    private func observe(_ renderer: any AdRenderer, load: Int) {
        guard let renderer = renderer as? any InteractiveAdRenderer else {
            self.taps =
                self.taps
                ?? TapWatch(self) { [weak self] in
                    if !(self?.active is any InteractiveAdRenderer) { self?.activate() }
                }
            return
        }
        renderer.onClick = { [weak self] address in
            guard let self, self.machine.load == load else { return }
            self.clicked(address ?? self.shown?.content.targetURL)
        }
        renderer.onHeight = { [weak self] in self?.resize(load: load, height: $0) }
    }

    private func arrived(_ shown: Shown, load: Int, _ settings: AdvertisementSettings) {
        guard self.machine.load == load else { return }
        self.shown = shown
        self.contentWidth = self.bounds.width
        self.heightChanges = 0
        self.earlyHeight = nil
        self.take(.arrived(load: load), settings)
    }

    /// Returns when the latest load is over, in whichever way.
    func settled() async {
        await self.loading?.value
    }

    private func show(load: Int, height: CGFloat, _ settings: AdvertisementSettings) {
        guard self.machine.load == load, let shown else { return }
        self.canvas.frame.size.height = height
        guard self.take(.shown(load: load, height: height), settings), self.machine.load == load else { return }
        // The delegate may have resized the view, or the app while the content was rendered.
        self.fitContent()
        if let earlyHeight { self.resize(load: load, height: earlyHeight) }
        guard self.machine.load == load else { return }
        let tracker = ImpressionTracker(self) { shown.source.contentShown(shown.content, for: shown.request) }
        if !tracker.isImpressed { self.tracker = tracker }
    }

    @discardableResult
    private func take(_ event: AdvertisementStateMachine.Event, _ settings: AdvertisementSettings) -> Bool {
        guard self.machine.take(event) else { return false }
        self.invalidateHeight()
        let status = self.status
        if settings.loggingEnabled {
            var metadata: Logger.Metadata = ["feed": "\(self.contextFeedID)", "status": "\(status.kind.rawValue)"]
            if case .failed(let error) = status { metadata["error"] = "\(error)" }
            settings.logger.log(
                level: status.kind == .failed ? .warning : .debug,
                "The status of an advertisement view changed.",
                metadata: metadata
            )
        }
        self.delegate?.didChangeStatus(advertisementView: self, status: status)
        return true
    }
}

extension AdvertisementError {
    /// The error of a source or a renderer; the cause is kept.
    fileprivate init(of error: any Error) {
        self = (error as? AdvertisementError) ?? .loadingError(error)
    }
}
