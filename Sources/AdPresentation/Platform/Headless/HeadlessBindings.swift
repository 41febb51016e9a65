// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if !(canImport(UIKit) && !os(watchOS)) && !canImport(AppKit)
internal import Foundation

extension HeadlessView {
    var isInWindow: Bool { self.window != nil }
    var cutsAtItsBounds: Bool { self.clipsToBounds }
    var isInvisible: Bool { self.isHidden }

    /// `rect` of this view's coordinates in those of the view around it.
    func inSuperview(_ rect: CGRect, _ superview: HeadlessView) -> CGRect {
        CGRect(
            x: rect.minX + self.frame.minX,
            y: rect.minY + self.frame.minY,
            width: rect.width,
            height: rect.height
        )
    }
}

/// Calls back when what is visible of a view may have changed, until it is dropped.
@MainActor
final class LayoutWatch {
    private weak var view: HeadlessView?

    init(_ view: HeadlessView, changed: @escaping @MainActor () -> Void) {
        self.view = view
        view.observeLayout(self, changed)
    }

    func stop() {
        self.view?.stopObservingLayout(self)
        self.view = nil
    }
}

/// Calls back when the user acts on a view; never here, because nothing is drawn.
@MainActor
final class TapWatch {
    init(_ view: HeadlessView, tapped: @escaping @MainActor () -> Void) {}
}

/// Opens addresses by the system.
enum SystemLinks {
    /// Nothing.
    static var opener: (any ClickThroughOpener)? { nil }
}

/// Shows one view, and says when it is gone.
@MainActor
final class InterstitialController: HeadlessViewController {
    private var onClosed: (@MainActor () -> Void)?

    init(showing view: HeadlessView, onClosed: @escaping @MainActor () -> Void) {
        super.init()
        self.view = view
        self.onClosed = onClosed
    }

    override func viewDidDisappear() {
        self.onClosed?()
    }
}

/// The platform's part in presenting.
@MainActor
enum PlatformPresentation {
    static func present(_ controller: PlatformViewController, from parent: PlatformViewController) {
        parent.present(controller)
    }

    static func dismiss(_ controller: PlatformViewController) {
        controller.dismiss()
    }

    /// A window that shows the view of `controller`, for the conformance kit.
    ///
    /// It is freed with what is returned.
    static func makeWindow(for controller: PlatformViewController, size: CGSize) -> AnyObject {
        let window = HeadlessWindow(frame: CGRect(origin: .zero, size: size))
        controller.view.frame = window.bounds
        window.addSubview(controller.view)
        return window
    }

    /// The width of the screen that there is not: that of a small phone.
    static var screenWidth: CGFloat { 320 }
}
#endif
