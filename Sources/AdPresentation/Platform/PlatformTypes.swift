// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(UIKit) && !os(watchOS)
public import UIKit

/// The type of views: UIKit's.
public typealias PlatformView = UIView
/// The type of presenting view controllers: UIKit's.
public typealias PlatformViewController = UIViewController
#elseif canImport(AppKit)
public import AppKit

/// The type of views: AppKit's.
public typealias PlatformView = NSView
/// The type of presenting view controllers: AppKit's.
public typealias PlatformViewController = NSViewController
#else
/// The type of views: one without a screen, if there is neither UIKit nor AppKit.
public typealias PlatformView = HeadlessView
/// The type of presenting view controllers: one without a screen, if there is neither UIKit nor AppKit.
public typealias PlatformViewController = HeadlessViewController
#endif
