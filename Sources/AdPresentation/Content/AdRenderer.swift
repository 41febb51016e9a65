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
    /// - Throws: what says best why it cannot be shown.
    func render(_ content: AdContent, in view: PlatformView) async throws -> CGFloat

    /// Takes what was shown out of `view`.
    func clear(_ view: PlatformView)
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
@MainActor
public final class ImageSizeRenderer: AdRenderer {
    /// The image that is "shown"; `nil`: none.
    public private(set) var shown: AdContent?

    /// A renderer that shows nothing yet.
    public init() {}

    /// The height of the image, scaled to the width of `view`; its own where `view` has no width.
    public func render(_ content: AdContent, in view: PlatformView) async throws -> CGFloat {
        guard content.isImage else { throw AdContentError.mediaType(content.mediaType) }
        guard let size = ImageSize(of: content.bytes) else { throw AdContentError.unreadableImage }
        self.shown = content
        return size.height(forWidth: view.bounds.width)
    }

    /// Forgets the image.
    public func clear(_ view: PlatformView) {
        self.shown = nil
    }
}
