// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(AppKit) && !(canImport(UIKit) && !os(watchOS))
internal import AppKit
internal import Foundation

extension NSView {
    var cutsAtItsBounds: Bool { self is NSClipView || self.clipsToBounds }
    var isInvisible: Bool { self.isHidden || self.alphaValue < 0.01 }
}

/// Calls back when the user clicks a view, until it is dropped.
@MainActor
final class TapWatch: NSObject {
    private let tapped: @MainActor () -> Void

    init(_ view: NSView, tapped: @escaping @MainActor () -> Void) {
        self.tapped = tapped
        super.init()
        // A recognizer holds its target weakly.
        view.addGestureRecognizer(NSClickGestureRecognizer(target: self, action: #selector(self.recognized)))
    }

    @objc private func recognized() {
        self.tapped()
    }
}

/// Opens addresses by the system.
enum SystemLinks {
    /// The workspace, which hands the address to the user's browser.
    static var opener: (any ClickThroughOpener)? { Opener() }

    @MainActor
    private final class Opener: ClickThroughOpener {
        nonisolated init() {}

        func open(_ url: URL, completion: @escaping @MainActor @Sendable (_ isOpened: Bool) -> Void) {
            completion(NSWorkspace.shared.open(url))
        }
    }
}

/// Shows one view, and says when it is gone.
///
/// It is a sheet, which the escape key closes.
@MainActor
final class InterstitialController: NSViewController {
    private var onClosed: (@MainActor () -> Void)?

    init(showing view: NSView, onClosed: @escaping @MainActor () -> Void) {
        super.init(nibName: nil, bundle: nil)
        self.view = view
        self.onClosed = onClosed
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) { nil }

    override func viewDidDisappear() {
        super.viewDidDisappear()
        self.onClosed?()
    }

    override func cancelOperation(_ sender: Any?) {
        self.presentingViewController?.dismiss(self)
    }
}

/// The platform's part in presenting.
@MainActor
enum PlatformPresentation {
    static func present(_ controller: PlatformViewController, from parent: PlatformViewController) {
        parent.presentAsSheet(controller)
    }

    static func dismiss(_ controller: PlatformViewController) {
        controller.presentingViewController?.dismiss(controller)
    }

    /// A window that shows the view of `controller`, for the conformance kit.
    ///
    /// It is freed with what is returned.
    static func makeWindow(for controller: PlatformViewController, size: CGSize) -> AnyObject {
        let window = NSWindow(contentViewController: controller)
        window.isReleasedWhenClosed = false
        window.setContentSize(size)
        window.orderFront(nil)
        return window
    }

    /// The width of the main screen in points.
    static var screenWidth: CGFloat { NSScreen.main?.frame.width ?? 1_024 }
}
#endif
