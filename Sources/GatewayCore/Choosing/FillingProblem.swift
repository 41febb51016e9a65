// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The numbers of a search that do not change while it goes on.
///
/// Times are in multiples of a common divisor.
struct FillingProblem: Sendable {
    /// All units: the ads by their order first, then the jingles by theirs, then the others.
    let units: [ChoosingUnit]
    let conflicts: UnitConflicts
    /// How many units are ads.
    let adCount: Int
    /// The units that are jingles.
    let jingles: Range<Int>
    /// Of each ad and jingle.
    let lengths: [Int]
    /// Of each ad: the place of its priority among those that there are.
    let levels: [Int]
    /// Where the ads of each priority begin; one more at the end.
    let starts: [Int]
    /// Of each ad: the same ad one time earlier; -1: none.
    let earlier: [Int]
    /// The sums of each priority's ads.
    let sums: [ReachableSums]
    /// The sums of all ads and jingles.
    let allSums: ReachableSums
    let jingleSums: ReachableSums
    let groups: GroupLengths
    /// Of each ad: the longest from it on, of its priority.
    let longest: [Int]
    let rules: ChoosingRules
    let divisor: Int

    init(_ units: [ChoosingUnit], _ conflicts: UnitConflicts, _ rules: ChoosingRules, _ limits: ChoosingLimits) {
        self.units = units
        self.conflicts = conflicts
        self.rules = rules
        let adCount = units.firstIndex { $0.role != .ad } ?? units.count
        let end = units.firstIndex { $0.role != .ad && $0.role != .jingle } ?? units.count
        let filling = units[..<end]
        let divisor = filling.reduce(0) { Self.divisor($0, $1.durationMilliseconds) }
        self.adCount = adCount
        self.jingles = adCount..<end
        self.divisor = max(divisor, 1)
        let lengths = filling.map { $0.durationMilliseconds / max(divisor, 1) }
        self.lengths = lengths
        var levels: [Int] = []
        var starts: [Int] = []
        var earlier = [Int](repeating: -1, count: adCount)
        var times: [Int: Int] = [:]
        for (index, unit) in units[..<adCount].enumerated() {
            if index == 0 || units[index - 1].priority != unit.priority { starts.append(index) }
            levels.append(starts.count - 1)
            guard unit.members.count == 1 else { continue }
            earlier[index] = times[unit.members[0]] ?? -1
            times[unit.members[0]] = index
        }
        starts.append(adCount)
        self.levels = levels
        self.starts = starts
        self.earlier = earlier
        let most = rules.fillMilliseconds / self.divisor
        self.sums = (0..<starts.count - 1)
            .map { ReachableSums(lengths[starts[$0]..<starts[$0 + 1]], upTo: most, wordsMax: limits.sumWordsMax) }
        // Only a least duration asks for it.
        self.allSums = ReachableSums(
            lengths,
            upTo: most,
            wordsMax: rules.minimumMilliseconds > 0 ? limits.sumWordsMax : 0
        )
        self.jingleSums = ReachableSums(lengths[adCount..<end], upTo: most, wordsMax: limits.sumWordsMax)
        self.groups = GroupLengths(
            lengths: Array(lengths[..<adCount]),
            groups: Array(conflicts.groups[..<adCount]),
            groupCount: conflicts.groupCount,
            starts: starts
        )
        var longest = Array(lengths[..<adCount])
        for index in longest.indices.dropLast().reversed() where levels[index] == levels[index + 1] {
            longest[index] = max(longest[index], longest[index + 1])
        }
        self.longest = longest
    }

    private static func divisor(_ left: Int, _ right: Int) -> Int {
        var (left, right) = (left, right)
        while right != 0 { (left, right) = (right, left % right) }
        return left
    }
}

/// How long one unit of each group can be, from a place on: units of a group exclude one another.
struct GroupLengths: Sendable {
    let groups: [Int]
    private let groupCount: Int
    /// From each ad on, within its priority: the longest of each group together.
    private let totals: [Int]
    /// By priority and group: where its places begin in `places`, and where they end.
    private var ranges: [Range<Int>]
    private var places: [Int] = []
    /// The longest of the group from each of `places` on.
    private var longest: [Int] = []

    init(lengths: [Int], groups: [Int], groupCount: Int, starts: [Int]) {
        self.groups = groups
        self.groupCount = groupCount
        self.ranges = [Range<Int>](repeating: 0..<0, count: groupCount * max(starts.count - 1, 0))
        var totals = [Int](repeating: 0, count: lengths.count)
        for level in 0..<max(starts.count - 1, 0) {
            var best: [Int: Int] = [:]
            var total = 0
            var byGroup: [Int: [(place: Int, longest: Int)]] = [:]
            for place in (starts[level]..<starts[level + 1]).reversed() {
                let old = best[groups[place]] ?? 0
                let new = max(old, lengths[place])
                best[groups[place]] = new
                total += new - old
                totals[place] = total
                byGroup[groups[place], default: []].append((place, new))
            }
            for (group, entries) in byGroup {
                let begin = self.places.count
                for entry in entries.reversed() {
                    self.places.append(entry.place)
                    self.longest.append(entry.longest)
                }
                self.ranges[level * groupCount + group] = begin..<self.places.count
            }
        }
        self.totals = totals
    }

    /// The most that ads of one priority can last together from a place on, without those of groups that are used.
    func most(from place: Int, level: Int, used: [Int]) -> Int {
        var most = self.totals[place]
        for group in used { most -= self.longest(of: group, from: place, level: level) }
        return most
    }

    private func longest(of group: Int, from place: Int, level: Int) -> Int {
        let range = self.ranges[level * self.groupCount + group]
        var (low, high) = (range.lowerBound, range.upperBound)
        while low < high {
            let middle = (low + high) / 2
            if self.places[middle] < place { low = middle + 1 } else { high = middle }
        }
        return low < range.upperBound ? self.longest[low] : 0
    }
}
