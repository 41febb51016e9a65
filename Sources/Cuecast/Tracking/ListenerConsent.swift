// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The listener's consent for the trackers of advertisements.
public struct ListenerConsent: Hashable, Sendable {
    /// The consent string of the IAB Transparency and Consent Framework, as it is; `nil`: none is known.
    ///
    /// It replaces `[GDPRCONSENT]`.
    public var gdprConsent: String?
    /// The regulations that apply, for instance `gdpr` and `coppa` (VAST 4.3 section 6, `[REGULATIONS]`).
    public var regulations: [String]
    /// Whether the listener limits tracking on this device (`[LIMITADTRACKING]`).
    public var limitAdTracking: Bool
    /// Whether no tracking URL may be called at all, also none that waits from before.
    public var deniesTracking: Bool

    /// A consent; without arguments one that limits nothing and names no regulation.
    public init(
        gdprConsent: String? = nil,
        regulations: [String] = [],
        limitAdTracking: Bool = false,
        deniesTracking: Bool = false
    ) {
        self.gdprConsent = gdprConsent
        self.regulations = regulations
        self.limitAdTracking = limitAdTracking
        self.deniesTracking = deniesTracking
    }
}
