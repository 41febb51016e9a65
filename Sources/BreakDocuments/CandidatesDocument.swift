// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// A file of ads from which those of a break are chosen, as `docs/broadcasters/choosing.md` describes it.
package struct CandidatesDocument: Hashable, Sendable {
    /// The longest file, in bytes.
    package static let bytesMax = 4_194_304
    /// The most candidates of a file.
    package static let candidatesMax = 1_000
    /// The most categories of a candidate.
    package static let categoriesMax = 16
    /// The most dayparts of a candidate.
    package static let daypartsMax = 32
    /// The longest code of a category, and the longest name of a lock, in bytes.
    package static let nameBytesMax = 64
    /// The most jingles of a break.
    package static let jinglesMax = 8
    /// The parts that a candidate may have in a break.
    static let roles = ["ad", "opener", "closer", "jingle"]
    /// Of which a break may have one at most.
    static let onceWords = ["advertiser", "category"]

    /// The separations by time, in milliseconds between the starts of two breaks.
    package struct Gaps: Hashable, Sendable {
        package var ad = 0
        package var advertiser = 0
        package var category = 0
    }

    /// A variant for which ads are chosen too.
    package struct Variant: Hashable, Sendable {
        package var name: String
        package var conditions: [AudienceVariant.Condition]
    }

    /// A part of a day.
    package struct Daypart: Hashable, Sendable {
        /// 0 is Monday.
        package var weekdays: Set<Int>
        package var fromMinute: Int
        package var untilMinute: Int
    }

    package struct Candidate: Hashable, Sendable {
        package var ad: AdvertisementContent
        package var line: Int
        package var role = "ad"
        package var priority = 5
        package var weight = 1
        package var categories: [String] = []
        package var from: Timestamp?
        package var until: Timestamp?
        package var dayparts: [Daypart] = []
        /// Empty: none.
        package var lock = ""
        package var times = 1
        /// The names of the variants that may have it; empty: all.
        package var variants: [String] = []

        /// Whether a variant may have it.
        ///
        /// - Parameter variant: the variant's name.
        /// - Returns: whether it may.
        package func isFor(_ variant: String) -> Bool { self.variants.isEmpty || self.variants.contains(variant) }
    }

    /// The zone of the dayparts.
    package var timeZone = "UTC"
    package var adsMax = WireLimits.advertisementsPerBreakMax
    package var jinglesMax = 1
    package var isAdvertiserOnce = true
    package var isCategoryOnce = true
    package var gaps = Gaps()
    package var variants: [Variant] = []
    package var candidates: [Candidate] = []

    /// The id with which an ad plays in a break.
    ///
    /// - Parameters:
    ///   - id: the ad's.
    ///   - time: the how many-th time it plays in the break.
    /// - Returns: the ad's own id for the first time, then the same with `~2`, `~3`: ids are unique in a break.
    package static func id(_ id: String, time: Int) -> String { time == 1 ? id : "\(id)~\(time)" }

    /// The ad's own id.
    ///
    /// - Parameter id: the id with which it is in a break.
    /// - Returns: the id without the number of the time.
    package static func ownID(_ id: String) -> String {
        guard let mark = id.lastIndex(of: "~"), let time = Int(id[id.index(after: mark)...]), (2...8).contains(time)
        else { return id }
        return String(id[..<mark])
    }
}

// MARK: - Reading

extension CandidatesDocument {
    /// Reads a file.
    ///
    /// - Parameter document: at most one byte more than `bytesMax` of it is looked at.
    /// - Returns: at least one candidate, each with its own id; locks are complete.
    /// - Throws: the first thing that is wrong.
    package static func read(_ document: some Sequence<UInt8>) throws(DocumentFault) -> CandidatesDocument {
        let bytes = Array(document.prefix(Self.bytesMax + 1))
        guard bytes.count <= Self.bytesMax else {
            throw .tooLarge(line: 1, field: "", reason: "the limit candidatesFileBytesMax is \(Self.bytesMax)")
        }
        let root = try AdsDocument.root(bytes)
        let fields = try JSONFields(root, path: "", shape: CandidateShapes.document)
        var result = CandidatesDocument()
        result.timeZone = try fields.text("timeZone") ?? "UTC"
        if let rules = fields["rules"] { try result.readRules(rules) }
        if fields["variants"] != nil { try result.readVariants(fields) }
        let nodes = try fields.elements("candidates")
        guard !nodes.isEmpty else { throw fields.fault("candidates", "there must be at least one") }
        guard nodes.count <= Self.candidatesMax else {
            throw .tooLarge(
                line: nodes[Self.candidatesMax].line,
                field: "candidates",
                reason: "the limit candidatesMax is \(Self.candidatesMax), and this has \(nodes.count)"
            )
        }
        var lines: [String: Int] = [:]
        for (index, node) in nodes.enumerated() {
            let path = "candidates[\(index)]"
            let candidate = try Self.candidate(node, path: path)
            for time in 1...candidate.times {
                let id = Self.id(candidate.ad.id.description, time: time)
                if let line = lines.updateValue(node.line, forKey: id) {
                    throw DocumentFault(
                        line: node.line,
                        field: "\(path).ad.id",
                        reason: "the ad on line \(line) has the id \(id) already"
                    )
                }
            }
            for name in candidate.variants
            where name != AudienceVariant.defaultName && !result.variants.contains(where: { $0.name == name }) {
                throw DocumentFault(line: node.line, field: "\(path).variants", reason: "there is no variant \(name)")
            }
            result.candidates.append(candidate)
        }
        try result.checkLocks()
        return result
    }

