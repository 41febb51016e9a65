// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(WebKit) && (canImport(UIKit) || canImport(AppKit))
public import Foundation
public import WebKit

/// Shows content in a web view.
///
/// The height is that of the content of the document, at first once all of it is loaded: less than that of the view where
/// there is less to show. Nothing is kept between advertisements, and links open outside.
@_spi(Rendering)
@MainActor
public final class WebViewAdRenderer: NSObject, InteractiveAdRenderer, WKNavigationDelegate {
    /// Opens what the user chose, instead of what ``ClickThroughHandling/opener`` says; `nil`: that does.
    public var openURL: (@MainActor (URL) -> Void)?
    /// Is called when the user followed a link.
    ///
    /// `nil`: the link is opened as ``AdvertisementSettings/clickThroughs`` says.
    public var onClick: (@MainActor (_ address: String?) -> Void)?
    /// Is called when the content has another height.
    public var onHeight: (@MainActor (_ height: CGFloat) -> Void)?

    private var webView: WKWebView?
    private var waiter: CheckedContinuation<Void, any Error>?
    /// The height that was told last; `nil`: none yet.
    private var height: CGFloat?
    /// Where the content as a whole leads; `nil`: nowhere.
    private var targetURL: String?

    /// Shows `content` as wide as `view`, and returns when the document and its images are loaded.
    public func render(_ content: AdContent, in view: PlatformView) async throws -> CGFloat {
        self.clear(view)
        let webView = WKWebView(frame: view.bounds, configuration: self.makeConfiguration())
        webView.navigationDelegate = self
        #if canImport(UIKit)
        webView.autoresizingMask = [.flexibleWidth]
        #else
        webView.autoresizingMask = [.width]
        #endif
        view.addSubview(webView)
        self.webView = webView
        self.targetURL = content.targetURL
        // A caller that does not want the content any more calls `clear`, which ends this.
        try await withCheckedThrowingContinuation { waiter in
            self.waiter = waiter
            webView.loadHTMLString(WebContent.document(for: content), baseURL: content.url.flatMap { URL(string: $0) })
        }
        let told = try await webView.evaluateJavaScript(WebContent.heightScript)
        guard let height = WebContent.height((told as? NSNumber)?.doubleValue) else {
            throw AdContentError.unreadableImage
        }
        webView.frame.size.height = height
        self.height = height
        return height
    }

    private func makeConfiguration() -> WKWebViewConfiguration {
        let configuration = WKWebViewConfiguration()
        configuration.websiteDataStore = .nonPersistent()
        // A window that a script opens by itself is none that the user asked for.
        configuration.preferences.javaScriptCanOpenWindowsAutomatically = false
        // In a world of its own, which the scripts of the document cannot reach.
        let world = WKContentWorld.world(name: "Cuecast")
        configuration.userContentController.add(
            HeightReceiver { [weak self] in self?.told($0) },
            contentWorld: world,
            name: WebContent.heightMessage
        )
        configuration.userContentController.addUserScript(
            WKUserScript(
                source: WebContent.observingScript,
                injectionTime: .atDocumentEnd,
                forMainFrameOnly: true,
                in: world
            )
        )
        return configuration
    }

    /// Takes the web view out of `view`.
    public func clear(_ view: PlatformView) {
        self.finish(.failure(CancellationError()))
        self.height = nil
        self.targetURL = nil
        self.webView?.navigationDelegate = nil
        self.webView?.configuration.userContentController.removeAllScriptMessageHandlers()
        self.webView?.stopLoading()
        self.webView?.removeFromSuperview()
        self.webView = nil
    }

    /// The web view has the new width already, and its document tells of its height when it is laid out.
    public func viewResized(_ view: PlatformView) {}

    private func told(_ value: Double?) {
        // Before all is loaded the height says nothing.
        guard let known = self.height, let height = WebContent.height(value), height != known else { return }
        self.height = height
        self.webView?.frame.size.height = height
        self.onHeight?(height)
    }

    private func click(_ address: String?) {
        if let onClick = self.onClick {
            onClick(address)
        } else {
            AdvertisementSettings.shared.clickThroughs.opened(by: self).follow(address ?? self.targetURL) {}
        }
    }

    private func finish(_ result: Result<Void, any Error>) {
        let waiter = self.waiter
        self.waiter = nil
        waiter?.resume(with: result)
    }

    /// The document is loaded.
    public func webView(_ webView: WKWebView, didFinish navigation: WKNavigation!) {
        self.finish(.success(()))
    }

    /// The document could not be loaded to its end.
    public func webView(_ webView: WKWebView, didFail navigation: WKNavigation!, withError error: any Error) {
        self.finish(.failure(error))
    }

    /// The document could not be loaded at all.
    public func webView(
        _ webView: WKWebView,
        didFailProvisionalNavigation navigation: WKNavigation!,
        withError error: any Error
    ) {
        self.finish(.failure(error))
    }

    /// The web view's process ended.
    public func webViewWebContentProcessDidTerminate(_ webView: WKWebView) {
        self.finish(.failure(AdContentError.unreadableImage))
    }

    /// Opens a link that the user chose outside of the web view.
    public func webView(
        _ webView: WKWebView,
        decidePolicyFor navigationAction: WKNavigationAction
    ) async -> WKNavigationActionPolicy {
        let url = navigationAction.request.url
        let navigation = WebContent.navigation(
            isLink: navigationAction.navigationType == .linkActivated,
            opensWindow: navigationAction.targetFrame == nil,
            scheme: url?.scheme
        )
        if navigation == .click { self.click(WebContent.chosen(url?.absoluteString)) }
        return navigation == .stays ? .allow : .cancel
    }
}

/// Takes the height that a document tells.
///
/// A web view's configuration holds it, and it must not hold the renderer, which holds the web view.
@MainActor
private final class HeightReceiver: NSObject, WKScriptMessageHandler {
    private let told: @MainActor (Double?) -> Void

    init(told: @escaping @MainActor (Double?) -> Void) {
        self.told = told
    }

    func userContentController(_ userContentController: WKUserContentController, didReceive message: WKScriptMessage) {
        self.told((message.body as? NSNumber)?.doubleValue)
    }
}
#endif
