// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(UIKit) && !os(watchOS)
internal import Foundation
internal import UIKit

extension UIView {
    var cutsAtItsBounds: Bool { self.clipsToBounds }
    var isInvisible: Bool { self.isHidden || self.alpha < 0.01 }
}

/// Calls back when the user taps a view, until it is dropped.
@MainActor
final class TapWatch: NSObject {
    private let tapped: @MainActor () -> Void

    init(_ view: UIView, tapped: @escaping @MainActor () -> Void) {
        self.tapped = tapped
        super.init()
        // A recognizer holds its target weakly.
        view.addGestureRecognizer(UITapGestureRecognizer(target: self, action: #selector(self.recognized)))
    }

    @objc private func recognized() {
        self.tapped()
    }
}

/// Opens addresses by the system.
enum SystemLinks {
    /// The app, which hands the address to the user's browser.
    static var opener: (any ClickThroughOpener)? { Opener() }

    @MainActor
    private final class Opener: ClickThroughOpener {
        nonisolated init() {}

        func open(_ url: URL, completion: @escaping @MainActor @Sendable (_ isOpened: Bool) -> Void) {
            UIApplication.shared.open(url, options: [:], completionHandler: completion)
        }
    }
}

/// Shows one view, and says when it is gone.
///
/// It is a sheet, which the user can pull down.
@MainActor
final class InterstitialController: UIViewController {
    private var onClosed: (@MainActor () -> Void)?

    init(showing view: UIView, onClosed: @escaping @MainActor () -> Void) {
        super.init(nibName: nil, bundle: nil)
        self.view = view
        self.onClosed = onClosed
    }

    @available(*, unavailable)
    required init?(coder: NSCoder) { nil }

    override func viewDidDisappear(_ animated: Bool) {
        super.viewDidDisappear(animated)
        if self.presentingViewController == nil { self.onClosed?() }
    }
}

/// The platform's part in presenting.
@MainActor
enum PlatformPresentation {
    static func present(_ controller: PlatformViewController, from parent: PlatformViewController) {
        parent.present(controller, animated: true)
    }

    static func dismiss(_ controller: PlatformViewController) {
        controller.presentingViewController?.dismiss(animated: true)
    }

    /// A window that shows the view of `controller`, for the conformance kit.
    ///
    /// It is freed with what is returned.
    static func makeWindow(for controller: PlatformViewController, size: CGSize) -> AnyObject {
        let window = UIWindow(frame: CGRect(origin: .zero, size: size))
        window.rootViewController = controller
        window.isHidden = false
        return window
    }

    #if os(visionOS)
    /// There is no screen with a width: that of a small phone.
    static var screenWidth: CGFloat { 320 }
    #else
    /// The width of the screen in points.
    static var screenWidth: CGFloat { UIScreen.main.bounds.width }
    #endif
}
#endif