    private mutating func readRules(_ node: JSONNode) throws(DocumentFault) {
        let rules = try JSONFields(node, path: "rules", shape: CandidateShapes.rules)
        if let most = try rules.count("ads") {
            guard (1...WireLimits.advertisementsPerBreakMax).contains(Int(most)) else {
                throw rules.fault("ads", "it must be from 1 to \(WireLimits.advertisementsPerBreakMax)")
            }
            self.adsMax = Int(most)
        }
        if let most = try rules.count("jingles") {
            guard most <= Self.jinglesMax else {
                throw rules.fault("jingles", "it must be from 0 to \(Self.jinglesMax)")
            }
            self.jinglesMax = Int(most)
        }
        if rules["oncePerBreak"] != nil {
            let words = try Self.texts(rules, "oncePerBreak", path: "rules", countMax: Self.onceWords.count)
            for word in words where !Self.onceWords.contains(word) {
                throw rules.fault("oncePerBreak", "'\(word)' is none of advertiser and category")
            }
            self.isAdvertiserOnce = words.contains("advertiser")
            self.isCategoryOnce = words.contains("category")
        }
        if let apart = rules["apart"] {
            let fields = try JSONFields(apart, path: "rules.apart", shape: CandidateShapes.apart)
            func gap(_ key: String) throws(DocumentFault) -> Int {
                guard let duration = try fields.duration(key) else { return 0 }
                guard duration <= .seconds(86_400 * 7) else { throw fields.fault(key, "it must be 7 days at most") }
                return Int(duration.inMilliseconds)
            }
            self.gaps = Gaps(ad: try gap("ad"), advertiser: try gap("advertiser"), category: try gap("category"))
        }
    }

    private mutating func readVariants(_ fields: JSONFields) throws(DocumentFault) {
        let nodes = try fields.elements("variants")
        guard nodes.count < WireLimits.variantsPerBreakMax else {
            throw .tooLarge(
                line: nodes[0].line,
                field: "variants",
                reason: "the limit variantsPerBreakMax is \(WireLimits.variantsPerBreakMax), with default"
            )
        }
        for (index, node) in nodes.enumerated() {
            let path = "variants[\(index)]"
            let each = try JSONFields(node, path: path, shape: CandidateShapes.variant)
            let (name, conditions) = try AdsDocument.nameAndConditions(each, taken: self.variants.map(\.name))
            self.variants.append(Variant(name: name, conditions: conditions))
        }
    }

    private static func candidate(_ node: JSONNode, path: String) throws(DocumentFault) -> Candidate {
        let fields = try JSONFields(node, path: path, shape: CandidateShapes.candidate)
        let ad = try AdsDocument.checkedAdvertisement(fields.required("ad", fields["ad"]), path: "\(path).ad")
        var candidate = Candidate(ad: ad, line: node.line)
        candidate.role = try fields.text("role") ?? "ad"
        guard Self.roles.contains(candidate.role) else {
            throw fields.fault("role", "it must be ad, opener, closer or jingle")
        }
        candidate.priority = try Self.number(fields, "priority", 1...9) ?? 5
        candidate.weight = try Self.number(fields, "weight", 1...100) ?? 1
        candidate.times = try Self.number(fields, "times", 1...8) ?? 1
        if fields["categories"] != nil {
            candidate.categories = try Self.texts(fields, "categories", path: path, countMax: Self.categoriesMax)
        }
        if fields["variants"] != nil {
            candidate.variants = try Self.texts(
                fields,
                "variants",
                path: path,
                countMax: WireLimits.variantsPerBreakMax
            )
        }
        candidate.from = try Self.instant(fields, "from")
        candidate.until = try Self.instant(fields, "until")
        if let from = candidate.from, let until = candidate.until, from >= until {
            throw fields.fault("until", "it must be an instant after from")
        }
        if fields["dayparts"] != nil { candidate.dayparts = try Self.dayparts(fields, path: path) }
        if let lock = try fields.text("lock") {
            guard (1...Self.nameBytesMax).contains(lock.utf8.count) else {
                throw fields.fault("lock", "it must have 1 to \(Self.nameBytesMax) bytes")
            }
            candidate.lock = lock
        }
        guard candidate.times == 1 || candidate.role == "ad" && candidate.lock.isEmpty else {
            throw fields.fault("times", "only a plain ad without a lock may be in a break more than once")
        }
        guard candidate.lock.isEmpty || candidate.role == "ad" else {
            throw fields.fault("lock", "only plain ads may have one")
        }
        guard candidate.times == 1 || ad.id.description.utf8.count + 2 <= WireLimits.advertisementIDBytesMax else {
            throw fields.fault("times", "the id is too long to be told apart by ~2")
        }
        return candidate
    }

