// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The bounds of a document that schedules breaks, and of what is taken from it.
package enum ScheduleLimits {
    /// The largest document, in bytes (4 MiB).
    package static let scheduleBytesMax = 4_194_304
    /// The most rows of a traffic log.
    package static let scheduleRowsMax = 20_000
    /// The most fields of a row.
    package static let scheduleFieldsMax = 256
    /// The longest field of a row, and the longest property of a calendar, in bytes.
    package static let scheduleFieldBytesMax = 4_096
    /// The most breaks of a document, and the most events of a calendar.
    package static let scheduleBreaksMax = 10_000
    /// The most occurrences of one event of a calendar, and the most repeats of one break of a programme.
    package static let scheduleOccurrencesMax = 1_000
    /// The most sources of ads of one break.
    package static let scheduleSourcesPerBreakMax = 64
    /// The most faults that are told one by one; further ones are counted.
    package static let scheduleFaultsMax = 100
    /// The longest programme, in milliseconds (7 days).
    package static let programmeMillisecondsMax: Int64 = 604_800_000
    /// The longest break, in milliseconds (6 h), as the gateway has it.
    package static let breakMillisecondsMax: Int64 = 21_600_000
}

/// Why a document, or a part of it, schedules nothing.
package struct ScheduleFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The line, counted from 1; `nil`: it is about the whole document.
    package let line: Int?
    /// One clause for people, without a full stop.
    package let reason: String
    /// The limit of ``ScheduleLimits`` that is passed; `nil`: none is.
    package let limit: String?

    package init(_ reason: String, line: Int? = nil) {
        self.line = line
        self.reason = reason
        self.limit = nil
    }

    init(limit: String, _ maximum: some BinaryInteger, line: Int? = nil) {
        self.line = line
        self.reason = "the limit \(limit) is \(maximum), and there is more"
        self.limit = limit
    }

    package var description: String { self.line.map { "line \($0): \(self.reason)" } ?? self.reason }
}

/// Something about a document that is no fault, and that its reader must know.
package struct ScheduleNote: Hashable, Sendable, CustomStringConvertible {
    /// The line, counted from 1; `nil`: it is about the whole document.
    package let line: Int?
    /// One sentence for people.
    package let text: String

    package init(_ text: String, line: Int? = nil) {
        self.line = line
        self.text = text
    }

    package var description: String { self.line.map { "line \($0): \(self.text)" } ?? self.text }
}

/// Where ads of a scheduled break come from.
package enum ScheduledAds: Hashable, Sendable {
    /// A list that the gateway keeps.
    case list(String)
    /// A file beside the document, of VAST or of ads in JSON.
    case file(String)
    /// Ads that stand in the document.
    case inline([AdContent])
    /// Ads that an ad server gives.
    case tag(ScheduledTag)
}

/// The address of an ad server, for the ads of a scheduled break.
package struct ScheduledTag: Hashable, Sendable {
    /// Absolute, `http` or `https`, with its macros.
    package var address: String
    /// Whether only the first ad of the answer plays: VMAP's `allowMultipleAds="false"` (VMAP 1.0.1 section 2.3.2).
    package var isSingle: Bool
    /// Whether wrappers are followed: VMAP's `followRedirects` (VMAP 1.0.1 section 2.3.2).
    package var followsWrappers: Bool

    package init(address: String, isSingle: Bool = false, followsWrappers: Bool = true) {
        self.address = address
        self.isSingle = isSingle
        self.followsWrappers = followsWrappers
    }

    /// The tag of a text; `nil`: it is no absolute address, or longer than `urlBytesMax`.
    package init?(text: String) {
        guard case .usable(let address) = WebAddress(text, bytesMax: AdFormatLimits().urlBytesMax) else { return nil }
        self.init(address: address)
    }

    /// The same with a part behind its query; `nil`: it is longer than `urlBytesMax` then.
    ///
    /// - Parameter part: names and values, without a question mark (RFC 3986 section 3.4).
    /// - Returns: the tag.
    package func adding(query part: String) -> ScheduledTag? {
        let end = self.address.firstIndex(of: "#") ?? self.address.endIndex
        let before = self.address[..<end]
        let mark =
            if !before.contains("?") { "?" } else if before.hasSuffix("?") || before.hasSuffix("&") { "" } else { "&" }
        var tag = self
        tag.address = before + mark + part + self.address[end...]
        return tag.address.utf8.count <= AdFormatLimits().urlBytesMax ? tag : nil
    }
}

