// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(UIKit) && !os(watchOS)
public import UIKit

/// What is shown: UIKit's view.
public typealias PlatformView = UIView
/// What presents: UIKit's view controller.
public typealias PlatformViewController = UIViewController
#elseif canImport(AppKit)
public import AppKit

/// What is shown: AppKit's view.
public typealias PlatformView = NSView
/// What presents: AppKit's view controller.
public typealias PlatformViewController = NSViewController
#else
/// What is shown: a view without a screen, where there is neither UIKit nor AppKit.
public typealias PlatformView = HeadlessView
/// What presents: a view controller without a screen, where there is neither UIKit nor AppKit.
public typealias PlatformViewController = HeadlessViewController
#endif
