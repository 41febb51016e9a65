// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Searches the best filling between an opener and a closer that are given: branch and bound, in the order of the ads.
///
/// Sets of ads are met in the order of preference among equals: the one with the first ad in which two of them differ comes first. A branch
/// is left where a bound shows that nothing in it is better than what is there. The bounds are the sums that remaining ads can reach
/// whatever excludes what, one ad of each group that excludes one another, and the number of ads.
///
/// A first pass looks only for fillings as good as the bound at the root; mostly there is one. If there is none, the second pass takes
/// whatever is better than the best so far.
struct FillingSearch {
    private let problem: FillingProblem
    /// How long the ads last, by priority: of the best so far, or of what the first pass looks for.
    private var goal: [Int]
    private var isFirstPass = true
    private var best: [Int]?

    // The path from the root to the present node.
    private var current: [Int]
    private var path: [Int] = []
    private var isChosen: [Bool]
    private var usedGroups: [Int] = []
    private var count: Int
    private var total = 0
    /// For each depth: what the units on the path exclude.
    private var blocked: [UInt64]
    /// For each depth and class: the node at which one of the class was tried without success.
    private var tried: [Int]
    private var node = 0

    private let room: Int
    private let minimum: Int
    private var stepsLeft: Int
    /// How many steps were taken.
    private(set) var steps = 0
    /// Whether it ended because there were no steps left.
    private(set) var isCut = false

    /// - Parameters:
    ///   - problem: the units and their bounds.
    ///   - frame: the units that are chosen already: opener and closer.
    ///   - stepsMax: how many steps it may take.
    init(_ problem: FillingProblem, frame: [Int], stepsMax: Int) {
        self.problem = problem
        let framed = frame.reduce(0) { $0 + problem.units[$1].durationMilliseconds }
        let rules = problem.rules
        let room = rules.fillMilliseconds - framed
        self.room = room < 0 ? -1 : room / problem.divisor
        let least = rules.minimumMilliseconds - framed
        self.minimum = least <= 0 ? 0 : (least + problem.divisor - 1) / problem.divisor
        self.count = frame.reduce(0) { $0 + problem.units[$1].members.count }
        self.goal = []
        self.current = [Int](repeating: 0, count: problem.sums.count)
        self.isChosen = [Bool](repeating: false, count: problem.adCount)
        let depths = max(rules.adsMax, 0) + 1
        self.blocked = [UInt64](repeating: 0, count: problem.conflicts.words * depths)
        self.tried = [Int](repeating: 0, count: problem.conflicts.classCount * depths)
        self.stepsLeft = stepsMax
        for unit in frame {
            for word in 0..<problem.conflicts.words {
                self.blocked[word] |= problem.conflicts.rows[unit * problem.conflicts.words + word]
            }
        }
    }

    /// The units of the best filling, ads before jingles; `nil`: there is none with at least one ad, or none was found.
    mutating func run() -> [Int]? {
        guard self.problem.adCount > 0, self.room >= 0, self.count < self.problem.rules.adsMax,
            let goal = self.target()
        else { return nil }
        let all = self.stepsLeft
        self.goal = goal
        self.stepsLeft = all / 2
        if self.visit(from: 0) { return self.best }
        self.isFirstPass = false
        self.isCut = false
        self.stepsLeft += all - all / 2
        self.goal = goal.map { _ in -1 }
        _ = self.visit(from: 0)
        return self.best
    }

    /// How many sums are looked at in the time of one step.
    private static let sumsPerStep = 1_024

