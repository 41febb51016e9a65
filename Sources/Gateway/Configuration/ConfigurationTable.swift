// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
package import GatewayCore
import GatewayDocuments

/// The table of all keys: name, meaning, place in the configuration, and bounds.
///
/// `docs/reference/configuration.md` is made from it.
package enum ConfigurationTable {
    /// One key.
    ///
    /// The value is text in every source: a file, the environment, or a flag.
    package struct Row: Sendable {
        package let key: String
        /// The meaning of its value, in Markdown.
        package let meaning: String
        /// The kind of its value: `text`, `flag`, `duration`, or the things that a number counts.
        package private(set) var unit = "text"
        /// Whether a running gateway applies a new value (SIGHUP); others need a restart.
        package private(set) var isReloadable = false
        /// The page that explains it; `nil`: its meaning says everything.
        package private(set) var page: ReferenceLink?
        /// Puts a value into a configuration, or says why not.
        let set: @Sendable (inout GatewayConfiguration, String) -> String?
        /// The value in a configuration, as one would write it.
        let get: @Sendable (GatewayConfiguration) -> String

        init(
            key: String,
            meaning: String,
            set: @escaping @Sendable (inout GatewayConfiguration, String) -> String?,
            get: @escaping @Sendable (GatewayConfiguration) -> String
        ) {
            self.key = key
            self.meaning = meaning
            self.set = set
            self.get = get
        }

        /// The same, whose value is of this unit.
        func counting(_ unit: String) -> Row {
            var row = self
            row.unit = unit
            return row
        }

        /// The same, that a running gateway applies.
        var reloadable: Row {
            var row = self
            row.isReloadable = true
            return row
        }

        /// The same, with a page that explains it: its title, and its path in `docs`.
        func explained(_ title: String, _ path: String) -> Row {
            var row = self
            row.page = ReferenceLink(title, path)
            return row
        }

        /// The same, with a further rule that goes before its own.
        ///
        /// - Parameter rule: the fault of a value; `nil`: none.
        /// - Returns: the row with that rule.
        func checked(_ rule: @escaping @Sendable (Row, String) -> String?) -> Row {
            let base = self
            var row = Row(
                key: self.key,
                meaning: self.meaning,
                set: { configuration, value in rule(base, value) ?? base.set(&configuration, value) },
                get: self.get
            )
            row.unit = self.unit
            row.isReloadable = self.isReloadable
            row.page = self.page
            return row
        }

        /// The meaning of its value, as plain text.
        package var help: String { ReferenceText.plain(self.meaning) }

        /// The value in a configuration, as one would write it.
        package func text(of configuration: GatewayConfiguration) -> String { self.get(configuration) }

        /// The default, as one would write it.
        package var defaultText: String { self.get(GatewayConfiguration()) }

        /// The keys of one group begin with the same word, for instance `listeners`.
        fileprivate var group: Substring { self.key.prefix { $0 != "." } }

        /// The environment variable, for instance `CUECAST_BREAKS_ANNOUNCE_AHEAD`.
        package var environmentVariable: String {
            var name = "CUECAST_"
            for character in self.key {
                if character == "." {
                    name += "_"
                } else {
                    if character.isUppercase { name += "_" }
                    name += character.uppercased()
                }
            }
            return name
        }
    }

    /// All keys, each limit behind the other keys of its group.
    package static let rows: [Row] = {
        var rows = Self.ownRows + Self.sharedLogRows
        for row in LimitName.allCases.compactMap(Self.row(of:)) {
            let before = rows.lastIndex { $0.group == row.group }
            rows.insert(row, at: before.map { $0 + 1 } ?? rows.endIndex)
        }
        return rows
    }()

    /// The key that a misspelt one, or one without its section, most likely stands for.
    package static func suggestion(for key: String) -> String? {
        let keys = Self.rows.map(\.key)
        let inSections = keys.filter { $0.hasSuffix("." + key) }
        if let only = inSections.first, inSections.count == 1 { return only }
        return Spelling.nearest(to: key, among: keys)
    }

    /// The things that a number counts, by the name of its key.
    private static func unit(ofNumber key: String) -> String {
        if key.lowercased().contains("bytes") { return "bytes" }
        if key.hasSuffix("PerSecondMax") { return "1/s" }
        return key.hasSuffix("Rate") ? "ppm" : "count"
    }

    /// The key of a limit; `nil`: the limit is fixed.
    private static func row(of limit: LimitName) -> Row? {
        let declaration = limit.declaration
        guard let setting = declaration.setting else { return nil }
        let row = Row(
            key: setting.key,
            meaning: setting.meaning,
            set: { configuration, value in
                Self.readNumber(value, setting.range, &configuration.limits[limit])
            },
            get: { String($0.limits[limit]) }
        )
        .counting(declaration.unit.rawValue)
        return setting.isReloadable ? row.reloadable : row
    }

    /// Reads a number, or says why not.
    static func readNumber(_ value: String, _ bounds: ClosedRange<Int>, _ place: inout Int) -> String? {
        guard let number = Int(value), bounds.contains(number) else {
            return "it must be a whole number from \(bounds.lowerBound) to \(bounds.upperBound), and is \(value)"
        }
        place = number
        return nil
    }

    static func text(
        _ key: String,
        _ meaning: String,
        _ path: any WritableKeyPath<GatewayConfiguration, String> & Sendable,
        check: @escaping @Sendable (String) -> String?
    ) -> Row {
        Row(
            key: key,
            meaning: meaning,
            set: { configuration, value in
                configuration[keyPath: path] = value
                return check(value)
            },
            get: { $0[keyPath: path] }
        )
    }

    static func flag(
        _ key: String,
        _ meaning: String,
        _ path: any WritableKeyPath<GatewayConfiguration, Bool> & Sendable
    ) -> Row {
        Row(
            key: key,
            meaning: meaning,
            set: { configuration, value in
                guard let flag = Bool(value) else { return "it must be true or false, and is \(value)" }
                configuration[keyPath: path] = flag
                return nil
            },
            get: { String($0[keyPath: path]) }
        )
        .counting("flag")
    }

    static func duration(
        _ key: String,
        _ meaning: String,
        _ path: any WritableKeyPath<GatewayConfiguration, Duration> & Sendable,
        _ bounds: ClosedRange<Duration>
    ) -> Row {
        Row(
            key: key,
            meaning: meaning,
            set: { configuration, value in
                guard let duration = Duration(text: value), bounds.contains(duration) else {
                    return
                        "it must be a duration from \(bounds.lowerBound.asText) to \(bounds.upperBound.asText) such as 8s, and is \(value)"
                }
                configuration[keyPath: path] = duration
                return nil
            },
            get: { $0[keyPath: path].asText }
        )
        .counting("duration")
    }

    static func number(
        _ key: String,
        _ meaning: String,
        _ path: any WritableKeyPath<GatewayConfiguration, Int> & Sendable,
        _ bounds: ClosedRange<Int>
    ) -> Row {
        Row(
            key: key,
            meaning: meaning,
            set: { configuration, value in
                Self.readNumber(value, bounds, &configuration[keyPath: path])
            },
            get: { String($0[keyPath: path]) }
        )
        .counting(Self.unit(ofNumber: key))
    }
}

extension Duration {
    /// As one writes it in a configuration: `8s`, `1h`, `400d`, `250ms`.
    fileprivate var asText: String {
        let milliseconds = self.inMicroseconds / 1_000
        for (unit, name) in [(86_400_000, "d"), (3_600_000, "h"), (60_000, "m"), (1_000, "s")] as [(Int64, String)]
        where milliseconds != 0 && milliseconds % unit == 0 {
            return "\(milliseconds / unit)\(name)"
        }
        return milliseconds == 0 ? "0s" : "\(milliseconds)ms"
    }
}
