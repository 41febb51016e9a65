// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Which metadata says that ads play, and what it says of them.
public struct RadioRule: Hashable, Sendable {
    /// Where a rule looks.
    ///
    /// New cases may appear in a minor release.
    @nonexhaustive
    public enum Subject: String, Hashable, Sendable {
        /// `StreamTitle`.
        case title
        /// `StreamUrl`.
        case url
        /// The whole text, with all fields.
        case text
    }

    /// The name, as events tell it.
    public var name: String
    /// Where it looks.
    public var subject: Subject
    /// The pattern of the text while ads play.
    ///
    /// Groups say more: `duration` in seconds, `milliseconds`, and `id`.
    public var pattern: TextPattern
    /// More patterns for the same text and the same groups, in any order.
    public var details: [TextPattern]

    /// A rule.
    public init(name: String, subject: Subject, pattern: TextPattern, details: [TextPattern] = []) {
        self.name = name
        self.subject = subject
        self.pattern = pattern
        self.details = details
    }

    /// The rules for what is in use: `START_AD_BREAK` in titles, `adw_ad='true'`, and cue points in `StreamUrl`.
    public static let ready: [RadioRule] = [
        // Automation systems put it in as the title, with or without seconds behind it.
        RadioRule.written("start-ad-break", .title, #"(?i)START_AD_BREAK(?:[ _:=-]+(?<duration>\d+(?:\.\d+)?))?"#),
        // Fields beside the title: adw_ad='true';durationMilliseconds='30000';adId='1';insertionType='midroll';
        RadioRule.written(
            "adw-ad",
            .text,
            #"(?i)adw_ad='true'"#,
            #"(?i)durationMilliseconds='(?<milliseconds>\d+)'"#,
            #"(?i)adId='(?<id>[^']+)'"#
        ),
        // Parameters of an address: type=ad&cue_time_duration=30000&ad_id=1
        RadioRule.written(
            "cue-point",
            .url,
            #"(?i)(?:^|[?&])(?:cue_)?type=ad(?:$|[&#])"#,
            #"(?i)[?&]cue_time_duration=(?<milliseconds>\d+)"#,
            #"(?i)[?&](?:ad|cue)_id=(?<id>[^&#]+)"#
        ),
    ]
    .compactMap { $0 }

    /// A rule of patterns that tests try.
    private static func written(_ name: String, _ subject: Subject, _ pattern: String, _ details: String...)
        -> RadioRule?
    {
        guard let pattern = try? TextPattern(pattern) else { return nil }
        return RadioRule(
            name: name,
            subject: subject,
            pattern: pattern,
            details: details.compactMap { try? TextPattern($0) }
        )
    }

    /// The duration and the id of the ad that the rule finds in metadata; `nil`: no ad.
    func match(_ metadata: ICYMetadata) -> (durationMilliseconds: Int?, id: String?)? {
        let text: String? =
            switch self.subject {
            case .title: metadata.title
            case .url: metadata.url
            case .text: metadata.text
            }
        guard let text, var groups = self.pattern.firstMatch(in: text) else { return nil }
        for detail in self.details {
            groups.merge(detail.firstMatch(in: text) ?? [:]) { first, _ in first }
        }
        let seconds = groups["duration"].flatMap { PlaylistText.milliseconds($0) }
        let duration = groups["milliseconds"].flatMap { PlaylistText.integer($0) } ?? seconds
        let isTold = duration.map { (1...RadioWatch.durationMillisecondsMax).contains($0) } ?? false
        let id = groups["id"].flatMap { $0.isEmpty || $0.utf8.count > RadioWatch.idBytesMax ? nil : $0 }
        return (isTold ? duration : nil, id)
    }
}

/// An event that a ``RadioWatch`` saw in metadata.
public struct RadioEvent: Hashable, Sendable {
    /// The kind of an event.
    ///
    /// New cases may appear in a minor release.
    @nonexhaustive
    public enum Kind: String, Hashable, Sendable {
        /// Ads begin.
        case out
        /// Another ad of the same break begins.
        case nextAd
        /// The programme goes on.
        case `in`
    }

    /// The kind of the event.
    public var kind: Kind
    /// When the metadata came, in milliseconds since 1970.
    public var timeMilliseconds: Int
    /// The title, as far as there is one.
    public var title: String?
    /// The name of the rule; `nil`: ads end because none fits.
    public var rule: String?
    /// How long what begins is, in milliseconds, where the metadata says it.
    public var durationMilliseconds: Int?
    /// The id, where the metadata has one.
    public var id: String?
}

/// Watches the metadata of a radio stream for ads.
///
/// Ads begin with metadata that a rule fits, and end with the first title that none fits. The same metadata again, as a server
/// sends it after each connection, tells nothing new.
public struct RadioWatch: Hashable, Sendable {
    /// The longest duration that metadata can tell, in milliseconds (24 h); a longer one counts as absent.
    public static let durationMillisecondsMax = 86_400_000
    /// The longest id, in bytes of UTF-8; a longer one counts as absent.
    public static let idBytesMax = 128

    /// The rules; the first that fits counts.
    public let rules: [RadioRule]
    private var lastText: String?
    /// Whether ads play.
    public private(set) var isInBreak = false

    /// A watch that has seen nothing.
    public init(rules: [RadioRule] = RadioRule.ready) { self.rules = rules }

    /// Takes metadata.
    ///
    /// - Parameters:
    ///   - metadata: What came.
    ///   - now: When it came, in milliseconds since 1970.
    /// - Returns: What happened; `nil`: nothing.
    public mutating func read(_ metadata: ICYMetadata, atMilliseconds now: Int) -> RadioEvent? {
        guard metadata.text != self.lastText else { return nil }
        self.lastText = metadata.text
        var event = RadioEvent(kind: .in, timeMilliseconds: now, title: metadata.title)
        for rule in self.rules {
            guard let match = rule.match(metadata) else { continue }
            event.kind = self.isInBreak ? .nextAd : .out
            event.rule = rule.name
            event.durationMilliseconds = match.durationMilliseconds
            event.id = match.id
            self.isInBreak = true
            return event
        }
        guard self.isInBreak, metadata.title != nil else { return nil }
        self.isInBreak = false
        return event
    }
}
