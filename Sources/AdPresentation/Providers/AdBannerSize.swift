// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Foundation

/// The sizes of inline banners that every provider knows by name.
///
/// Providers may know more.
public enum AdBannerSize: String, Hashable, Sendable, CaseIterable {
    /// 320 × 50 points.
    case banner = "BANNER"
    /// 320 × 150 points.
    case boxBanner = "BOX_BANNER"
    /// As wide as the screen, and 50 points high.
    case smartBanner = "SMART_BANNER"

    /// The size in points on a screen that is so wide.
    func size(screenWidth: CGFloat) -> CGSize {
        switch self {
        case .banner: CGSize(width: 320, height: 50)
        case .boxBanner: CGSize(width: 320, height: 150)
        case .smartBanner: CGSize(width: screenWidth, height: 50)
        }
    }

    /// The size in points that `name` stands for on this screen; zero for a name that is not one of these.
    @MainActor public static func size(named name: String) -> CGSize {
        AdBannerSize(rawValue: name)?.size(screenWidth: self.screenWidth) ?? .zero
    }

    /// The width of the screen in points; 320 where there is no screen.
    @MainActor static var screenWidth: CGFloat { PlatformPresentation.screenWidth }
}
