// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Ads that are taken or left as a whole: an ad, one more time of an ad, or the ads of a lock.
struct ChoosingUnit: Hashable, Sendable {
    /// The candidates that play, in their order.
    let members: [Int]
    let durationMilliseconds: Int
    let role: AdCandidate.Role
    let priority: Int
    /// The how many-th time its ad plays, counted from 1.
    let time: Int
    /// The lot that it drew: the highest goes first among units of one priority and time.
    let drawn: UInt64

    /// Whether it goes before another one when ads are taken and played.
    func precedes(_ other: Self) -> Bool {
        if self.priority != other.priority { return self.priority < other.priority }
        if self.time != other.time { return self.time < other.time }
        if self.drawn != other.drawn { return self.drawn > other.drawn }
        return self.members[0] < other.members[0]
    }
}

extension ChoosingUnit {
    /// The units of candidates that may play, in no order.
    ///
    /// - Parameters:
    ///   - candidates: all of them.
    ///   - allowed: the places of those that may play; a lock of which one may not is not among them.
    ///   - longest: the length of the break, in milliseconds.
    ///   - seed: the seed of the draw.
    /// - Returns: the units.
    static func units(
        of candidates: [AdCandidate],
        allowed: [Int],
        longest: Int,
        seed: String
    ) -> [ChoosingUnit] {
        let draw = ChoosingDraw(seed: seed)
        var locks: [String: [Int]] = [:]
        var units: [ChoosingUnit] = []
        for place in allowed {
            let candidate = candidates[place]
            guard candidate.lock.isEmpty else {
                locks[candidate.lock, default: []].append(place)
                continue
            }
            for time in 1...max(candidate.role == .ad ? candidate.timesMax : 1, 1)
            where candidate.durationMilliseconds <= longest / time {
                units.append(ChoosingUnit([place], of: candidates, time: time, draw))
            }
        }
        for members in locks.values { units.append(ChoosingUnit(members, of: candidates, time: 1, draw)) }
        return units
    }

    private init(_ members: [Int], of candidates: [AdCandidate], time: Int, _ draw: ChoosingDraw) {
        let first = candidates[members[0]]
        self.init(
            members: members,
            durationMilliseconds: members.reduce(0) { $0 + candidates[$1].durationMilliseconds },
            role: first.role,
            priority: first.priority,
            time: time,
            drawn: draw.draw(first.id, time: time, weight: first.weight)
        )
    }
}

/// The draw among ads of one priority: the chance to be the first one is in proportion to the weight.
package struct ChoosingDraw: Sendable {
    private let hash: SipHash

    package init(seed: String) {
        let key = SipHash(key: 0x6375_6563_6173_7400, 0x6368_6F6F_7369_6E67)
        self.hash = SipHash(key: key(Array(seed.utf8)), key(Array("\(seed)/".utf8)))
    }

    /// The highest of as many lots as the ad has weight.
    package func draw(_ id: String, time: Int, weight: Int) -> UInt64 {
        var state = self.hash(Array(id.utf8) + [0, UInt8(truncatingIfNeeded: time)])
        var highest: UInt64 = 0
        // SplitMix64 (Steele, Lea and Flood, 2014): one step for each lot.
        for _ in 0..<max(weight, 1) {
            state &+= 0x9E37_79B9_7F4A_7C15
            var lot = state
            lot = (lot ^ lot >> 30) &* 0xBF58_476D_1CE4_E5B9
            lot = (lot ^ lot >> 27) &* 0x94D0_49BB_1331_11EB
            highest = max(highest, lot ^ lot >> 31)
        }
        return highest
    }
}

/// Which units exclude each other within a break, as rows of bits.
struct UnitConflicts: Sendable {
    /// Words of a row.
    let words: Int
    private(set) var rows: [UInt64]
    /// Units of one class exclude the same units, and one another or no unit at all.
    private(set) var classes: [Int]
    private(set) var classCount = 0
    /// Units of one group exclude one another.
    private(set) var groups: [Int]
    private(set) var groupCount = 0