/// A break as a document has it.
package struct ScheduledBreak: Hashable, Sendable {
    /// Unique in its document: 1 to 36 characters `A–Z a–z 0–9 _ -`.
    package var id: String
    /// When it starts, in milliseconds since 1970.
    package var startMilliseconds: Int64
    /// The most that it lasts, in milliseconds; `nil`: as long as its ads.
    package var durationMilliseconds: Int64?
    /// For people; empty: it has none.
    package var title: String
    /// Its ads, in order; empty: the document names none.
    package var ads: [ScheduledAds]
    /// The line on which it begins, counted from 1.
    package var line: Int

    package init(id: String, startMilliseconds: Int64, title: String = "", ads: [ScheduledAds] = [], line: Int) {
        self.id = id
        self.startMilliseconds = startMilliseconds
        self.title = title
        self.ads = ads
        self.line = line
    }
}

extension ScheduledBreak {
    /// Its ad servers, by their places among ``ads``.
    package var tags: [(place: Int, tag: ScheduledTag)] {
        self.ads.enumerated()
            .compactMap { place, source in
                guard case .tag(let tag) = source else { return nil }
                return (place, tag)
            }
    }
}

/// The breaks of a document, and what is wrong with it.
package struct ScheduleDocument: Hashable, Sendable {
    /// By start, then by id.
    package private(set) var breaks: [ScheduledBreak] = []
    /// The faults, by line; at most ``ScheduleLimits/scheduleFaultsMax``.
    package private(set) var faults: [ScheduleFault] = []
    /// How many faults are not in ``faults``.
    package private(set) var moreFaults = 0
    /// Facts that its reader must know.
    package private(set) var notes: [ScheduleNote] = []
    /// The beginnings of the ids of which the document says everything; `nil`: it says everything about all of them.
    ///
    /// A traffic log of one day says nothing about the breaks of another one.
    package var idPrefixes: Set<String>?

    package init() {}

    mutating func add(_ fault: ScheduleFault) {
        guard self.faults.count < ScheduleLimits.scheduleFaultsMax else {
            self.moreFaults += 1
            return
        }
        self.faults.append(fault)
    }

    mutating func add(_ note: ScheduleNote) { self.notes.append(note) }

    /// Takes the breaks; of those with one id only the first stays, and the others are faults.
    ///
    /// - Throws: where there are too many.
    mutating func finish(_ breaks: [ScheduledBreak]) throws(ScheduleFault) {
        guard breaks.count <= ScheduleLimits.scheduleBreaksMax else {
            throw ScheduleFault(limit: "scheduleBreaksMax", ScheduleLimits.scheduleBreaksMax)
        }
        var lines: [String: Int] = [:]
        for each in breaks.sorted(by: { ($0.line, $0.startMilliseconds) < ($1.line, $1.startMilliseconds) }) {
            if let first = lines[each.id] {
                self.add(ScheduleFault("the break \(each.id) is there already, on line \(first)", line: each.line))
            } else {
                lines[each.id] = each.line
                self.breaks.append(each)
            }
        }
        self.breaks.sort { ($0.startMilliseconds, $0.id) < ($1.startMilliseconds, $1.id) }
        self.faults.sort { ($0.line ?? 0) < ($1.line ?? 0) }
        if self.breaks.isEmpty, self.faults.isEmpty {
            throw ScheduleFault("there is no break in it; to take breaks back, cancel them")
        }
    }

    /// The same document without one break, which cannot be put as it stands.
    package mutating func refuse(_ id: String, _ fault: ScheduleFault) {
        self.breaks.removeAll { $0.id == id }
        self.add(fault)
    }
}