    /// The ads of a lock are all for the same variants, and of one priority.
    private func checkLocks() throws(DocumentFault) {
        var first: [String: Int] = [:]
        for (index, candidate) in self.candidates.enumerated() where !candidate.lock.isEmpty {
            guard let other = first[candidate.lock].map({ self.candidates[$0] }) else {
                first[candidate.lock] = index
                continue
            }
            guard candidate.priority == other.priority, candidate.variants == other.variants else {
                throw DocumentFault(
                    line: candidate.line,
                    field: "candidates[\(index)].lock",
                    reason: "priority and variants must be those of the ad on line \(other.line) with this lock"
                )
            }
        }
    }

    // MARK: Parts

    private static func number(
        _ fields: JSONFields,
        _ key: String,
        _ range: ClosedRange<Int>
    ) throws(DocumentFault) -> Int? {
        guard let number = try fields.count(key) else { return nil }
        guard range.contains(Int(number)) else {
            throw fields.fault(key, "it must be from \(range.lowerBound) to \(range.upperBound)")
        }
        return Int(number)
    }

    static func instant(_ fields: JSONFields, _ key: String) throws(DocumentFault) -> Timestamp? {
        guard let text = try fields.text(key) else { return nil }
        guard let instant = Timestamp(rfc3339: text) else {
            throw fields.fault(key, "it must be a time such as 2026-11-21T12:00:00Z, with date and zone")
        }
        return instant
    }

    static func texts(
        _ fields: JSONFields,
        _ key: String,
        path: String,
        countMax: Int
    ) throws(DocumentFault) -> [String] {
        let nodes = try fields.elements(key)
        guard nodes.count <= countMax else { throw fields.fault(key, "it must have at most \(countMax) values") }
        var texts: [String] = []
        for (index, node) in nodes.enumerated() {
            guard case .string(let text) = node.value, (1...Self.nameBytesMax).contains(text.utf8.count) else {
                throw DocumentFault(
                    line: node.line,
                    field: "\(path).\(key)[\(index)]",
                    reason: "it must be a string with 1 to \(Self.nameBytesMax) bytes"
                )
            }
            texts.append(text)
        }
        return texts
    }

    static let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    private static func dayparts(_ fields: JSONFields, path: String) throws(DocumentFault) -> [Daypart] {
        let nodes = try fields.elements("dayparts")
        guard (1...Self.daypartsMax).contains(nodes.count) else {
            throw fields.fault("dayparts", "there must be from 1 to \(Self.daypartsMax)")
        }
        var dayparts: [Daypart] = []
        for (index, node) in nodes.enumerated() {
            let path = "\(path).dayparts[\(index)]"
            let each = try JSONFields(node, path: path, shape: CandidateShapes.daypart)
            var weekdays = Set(0..<7)
            if each["days"] != nil {
                weekdays = []
                for word in try Self.texts(each, "days", path: path, countMax: 7) {
                    guard let day = Self.days.firstIndex(of: word) else {
                        throw each.fault("days", "'\(word)' is none of \(Self.days.joined(separator: ", "))")
                    }
                    weekdays.insert(day)
                }
                guard !weekdays.isEmpty else { throw each.fault("days", "there must be at least one") }
            }
            let from = try Self.minute(each, "from") ?? 0
            let until = try Self.minute(each, "until") ?? 1_440
            guard from != until, from < 1_440 else {
                throw each.fault("until", "it must be another time of the day than from, up to 24:00")
            }
            dayparts.append(Daypart(weekdays: weekdays, fromMinute: from, untilMinute: until))
        }
        return dayparts
    }

    /// A time of the day such as `06:30`, in minutes; up to `24:00`.
    private static func minute(_ fields: JSONFields, _ key: String) throws(DocumentFault) -> Int? {
        guard let text = try fields.text(key) else { return nil }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        if parts.count == 2,
            parts.allSatisfy({ $0.utf8.count == 2 && $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), minute < 60, hour * 60 + minute <= 1_440
        {
            return hour * 60 + minute
        }
        throw fields.fault(key, "it must be a time of the day such as 06:30, up to 24:00")
    }
}
