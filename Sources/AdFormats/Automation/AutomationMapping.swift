// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// An element of a programme that an automation system begins to play.
package struct AutomationElement: Hashable, Sendable {
    /// Whether it is an ad.
    package var isAd: Bool
    /// The id by which the system knows it; `nil`: that is not said.
    package var id: String?
    /// How long an ad plays, in milliseconds; `nil`: that is not said.
    package var durationMilliseconds: Int?
    /// When it began, in milliseconds since 1970; `nil`: now.
    package var startMilliseconds: Int?

    package init(isAd: Bool, id: String? = nil, durationMilliseconds: Int? = nil, startMilliseconds: Int? = nil) {
        self.isAd = isAd
        self.id = id
        self.durationMilliseconds = durationMilliseconds
        self.startMilliseconds = startMilliseconds
    }
}

/// How the messages of an automation system say what begins to play.
///
/// ```swift
/// let fields = try AutomationFields(form: "songtype=4&songseconds=30".utf8)
/// let element = try AutomationMapping.radiodj.element(fields)  // an ad of 30 s
/// ```
package struct AutomationMapping: Hashable, Sendable {
    /// The unit of a field with a time.
    package enum Unit: String, Hashable, Sendable, CaseIterable {
        case seconds
        case milliseconds
    }

    /// The values of the type that mean an ad.
    package enum Ads: Hashable, Sendable {
        /// One of these; upper and lower case of A to Z are the same.
        case values([String])
        case pattern(TextPattern)
    }

    /// The name, as it stands in the path of a request.
    package var name: String
    /// The source of its signals.
    package var source: String
    /// The names of the field with the type of the element; the first that is there counts.
    package var type: [String]
    /// Whether an element without a type is none of the ads; otherwise such a message is a fault.
    package var isTypeOptional = false
    package var ads: Ads
    package var id: [String] = []
    package var duration: [String] = []
    package var durationUnit: Unit = .seconds
    /// The names of the field with the time of the start: RFC 3339, or a number of seconds since 1970.
    package var start: [String] = []
    /// The fields of a line; `nil`: a line is read as a form.
    package var line: TextPattern?

    package init(name: String, source: String? = nil, type: [String], ads: Ads) {
        self.name = name
        self.source = source ?? name
        self.type = type
        self.ads = ads
    }

    /// The event id of all signals of a mapping.
    ///
    /// One id for all breaks of a source means the break that runs, or the next one where none does. So no process has to remember
    /// that an ad is on air: the end of the break finds it in the gateway's log.
    package static let eventID = "on-air"

    /// The element that a message tells of.
    ///
    /// - Throws: where the type is missing, or a time of an ad cannot be read.
    package func element(_ fields: AutomationFields) throws(AutomationFault) -> AutomationElement {
        let type = self.value(self.type, of: fields)
        guard type != nil || self.isTypeOptional else {
            let names = self.type.map { quoted($0) }.joined(separator: " or ")
            throw AutomationFault(
                "The message has no type of the element: the mapping \(self.name) reads it from \(names)."
            )
        }
        var element = AutomationElement(isAd: type.map { self.isAd($0) } ?? false)
        element.id = self.value(self.id, of: fields)?.value
        // The end of a break needs no duration; a song's may be written in any way.
        if element.isAd, let (name, text) = self.value(self.duration, of: fields) {
            element.durationMilliseconds = try self.duration(text, of: name)
        }
        if let (name, text) = self.value(self.start, of: fields) {
            element.startMilliseconds = try Self.start(text, of: name)
        }
        return element
    }

    /// One sentence for people about what it reads.
    package var explanation: String {
        func names(_ names: [String]) -> String { names.isEmpty ? "nothing" : names.joined(separator: ", ") }
        let ads =
            switch self.ads {
            case .values(let values): values.joined(separator: ", ")
            case .pattern: "its pattern"
            }
        return """
            \(self.name), the source \(self.source): type from \(names(self.type)), an ad where it is \(ads); \
            duration in \(self.durationUnit.rawValue) from \(names(self.duration))
            """
    }

    private func value(_ names: [String], of fields: AutomationFields) -> (name: String, value: String)? {
        for name in names {
            if let value = fields[name], !value.isEmpty { return (name, value) }
        }
        return nil
    }

    private func isAd(_ type: (name: String, value: String)) -> Bool {
        switch self.ads {
        case .values(let values):
            let value = AutomationFields.folded(type.value)
            return values.contains { AutomationFields.folded($0) == value }
        case .pattern(let pattern): return pattern.firstMatch(in: type.value) != nil
        }
    }

    /// A number, or hours, minutes and seconds with colons between them; `nil` for 0.
    private func duration(_ text: String, of name: String) throws(AutomationFault) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        var milliseconds: Int?
        if parts.count == 1 {
            // Some systems write a decimal comma.
            let number = PlaylistText.milliseconds(text.replacing(",", with: "."))
            milliseconds = self.durationUnit == .seconds ? number : number.map { $0 / 1_000 }
        } else if parts.count <= 3,
            let seconds = PlaylistText.milliseconds(parts[parts.count - 1].replacing(",", with: "."))
        {
            milliseconds = seconds
            var unit = 60_000
            for part in parts.dropLast().reversed() {
                guard part.utf8.count <= 4, let number = PlaylistText.integer(part) else {
                    milliseconds = nil
                    break
                }
                milliseconds = milliseconds.map { $0 + number * unit }
                unit *= 60
            }
        }
        guard let milliseconds else {
            throw AutomationFault(
                "The field \(name) is \(quoted(text)): it must be a number of \(self.durationUnit.rawValue), or h:mm:ss."
            )
        }
        guard milliseconds <= AutomationLimits.durationMillisecondsMax else {
            throw AutomationFault(
                "The field \(name) is \(quoted(text)): the limit durationMillisecondsMax is \(AutomationLimits.durationMillisecondsMax).",
                isTooLarge: true
            )
        }
        return milliseconds == 0 ? nil : milliseconds
    }

    private static func start(_ text: String, of name: String) throws(AutomationFault) -> Int {
        // A time without a zone could be of any: only those with one are taken.
        let hasZone = text.last == "Z" || text.last == "z" || text.dropFirst(19).contains { $0 == "+" || $0 == "-" }
        if hasZone, let microseconds = PlaylistText.date(text) { return PlaylistText.milliseconds(microseconds) }
        // 12 digits are enough for seconds; more are no instant of a programme.
        if !text.contains("-"), text.prefix(while: { $0 != "." }).utf8.count <= 11,
            let milliseconds = PlaylistText.milliseconds(text)
        {
            return milliseconds
        }
        throw AutomationFault(
            "The field \(name) is \(quoted(text)): it must be an instant with its zone, such as 2026-05-01T12:00:00Z, or seconds since 1970."
        )
    }
}

