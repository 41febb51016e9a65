// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Foundation

#if canImport(UIKit) && !os(watchOS)
public import UIKit
#elseif canImport(AppKit)
public import AppKit
#endif

/// Shows content in a view and says how high it is.
@MainActor
public protocol AdRenderer: AnyObject {
    /// Shows `content` in `view`, as wide as that is.
    ///
    /// Returns when all of it is shown, and not after some time that was guessed. It is cancelled where the content is not
    /// wanted any more.
    ///
    /// - Returns: the height of the content in points, 0 or more.
    /// - Throws: the reason why it cannot be shown.
    func render(_ content: AdContent, in view: PlatformView) async throws -> CGFloat

    /// Takes what was shown out of `view`.
    func clear(_ view: PlatformView)
}

/// A renderer that goes on with what it shows: it notices clicks, and the height changes with the width.
///
/// The caller that gives it content sets the closures. For other renderers a tap anywhere in the view is a click, and the
/// height stays as it was.
@_spi(Rendering)
@MainActor
public protocol InteractiveAdRenderer: AdRenderer {
    /// Is called when the user acts on the content: with the address of a link, as the content has it, or with `nil` for the
    /// content as a whole.
    ///
    /// Nothing was opened yet. `nil`: clicks are not reported.
    var onClick: (@MainActor (_ address: String?) -> Void)? { get set }

    /// Is called when the content has another height, in points, than was told last.
    ///
    /// `nil`: heights are not reported.
    var onHeight: (@MainActor (_ height: CGFloat) -> Void)? { get set }

    /// Opens what the user chose in this renderer, instead of what ``ClickThroughHandling/opener`` says; `nil`: that does.
    ///
    /// Only addresses that may be opened come here (``ClickThrough``).
    var openURL: (@MainActor (URL) -> Void)? { get }

    /// The view that content was rendered in has another width: the content is shown as wide as that, and
    /// ``onHeight`` is called where the height is another one.
    func viewResized(_ view: PlatformView)
}

/// Which renderer suits the system.
enum AdRendering {
    /// A web view where there is one; else the height comes from the image's size.
    @MainActor static func makeDefault() -> any AdRenderer {
        #if canImport(WebKit) && (canImport(UIKit) || canImport(AppKit))
        WebViewAdRenderer()
        #else
        ImageSizeRenderer()
        #endif
    }
}

/// Draws nothing and knows the height of an image all the same: from the size in its header.
///
/// For systems without a screen, and for tests. It takes PNG, JPEG, GIF and WebP.
@_spi(Rendering)
@MainActor
public final class ImageSizeRenderer: InteractiveAdRenderer {
    /// The image that is "shown"; `nil`: none.
    public private(set) var shown: AdContent?
    /// Is called by ``activate()``.
    public var onClick: (@MainActor (_ address: String?) -> Void)?
    /// Is called when the width, and with it the height, changes.
    public var onHeight: (@MainActor (_ height: CGFloat) -> Void)?
    /// Opens what the user chose, instead of what the settings say.
    public var openURL: (@MainActor (URL) -> Void)?

    private var height: CGFloat = 0

    /// A renderer that shows nothing yet.
    public init() {}

    /// The height of the image, scaled to the width of `view`; its own where `view` has no width.
    public func render(_ content: AdContent, in view: PlatformView) async throws -> CGFloat {
        guard content.isImage else { throw AdContentError.mediaType(content.mediaType) }
        guard let size = ImageSize(of: content.bytes) else { throw AdContentError.unreadableImage }
        self.shown = content
        self.height = size.height(forWidth: view.bounds.width)
        return self.height
    }

    /// Scales the image to the new width.
    public func viewResized(_ view: PlatformView) {
        guard let shown, let size = ImageSize(of: shown.bytes) else { return }
        let height = size.height(forWidth: view.bounds.width)
        guard height != self.height else { return }
        self.height = height
        self.onHeight?(height)
    }

    /// The user acts on the image, where one is shown.
    ///
    /// What belongs to an ``AdvertisementView`` or an ``AdBannerView`` is told to that; otherwise the image's own target is opened as
    /// ``AdvertisementSettings/clickThroughs`` says.
    public func activate() {
        guard let shown else { return }
        if let onClick {
            onClick(nil)
        } else {
            AdvertisementSettings.shared.clickThroughs.opened(by: self).follow(shown.targetURL) {}
        }
    }

    /// Forgets the image.
    public func clear(_ view: PlatformView) {
        self.shown = nil
    }
}
