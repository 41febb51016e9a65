// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The key of the configuration that sets a limit.
package struct LimitSetting: Hashable, Sendable {
    /// As in the file, for instance `listeners.max`.
    package let key: String
    /// The values that the key accepts.
    package let range: ClosedRange<Int>
    /// The meaning of the value, for operators, in Markdown.
    package let meaning: String
    /// Whether 0 says that there is no limit.
    package let zeroIsNone: Bool
    /// Whether a reload of a running gateway applies a new value.
    package let isReloadable: Bool

    init(
        _ key: String,
        _ range: ClosedRange<Int>,
        zeroIsNone: Bool = false,
        isReloadable: Bool = false,
        _ meaning: String
    ) {
        self.key = key
        self.range = range
        self.meaning = meaning
        self.zeroIsNone = zeroIsNone
        self.isReloadable = isReloadable
    }
}

/// A limit: its value, its unit, the key that sets it, and the effect when it is reached.
///
/// The configuration, `GET /v1/limits` and the reference pages read it.
package struct LimitDeclaration: Hashable, Sendable {
    /// The value, if no configuration sets another one.
    package let value: Int
    package let unit: LimitUnit
    /// The things that the value counts, if unit and name do not say it, for instance `streams`.
    package let subject: String
    /// The default in words, where the gateway computes it at its start; `nil`: `value` is the default.
    package private(set) var computedDefault: String?
    /// The setting of the limit; `nil`: the limit is fixed.
    package let setting: LimitSetting?
    /// The effect when the limit is reached, in Markdown.
    package let effect: String
    /// Whether the alert `CuecastLimitHit` tells operators: not of a limit that one peer reaches at its own cost, nor of one that
    /// costs no one anything.
    ///
    /// `scripts/check-documents` compares the rule of the alert with it.
    package let alerts: Bool

    init(
        _ value: Int,
        _ unit: LimitUnit = .count,
        of subject: String = "",
        by setting: LimitSetting? = nil,
        whenReached effect: String,
        alerts: Bool = true
    ) {
        self.value = value
        self.unit = unit
        self.subject = subject
        self.setting = setting
        self.effect = effect
        self.alerts = alerts
    }

    /// A limit that follows from others, and from the machine.
    static func computed(_ text: String, by setting: LimitSetting? = nil, whenReached effect: String) -> Self {
        var declaration = Self(0, by: setting, whenReached: effect)
        declaration.computedDefault = text
        return declaration
    }

    /// The default with its unit, as the reference pages show it.
    package var defaultText: String {
        if let computedDefault { return computedDefault }
        let number =
            switch self.unit {
            case .bytes: "\(self.value) bytes"
            case .count: "\(self.value)"
            case .perSecond: "\(self.value) a second"
            case .milliseconds: "\(self.value) ms"
            }
        return self.subject.isEmpty ? number : number + " " + self.subject
    }

    /// The most that may be with a value; `nil`: there is no limit.
    package func maximum(_ value: Int) -> Int? {
        value == 0 && self.setting?.zeroIsNone == true ? nil : value
    }
}

extension LimitName {
    /// The value, if no configuration sets another one.
    package var value: Int { self.declaration.value }
}

/// The values of all limits: those of the declarations, but for those that a configuration or a test has changed.
package struct LimitValues: Hashable, Sendable {
    private var changed: [LimitName: Int] = [:]

    package init() {}

    package subscript(name: LimitName) -> Int {
        get { self.changed[name] ?? name.value }
        set { self.changed[name] = newValue == name.value ? nil : newValue }
    }
}