    /// - Parameters:
    ///   - units: in their order.
    ///   - candidates: all candidates.
    ///   - rules: which rules there are.
    init(_ units: [ChoosingUnit], of candidates: [AdCandidate], _ rules: ChoosingRules) {
        self.words = (units.count + 63) / 64
        self.rows = [UInt64](repeating: 0, count: units.count * self.words)
        self.classes = []
        self.groups = []
        var names = NameNumbers()
        let marks = units.map { unit in
            var marks: Set<Int> = []
            for candidate in unit.members.map({ candidates[$0] }) {
                if rules.isAdvertiserOnce, !candidate.advertiser.isEmpty {
                    marks.insert(names.number("a " + candidate.advertiser))
                }
                if rules.isCategoryOnce {
                    for code in candidate.categories { marks.insert(names.number("c " + code)) }
                }
            }
            return marks.sorted()
        }
        self.fill(units, marks, names)
        self.classify(units, marks, names)
    }

    private mutating func fill(_ units: [ChoosingUnit], _ marks: [[Int]], _ names: NameNumbers) {
        // The units with a mark, and those with a mark that is a part of it.
        var exact = [[UInt64]](repeating: [UInt64](repeating: 0, count: self.words), count: names.count)
        for (unit, marks) in marks.enumerated() {
            for mark in marks { exact[mark][unit / 64] |= 1 << UInt64(unit % 64) }
        }
        let wider = names.wider
        var all = exact
        for (mark, wider) in wider.enumerated() {
            for other in wider {
                for word in 0..<self.words {
                    all[mark][word] |= exact[other][word]
                    all[other][word] |= exact[mark][word]
                }
            }
        }
        for (unit, marks) in marks.enumerated() {
            let row = unit * self.words
            for mark in marks {
                for word in 0..<self.words { self.rows[row + word] |= all[mark][word] }
            }
        }
        // One more time of an ad is allowed beside it.
        var times: [Int: [Int]] = [:]
        for (index, unit) in units.enumerated() where unit.members.count == 1 {
            times[unit.members[0], default: []].append(index)
        }
        for same in times.values where same.count > 1 {
            for unit in same {
                for other in same { self.rows[unit * self.words + other / 64] &= ~(1 << UInt64(other % 64)) }
            }
        }
    }

    private mutating func classify(_ units: [ChoosingUnit], _ marks: [[Int]], _ names: NameNumbers) {
        var sizes = [Int](repeating: 0, count: names.count)
        for each in marks { for mark in each { sizes[mark] += 1 } }
        let repeated = Set(units.lazy.filter { $0.time > 1 }.map { $0.members[0] })
        var classNumbers: [[Int]: Int] = [:]
        var groupNumbers: [Int: Int] = [:]
        for (unit, marks) in zip(units, marks) {
            let isAlone = unit.members.count == 1 && repeated.contains(unit.members[0])
            // Of an ad that may play several times each time is a class and a group of its own.
            let key =
                isAlone
                ? [-1, unit.members[0], unit.time]
                : [unit.priority, unit.durationMilliseconds, unit.members.count] + marks
            let number = classNumbers[key] ?? classNumbers.count
            classNumbers[key] = number
            self.classes.append(number)
            if !isAlone, let largest = marks.max(by: { sizes[$0] < sizes[$1] }) {
                let number = groupNumbers[largest] ?? self.groupCount
                if groupNumbers[largest] == nil { self.groupCount += 1 }
                groupNumbers[largest] = number
                self.groups.append(number)
            } else {
                self.groups.append(self.groupCount)
                self.groupCount += 1
            }
        }
        self.classCount = classNumbers.count
    }

    /// Whether two units exclude each other.
    func exclude(_ left: Int, _ right: Int) -> Bool {
        self.rows[left * self.words + right / 64] & 1 << UInt64(right % 64) != 0
    }
}

/// Numbers for names of advertisers and categories.
struct NameNumbers: Sendable {
    private var numbers: [String: Int] = [:]

    var count: Int { self.numbers.count }

    mutating func number(_ name: String) -> Int {
        if let number = self.numbers[name] { return number }
        self.numbers[name] = self.numbers.count
        return self.numbers.count - 1
    }

    /// For each name the names that it is a part of: of `c IAB2-3` that is `c IAB2`.
    var wider: [[Int]] {
        var all = [[Int]](repeating: [], count: self.numbers.count)
        for (name, number) in self.numbers where name.hasPrefix("c ") {
            var rest = name[...]
            while let dash = rest.lastIndex(of: "-") {
                rest = rest[..<dash]
                if let other = self.numbers[String(rest)] { all[number].append(other) }
            }
        }
        return all
    }
}
