// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Views are placed exactly, and what becomes visible is told at once: that is so where no screen is involved.
#if !canImport(UIKit) && !canImport(AppKit)
import Foundation
import Testing

@_spi(Rendering) @testable import AdPresentation

@Suite(.suiteLimit)
@MainActor
struct VisibilityTests {
    let window = HeadlessWindow(frame: CGRect(x: 0, y: 0, width: 400, height: 600))
    let view = HeadlessView(frame: CGRect(x: 0, y: 0, width: 320, height: 50))

    @Test func `a view is seen only in a window`() {
        #expect(Visibility.fraction(of: self.view) == 0)
        let parent = HeadlessView(frame: self.window.frame)
        parent.addSubview(self.view)
        #expect(Visibility.fraction(of: self.view) == 0)
        self.window.addSubview(parent)
        #expect(Visibility.fraction(of: self.view) == 1)
    }

    @Test(arguments: [(0, 1.0), (550, 1.0), (560, 0.8), (575, 0.5), (576, 0.48), (600, 0), (-25, 0.5), (-26, 0.48)])
    func `content outside of the window is not seen`(y: Double, fraction: Double) {
        self.window.addSubview(self.view)
        self.view.frame.origin.y = y
        #expect(abs(Visibility.fraction(of: self.view) - fraction) < 1e-9)
        #expect(Visibility.isImpressed(self.view) == (fraction >= 0.5))
    }

    @Test func `a parent cuts at its edges only where it says so`() {
        let parent = HeadlessView(frame: CGRect(x: 40, y: 10, width: 160, height: 100))
        self.window.addSubview(parent)
        parent.addSubview(self.view)
        #expect(Visibility.fraction(of: self.view) == 1)
        parent.clipsToBounds = true
        #expect(Visibility.fraction(of: self.view) == 0.5)
    }

    @Test func `a hidden view, and a view in a hidden one, is not seen`() {
        let parent = HeadlessView(frame: self.window.frame)
        self.window.addSubview(parent)
        parent.addSubview(self.view)
        for hidden in [self.view, parent, self.window] {
            hidden.isHidden = true
            #expect(Visibility.fraction(of: self.view) == 0)
            hidden.isHidden = false
            #expect(Visibility.fraction(of: self.view) == 1)
        }
    }

    @Test(arguments: [CGFloat.nan, .infinity, -.infinity, .greatestFiniteMagnitude, 0, -5])
    func `strange numbers are not seen, and nothing traps`(number: CGFloat) {
        self.window.addSubview(self.view)
        self.view.frame = CGRect(x: 0, y: 0, width: number, height: 50)
        #expect((0...1).contains(Visibility.fraction(of: self.view)))
        self.view.frame = CGRect(x: number, y: number, width: 320, height: 50)
        #expect((0...1).contains(Visibility.fraction(of: self.view)))
        self.window.frame = CGRect(x: number, y: 0, width: number, height: number)
        #expect((0...1).contains(Visibility.fraction(of: self.view)))
    }

    @Test func `an impression is told once, when half of the view is seen`() {
        self.window.addSubview(self.view)
        self.view.frame.origin.y = 580
        var count = 0
        let tracker = ImpressionTracker(self.view) { count += 1 }
        #expect(count == 0)
        self.view.frame.origin.y = 576
        #expect(count == 0)
        self.view.frame.origin.y = 575
        #expect(count == 1)
        #expect(tracker.isImpressed)
        self.view.frame.origin.y = 600
        self.view.frame.origin.y = 0
        #expect(count == 1)
    }

    @Test func `an impression follows a change of any view around`() {
        let scrolled = HeadlessView(frame: CGRect(x: 0, y: 700, width: 400, height: 100))
        scrolled.addSubview(self.view)
        var count = 0
        let tracker = ImpressionTracker(self.view) { count += 1 }
        self.window.addSubview(scrolled)
        #expect(count == 0)
        scrolled.isHidden = true
        scrolled.frame.origin.y = 100
        #expect(count == 0)
        scrolled.isHidden = false
        #expect(count == 1)
        #expect(tracker.isImpressed)
    }

    @Test func `a view that is seen already is told at once, and a stopped tracker tells nothing`() {
        self.window.addSubview(self.view)
        var count = 0
        #expect(ImpressionTracker(self.view) { count += 1 }.isImpressed)
        #expect(count == 1)
        self.view.isHidden = true
        let stopped = ImpressionTracker(self.view) { count += 1 }
        stopped.stop()
        self.view.isHidden = false
        #expect(count == 1)
    }

    @Test func `a tracker holds its view weakly`() {
        var view: HeadlessView? = HeadlessView(frame: self.view.frame)
        weak let weakView = view
        let tracker = view.map { ImpressionTracker($0) {} }
        view = nil
        #expect(weakView == nil)
        #expect(tracker?.isImpressed == false)
    }

    @Test func `views are put into one another as a tree`() {
        let parent = HeadlessView()
        parent.addSubview(self.view)
        self.view.addSubview(parent)
        #expect(self.view.subviews.isEmpty, "a view is not put into what is within it")
        self.view.addSubview(self.view)
        #expect(self.view.superview === parent)
        self.window.addSubview(self.view)
        #expect(parent.subviews.isEmpty)
        #expect(self.view.window === self.window)
        self.view.removeFromSuperview()
        #expect(self.view.window == nil)
        #expect(self.window.subviews.isEmpty)
    }

    @Test func `a view controller presents one other, over the window of its view`() {
        let (parent, child, other) = (HeadlessViewController(), HeadlessViewController(), HeadlessViewController())
        self.window.addSubview(parent.view)
        parent.present(child)
        parent.present(other)
        #expect(parent.presentedViewController === child)
        #expect(Visibility.fraction(of: child.view) == 1)
        child.dismiss()
        #expect(parent.presentedViewController == nil)
        #expect(child.presentingViewController == nil)
        #expect(child.view.window == nil)
    }
}
#endif
