// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Foundation

#if canImport(UIKit) && !os(watchOS)
public import UIKit
#elseif canImport(AppKit)
public import AppKit
#endif

/// How much of a view can be seen.
///
/// A part of a view is seen if it lies within the window and within every view around it that cuts at its edges, and if
/// neither the view nor one around it is hidden. What other views cover is not taken off.
@_spi(Rendering)
@MainActor
public enum Visibility {
    /// The share of a view that must be seen for it to count as shown: one half.
    public static let impressedFraction: CGFloat = 0.5

    /// How much of `view` can be seen: 0 to 1, and 0 where it is in no window or has no area.
    public static func fraction(of view: PlatformView) -> CGFloat {
        guard view.isInWindow else { return 0 }
        var whole = view.bounds
        var seen = whole
        var current = view
        while let superview = current.superview {
            guard !current.isInvisible else { return 0 }
            whole = current.inSuperview(whole, superview)
            seen = current.inSuperview(seen, superview)
            if superview.cutsAtItsBounds || superview.superview == nil {
                seen = VisibleArea.overlap(of: seen, and: superview.bounds)
            }
            current = superview
        }
        return current.isInvisible ? 0 : VisibleArea.fraction(seen: seen, whole: whole)
    }

    /// Whether at least half of `view` can be seen.
    public static func isImpressed(_ view: PlatformView) -> Bool {
        self.fraction(of: view) >= self.impressedFraction
    }
}

/// Arithmetic of rectangles that gives an answer to every input, also to what is not a number.
enum VisibleArea {
    /// The overlap of both; an empty rectangle if there is none.
    static func overlap(of left: CGRect, and right: CGRect) -> CGRect {
        let (minX, maxX) = (Swift.max(left.minX, right.minX), Swift.min(left.maxX, right.maxX))
        let (minY, maxY) = (Swift.max(left.minY, right.minY), Swift.min(left.maxY, right.maxY))
        guard maxX > minX, maxY > minY else { return .zero }
        return CGRect(x: minX, y: minY, width: maxX - minX, height: maxY - minY)
    }

    /// The share of `whole` that `seen` is, 0 to 1.
    static func fraction(seen: CGRect, whole: CGRect) -> CGFloat {
        let (part, all) = (seen.width * seen.height, whole.width * whole.height)
        guard all > 0, all.isFinite, part > 0, part.isFinite else { return 0 }
        return Swift.min(part / all, 1)
    }
}

/// Calls back once, when at least half of a view is seen for the first time.
@MainActor
public final class ImpressionTracker {
    private weak var view: PlatformView?
    private var watch: LayoutWatch?
    private var onImpression: (@MainActor () -> Void)?

    /// Begins to watch `view`, and looks at once.
    ///
    /// - Parameters:
    ///   - view: the view to watch; it is held weakly.
    ///   - onImpression: called when at least half of it is seen, perhaps before this returns.
    public init(_ view: PlatformView, onImpression: @escaping @MainActor () -> Void) {
        self.view = view
        self.onImpression = onImpression
        self.watch = LayoutWatch(view) { [weak self] in self?.look() }
        self.look()
    }

    /// Whether it has called back.
    public private(set) var isImpressed = false

    /// Watches no more.
    public func stop() {
        self.onImpression = nil
        self.watch?.stop()
        self.watch = nil
    }

    private func look() {
        guard let view = self.view, let tell = self.onImpression, Visibility.isImpressed(view) else { return }
        self.isImpressed = true
        self.stop()
        tell()
    }
}
