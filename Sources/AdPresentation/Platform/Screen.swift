// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// The common part of UIKit's and AppKit's views; `HeadlessBindings` has the same without a screen.
#if (canImport(UIKit) && !os(watchOS)) || canImport(AppKit)
internal import Foundation

#if canImport(UIKit)
internal import UIKit
#else
internal import AppKit
#endif

extension PlatformView {
    var isInWindow: Bool { self.window != nil }

    /// `rect` of this view's coordinates in those of the view around it.
    func inSuperview(_ rect: CGRect, _ superview: PlatformView) -> CGRect { self.convert(rect, to: superview) }
}

/// Calls back when what is visible of a view may have changed, until it is dropped.
///
/// Neither UIKit nor AppKit tells a view that one far above it scrolled, so this looks again and again; the look is a walk up
/// the tree.
@MainActor
final class LayoutWatch {
    private static let interval = Duration.milliseconds(200)
    private var task: Task<Void, Never>?

    init(_ view: PlatformView, changed: @escaping @MainActor () -> Void) {
        self.task = Task { [weak view] in
            while !Task.isCancelled, view != nil {
                changed()
                try? await Task.sleep(for: Self.interval)
            }
        }
    }

    deinit { self.task?.cancel() }

    func stop() {
        self.task?.cancel()
        self.task = nil
    }
}
#endif
