// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(WebKit) && (canImport(UIKit) || canImport(AppKit))
public import Foundation
public import WebKit

/// Shows content in a web view.
///
/// The height is that of the document once all of it is loaded.
///
/// Nothing is kept between advertisements, and links open outside: see ``openURL``.
@MainActor
public final class WebViewAdRenderer: NSObject, AdRenderer, WKNavigationDelegate {
    /// Opens what the user chose; by default nothing opens.
    public var openURL: (@MainActor (URL) -> Void)?

    private var webView: WKWebView?
    private var waiter: CheckedContinuation<Void, any Error>?

    /// Shows `content` as wide as `view`, and returns when the document and its images are loaded.
    public func render(_ content: AdContent, in view: PlatformView) async throws -> CGFloat {
        self.clear(view)
        let configuration = WKWebViewConfiguration()
        configuration.websiteDataStore = .nonPersistent()
        let webView = WKWebView(frame: view.bounds, configuration: configuration)
        webView.navigationDelegate = self
        view.addSubview(webView)
        self.webView = webView
        // Whoever does not want it any more calls `clear`, which ends this.
        try await withCheckedThrowingContinuation { waiter in
            self.waiter = waiter
            webView.loadHTMLString(Self.document(for: content), baseURL: content.url.flatMap { URL(string: $0) })
        }
        let height = try await webView.evaluateJavaScript("document.documentElement.scrollHeight")
        guard let height = height as? NSNumber else { throw AdContentError.unreadableImage }
        webView.frame.size.height = CGFloat(height.doubleValue)
        return CGFloat(height.doubleValue)
    }

    /// Takes the web view out of `view`.
    public func clear(_ view: PlatformView) {
        self.finish(.failure(CancellationError()))
        self.webView?.navigationDelegate = nil
        self.webView?.stopLoading()
        self.webView?.removeFromSuperview()
        self.webView = nil
    }

    private func finish(_ result: Result<Void, any Error>) {
        let waiter = self.waiter
        self.waiter = nil
        waiter?.resume(with: result)
    }

    private static func document(for content: AdContent) -> String {
        guard content.isImage else { return String(decoding: content.bytes, as: UTF8.self) }
        let image = Data(content.bytes).base64EncodedString()
        let text = self.escaped(content.alternativeText ?? "")
        var body =
            "<img alt=\"\(text)\" style=\"width:100%;display:block\" src=\"data:\(content.mediaType);base64,\(image)\">"
        if let target = content.targetURL { body = "<a href=\"\(self.escaped(target))\">\(body)</a>" }
        return
            "<!doctype html><meta name=\"viewport\" content=\"width=device-width\"><body style=\"margin:0\">\(body)</body>"
    }

    private static func escaped(_ text: String) -> String {
        [("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\"", "&quot;")]
            .reduce(text) { text, pair in
                text.replacingOccurrences(of: pair.0, with: pair.1)
            }
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

    /// What the user chose opens outside of the web view.
    public func webView(
        _ webView: WKWebView,
        decidePolicyFor navigationAction: WKNavigationAction
    ) async -> WKNavigationActionPolicy {
        guard navigationAction.navigationType == .linkActivated else { return .allow }
        if let url = navigationAction.request.url { self.openURL?(url) }
        return .cancel
    }
}
#endif