/// The meaning of a message of an automation system for a break.
package struct AutomationSignal: Hashable, Sendable {
    package enum Kind: String, Hashable, Sendable, CaseIterable {
        case out
        case `in`
    }

    package var kind: Kind
    /// How long the break is to last, in milliseconds; `nil`: that is not said.
    package var durationMilliseconds: Int?
    /// When it is so, in milliseconds since 1970; `nil`: now.
    package var startMilliseconds: Int?

    package init(kind: Kind, durationMilliseconds: Int? = nil, startMilliseconds: Int? = nil) {
        self.kind = kind
        self.durationMilliseconds = durationMilliseconds
        self.startMilliseconds = startMilliseconds
    }

    /// A break of the same source that runs.
    package struct Running: Hashable, Sendable {
        package var startMilliseconds: Int
        /// `nil`: until it is ended.
        package var endMilliseconds: Int?

        package init(startMilliseconds: Int, endMilliseconds: Int?) {
            self.startMilliseconds = startMilliseconds
            self.endMilliseconds = endMilliseconds
        }
    }

    /// How much longer than its ads a break is said to last, in milliseconds.
    ///
    /// The message about the next ad may be late. The first element that is no ad ends the break exactly.
    package static let slackMilliseconds = 2_000

    /// The signal about an element: an ad begins a break or goes on with it, anything else ends it.
    ///
    /// - Parameters:
    ///   - element: the element that begins.
    ///   - running: the break of the same source that runs, as far as that is known; it only makes the break long enough for the
    ///     next ad.
    ///   - now: the time, in milliseconds since 1970.
    package init(_ element: AutomationElement, running: Running?, atMilliseconds now: Int) {
        guard element.isAd else {
            self.kind = .in
            self.startMilliseconds = element.startMilliseconds
            return
        }
        self.kind = .out
        guard let running else {
            self.startMilliseconds = element.startMilliseconds
            self.durationMilliseconds = element.durationMilliseconds.map { Self.long($0 + Self.slackMilliseconds) }
            return
        }
        // The start of a break stays; and what is long enough for the ad stays too, so that a repeat changes nothing.
        guard let duration = element.durationMilliseconds, let end = running.endMilliseconds else { return }
        let began = element.startMilliseconds ?? now
        guard began + duration > end else { return }
        self.durationMilliseconds = Self.long(began - running.startMilliseconds + duration + Self.slackMilliseconds)
    }

    private static func long(_ milliseconds: Int) -> Int { min(milliseconds, AutomationLimits.durationMillisecondsMax) }
}