    /// The best that the bounds let hope for, by priority; `nil`: nothing lasts as long as it must, or there are no steps left.
    private mutating func target() -> [Int]? {
        var looks = 0
        var (room, least) = (self.room, self.minimum)
        guard self.problem.allSums.reaches(from: 0, atLeast: least, upTo: room) else { return nil }
        var goal: [Int] = []
        for level in self.problem.sums.indices {
            let start = self.problem.starts[level]
            var most = min(room, self.problem.groups.most(from: start, level: level, used: []))
            most = self.problem.sums[level].largest(from: 0, upTo: most)
            let end = self.problem.starts[level + 1]
            while most > 0, !self.problem.allSums.reaches(from: end, atLeast: least - most, upTo: room - most) {
                looks += 1
                if looks % Self.sumsPerStep == 0 {
                    guard self.stepsLeft > 0 else {
                        self.isCut = true
                        return nil
                    }
                    self.stepsLeft -= 1
                    self.steps += 1
                }
                most = self.problem.sums[level].largest(from: 0, upTo: most - 1)
            }
            goal.append(most)
            room -= most
            least -= most
        }
        return goal
    }

    // MARK: Nodes

    /// Looks at the present set, then at all that add units from a place on.
    ///
    /// - Returns: whether the search is over, because nothing can be better.
    private mutating func visit(from first: Int) -> Bool {
        if !self.path.isEmpty, self.takes() { return true }
        let rules = self.problem.rules
        guard self.count < rules.adsMax else { return false }
        self.node += 1
        let node = self.node
        let depth = self.path.count
        let words = self.problem.conflicts.words
        let classes = depth * self.problem.conflicts.classCount
        for unit in first..<self.problem.adCount {
            guard self.blocked[depth * words + unit / 64] & 1 << UInt64(unit % 64) == 0,
                self.problem.lengths[unit] <= self.room - self.total,
                self.problem.units[unit].members.count <= rules.adsMax - self.count
            else { continue }
            let earlier = self.problem.earlier[unit]
            guard earlier < 0 || self.isChosen[earlier],
                self.tried[classes + self.problem.conflicts.classes[unit]] != node
            else { continue }
            guard self.stepsLeft > 0 else {
                self.isCut = true
                return false
            }
            self.stepsLeft -= 1
            self.steps += 1
            guard self.hasHope(from: unit) else { return false }
            self.add(unit)
            let isOver = self.visit(from: unit + 1)
            self.remove(unit)
            if isOver || self.isCut { return isOver }
            self.tried[classes + self.problem.conflicts.classes[unit]] = node
        }
        return false
    }

    private mutating func add(_ unit: Int) {
        let words = self.problem.conflicts.words
        let depth = self.path.count
        for word in 0..<words {
            self.blocked[(depth + 1) * words + word] =
                self.blocked[depth * words + word] | self.problem.conflicts.rows[unit * words + word]
        }
        self.path.append(unit)
        self.isChosen[unit] = true
        self.usedGroups.append(self.problem.groups.groups[unit])
        self.count += self.problem.units[unit].members.count
        self.total += self.problem.lengths[unit]
        self.current[self.problem.levels[unit]] += self.problem.lengths[unit]
    }

    private mutating func remove(_ unit: Int) {
        self.path.removeLast()
        self.isChosen[unit] = false
        self.usedGroups.removeLast()
        self.count -= self.problem.units[unit].members.count
        self.total -= self.problem.lengths[unit]
        self.current[self.problem.levels[unit]] -= self.problem.lengths[unit]
    }

    /// Takes the present set if it is what is looked for, or better than the best so far.
    ///
    /// - Returns: whether the search is over.
    private mutating func takes() -> Bool {
        if self.isFirstPass {
            guard self.current == self.goal else { return false }
        } else {
            guard self.goal.lexicographicallyPrecedes(self.current) else { return false }
        }
        guard let jingles = self.jingles() else { return false }
        self.best = self.path + jingles
        if self.isFirstPass { return true }
        self.goal = self.current
        return false
    }

