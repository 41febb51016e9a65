// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

public import Logging

/// The settings that all advertisements of this module share: a change applies to later loads.
///
/// ```swift
/// AdvertisementSettings.shared.consent = consentString
/// AdvertisementSettings.shared.loggingEnabled = true
/// ```
public struct AdvertisementSettings: Sendable {
    /// How advertisements look.
    public enum Appearance: String, Hashable, Sendable, CaseIterable {
        /// For bright surroundings.
        case light
        /// For dark surroundings.
        case dark
    }

    /// The settings that count for what is loaded from now on.
    @MainActor public static var shared = AdvertisementSettings()

    /// Where lines go about loading and failing, if ``loggingEnabled``.
    public var logger = Logger(label: "cuecast.presentation")
    /// Whether anything is logged; not to begin with.
    public var loggingEnabled = false
    /// The user's consent, as the source wants it, for instance a TCF string; `nil`: not known.
    public var consent: String?
    /// How advertisements look; `nil`: as the system does.
    public var appearanceOverride: Appearance?
    /// The app's name for its user; `nil`: none.
    public var userID: String?
    /// The device's advertising identifier; `nil`: none, or not permitted.
    public var advertisingID: String?

    /// The handling of a user's action on an advertisement.
    ///
    /// A change counts at once, also for what is loaded.
    public var clickThroughs = ClickThroughHandling()

    /// The defaults.
    public init() {}
}
