// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Foundation

#if canImport(UIKit) && !os(watchOS)
public import UIKit
#elseif canImport(AppKit)
public import AppKit
#endif

/// The view of a banner from the gateway: the image as large as fits, with its proportions, in the middle.
@_spi(Rendering)
@MainActor
public final class AdBannerView: PlatformView {
    /// The shown content; `nil`: none yet.
    public private(set) var content: AdContent?

    private let canvas: PlatformView
    private let renderer: any AdRenderer
    private var taps: TapWatch?
    var onActivation: (@MainActor () -> Void)?

    init(size: CGSize, renderer: any AdRenderer) {
        self.renderer = renderer
        self.canvas = PlatformView(frame: .zero)
        super.init(frame: CGRect(origin: .zero, size: size))
        self.addSubview(self.canvas)
        if let renderer = renderer as? any InteractiveAdRenderer {
            renderer.onClick = { [weak self] _ in self?.activate() }
        } else {
            self.taps = TapWatch(self) { [weak self] in self?.activate() }
        }
    }

    /// `handling`, with the opener that the renderer has.
    func opened(by handling: ClickThroughHandling) -> ClickThroughHandling {
        handling.opened(by: self.renderer)
    }

    #if (canImport(UIKit) && !os(watchOS)) || canImport(AppKit)
    /// Banners are not archived.
    @available(*, unavailable, message: "A banner is made by its presenter.")
    public required init?(coder: NSCoder) {
        nil
    }
    #endif

    /// The user acts on the banner: it is clicked and opens, where it leads to an address that may be opened.
    public func activate() {
        self.onActivation?()
    }

    /// Shows the image; a view without a height becomes as high as that, but no higher than wide.
    func show(_ content: AdContent) async throws {
        guard let image = ImageSize(of: content.bytes) else { throw AdContentError.unreadableImage }
        let width = self.frame.width
        if self.frame.height == 0 { self.frame.size.height = min(image.height(forWidth: width), width) }
        let height = min(self.frame.height, image.height(forWidth: width))
        let fitting = height / CGFloat(image.height) * CGFloat(image.width)
        let size = CGSize(width: min(fitting, width), height: height)
        let origin = CGPoint(x: (width - size.width) / 2, y: (self.frame.height - height) / 2)
        self.canvas.frame = CGRect(origin: origin, size: size)
        _ = try await self.renderer.render(content, in: self.canvas)
        self.content = content
    }
}
