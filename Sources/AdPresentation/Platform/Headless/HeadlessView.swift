// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if !(canImport(UIKit) && !os(watchOS)) && !canImport(AppKit)
public import Foundation

/// A rectangle in a tree of rectangles: what a test on a server needs of a view, and no more.
///
/// Coordinates are as in UIKit: `frame` is in the superview's coordinates, y grows downwards. Nothing is drawn.
@MainActor
open class HeadlessView {
    /// Where the view is, in the superview's coordinates.
    open var frame: CGRect {
        didSet { if self.frame != oldValue { self.layoutChanged() } }
    }

    /// Whether the view and all within it is hidden.
    open var isHidden = false {
        didSet { if self.isHidden != oldValue { self.layoutChanged() } }
    }

    /// Whether what reaches over the edge is cut off; a window always cuts.
    open var clipsToBounds = false {
        didSet { if self.clipsToBounds != oldValue { self.layoutChanged() } }
    }

    /// The view that this one is in.
    public private(set) weak var superview: HeadlessView?
    /// The views in this one, the frontmost last.
    public private(set) var subviews: [HeadlessView] = []

    private struct Observer {
        weak var owner: AnyObject?
        let changed: @MainActor () -> Void
    }

    private var observers: [Observer] = []

    /// A view at `frame`, in no other view.
    public init(frame: CGRect = .zero) {
        self.frame = frame
    }

    /// The view's own rectangle in its own coordinates.
    open var bounds: CGRect { CGRect(origin: .zero, size: self.frame.size) }

    /// The window that the view is in; `nil`: none, so the view is not visible.
    open var window: HeadlessWindow? { self.superview?.window }

    /// Puts `view` in front of all in this view; it leaves the view that it was in.
    ///
    /// A view cannot be put into itself or into a view that is within it: then nothing happens.
    open func addSubview(_ view: HeadlessView) {
        guard !self.isDescendant(of: view) else { return }
        view.removeFromSuperview()
        self.subviews.append(view)
        view.superview = self
        view.layoutChanged()
    }

    /// Takes the view out of the view that it is in.
    open func removeFromSuperview() {
        guard let parent = self.superview else { return }
        parent.subviews.removeAll { $0 === self }
        self.superview = nil
        self.layoutChanged()
    }

    /// Whether this view is `view` or within it.
    public func isDescendant(of view: HeadlessView) -> Bool {
        var next: HeadlessView? = self
        while let current = next {
            if current === view { return true }
            next = current.superview
        }
        return false
    }

    /// Something changed that may change what is visible of this view: here or in a view around it.
    open func layoutChanged() {
        for observer in self.observers where observer.owner != nil { observer.changed() }
        for view in self.subviews { view.layoutChanged() }
    }

    func observeLayout(_ owner: AnyObject, _ changed: @escaping @MainActor () -> Void) {
        self.observers.removeAll { $0.owner == nil }
        self.observers.append(Observer(owner: owner, changed: changed))
    }

    func stopObservingLayout(_ owner: AnyObject) {
        self.observers.removeAll { $0.owner === owner }
    }
}

/// The outermost view: what lies outside of it is not visible.
@MainActor
open class HeadlessWindow: HeadlessView {
    /// The window itself.
    open override var window: HeadlessWindow? { self }
}

/// Owns a view and presents other view controllers: what a test on a server needs of one, and no more.
@MainActor
open class HeadlessViewController {
    /// The view; empty to begin with.
    open var view: HeadlessView
    /// The view controller that this one presents.
    public private(set) var presentedViewController: HeadlessViewController?
    /// The view controller that presents this one.
    public private(set) weak var presentingViewController: HeadlessViewController?

    /// A view controller with an empty view.
    public init() {
        self.view = HeadlessView()
    }

    /// Presents `controller`: its view covers the window of this view controller's view, where that is in one.
    ///
    /// Only one at a time: a further one is not presented, as in UIKit.
    open func present(_ controller: HeadlessViewController) {
        guard self.presentedViewController == nil, controller !== self else { return }
        self.presentedViewController = controller
        controller.presentingViewController = self
        guard let window = self.view.window else { return }
        controller.view.frame = window.bounds
        window.addSubview(controller.view)
    }

    /// Ends the presentation of what this one presents, or else of this one itself.
    open func dismiss() {
        guard let presented = self.presentedViewController else {
            self.presentingViewController?.dismiss()
            return
        }
        self.presentedViewController = nil
        presented.presentingViewController = nil
        presented.view.removeFromSuperview()
        presented.viewDidDisappear()
    }

    /// The view was presented, and is not any more.
    ///
    /// Does nothing.
    open func viewDidDisappear() {}
}
#endif