    /// Whether units from a place on can lead to what is looked for.
    private func hasHope(from first: Int) -> Bool {
        let level = self.problem.levels[first]
        for index in 0..<level where self.current[index] != self.goal[index] {
            // The first pass looks for nothing but its goal.
            return !self.isFirstPass && self.current[index] > self.goal[index] && self.isLongEnough(from: first)
        }
        if self.isFirstPass, self.current[level] > self.goal[level] { return false }
        var room = self.room - self.total
        var place = first
        for index in level..<self.problem.sums.count {
            let start = self.problem.starts[index]
            if index > level { place = start }
            var most = min(room, self.problem.groups.most(from: place, level: index, used: self.usedGroups))
            let counted = (self.problem.rules.adsMax - self.count)
                .multipliedReportingOverflow(
                    by: self.problem.longest[place]
                )
            if !counted.overflow { most = min(most, counted.partialValue) }
            most = self.problem.sums[index].largest(from: place - start, upTo: most)
            let reached = self.current[index] + most
            if reached != self.goal[index] { return reached > self.goal[index] && self.isLongEnough(from: first) }
            room -= most
        }
        return self.isFirstPass && self.isLongEnough(from: first)
    }

    private func isLongEnough(from first: Int) -> Bool {
        self.problem.allSums.reaches(
            from: first,
            atLeast: self.minimum - self.total,
            upTo: self.room - self.total
        )
    }

    // MARK: Jingles

    /// The jingles for the present ads; `nil`: with none of them it lasts as long as it must.
    private mutating func jingles() -> [Int]? {
        let range = self.problem.jingles
        let rules = self.problem.rules
        let count = min(rules.jinglesMax, self.path.count - 1, rules.adsMax - self.count)
        let needed = self.minimum - self.total
        let words = self.problem.conflicts.words
        guard !range.isEmpty, count > 0 else { return needed <= 0 ? [] : nil }
        var found = JingleSearch(
            problem: self.problem,
            blocked: Array(self.blocked.dropFirst(self.path.count * words).prefix(words)),
            stepsLeft: self.stepsLeft,
            leastSoFar: needed - 1
        )
        found.visit(from: range.lowerBound, room: self.room - self.total, count: count)
        self.steps += self.stepsLeft - found.stepsLeft
        self.stepsLeft = found.stepsLeft
        if found.isCut { self.isCut = true }
        return found.best ?? (needed <= 0 ? [] : nil)
    }
}

/// Searches the jingles that fill most of what is left, those that go first among equals.
struct JingleSearch {
    let problem: FillingProblem
    var blocked: [UInt64]
    var stepsLeft: Int
    /// The length of the best so far.
    private var length: Int
    private var path: [Int] = []
    private var total = 0
    private(set) var best: [Int]?
    private(set) var isCut = false

    init(problem: FillingProblem, blocked: [UInt64], stepsLeft: Int, leastSoFar: Int) {
        self.problem = problem
        self.blocked = blocked
        self.stepsLeft = stepsLeft
        self.length = max(leastSoFar, 0)
    }

    mutating func visit(from first: Int, room: Int, count: Int) {
        if self.total > self.length {
            self.length = self.total
            self.best = self.path
        }
        guard count > 0 else { return }
        for unit in first..<self.problem.jingles.upperBound {
            let length = self.problem.lengths[unit]
            guard length <= room, self.blocked[unit / 64] & 1 << UInt64(unit % 64) == 0 else { continue }
            guard self.stepsLeft > 0 else {
                self.isCut = true
                return
            }
            self.stepsLeft -= 1
            let place = unit - self.problem.jingles.lowerBound
            guard self.total + self.problem.jingleSums.largest(from: place, upTo: room) > self.length else { return }
            let before = self.blocked
            let row = unit * self.problem.conflicts.words
            for word in self.blocked.indices { self.blocked[word] |= self.problem.conflicts.rows[row + word] }
            self.path.append(unit)
            self.total += length
            self.visit(from: unit + 1, room: room - length, count: count - 1)
            self.path.removeLast()
            self.total -= length
            self.blocked = before
            if self.isCut { return }
        }
    }
}
