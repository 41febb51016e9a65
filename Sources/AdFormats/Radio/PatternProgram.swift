// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The steps of a pattern.
struct PatternProgram: Sendable {
    private enum Step {
        case take(PatternSet)
        /// Both ways, the first one rather.
        case split(Int, Int)
        case jump(Int)
        case mark(Int)
        case insist(PatternAssertion)
        case match
    }

    /// A way through the pattern that the text so far fits.
    private struct Way {
        let step: Int
        let places: [Int?]
    }

    let names: [String]
    private let ignoresCase: Bool
    private var steps: [Step] = []

    init(_ node: PatternNode, names: [String], ignoresCase: Bool) throws(TextPatternError) {
        self.names = names
        self.ignoresCase = ignoresCase
        try self.append(node)
        try self.append(.match)
    }

    private mutating func append(_ step: Step) throws(TextPatternError) {
        guard self.steps.count < TextPattern.stepsMax else {
            throw TextPatternError(
                fault: "it is made of more than \(TextPattern.stepsMax) steps (stepsMax)",
                column: 1
            )
        }
        self.steps.append(step)
    }

    private mutating func append(_ node: PatternNode) throws(TextPatternError) {
        switch node {
        case .set(let set): try self.append(.take(set))
        case .assertion(let assertion): try self.append(.insist(assertion))
        case .sequence(let nodes):
            for each in nodes { try self.append(each) }
        case .group(let inner, let name):
            try self.append(.mark(2 * name))
            try self.append(inner)
            try self.append(.mark(2 * name + 1))
        case .choice(let choices):
            var jumps: [Int] = []
            for each in choices.dropLast() {
                let split = self.steps.count
                try self.append(.split(split + 1, 0))
                try self.append(each)
                jumps.append(self.steps.count)
                try self.append(.jump(0))
                self.steps[split] = .split(split + 1, self.steps.count)
            }
            if let last = choices.last { try self.append(last) }
            for jump in jumps { self.steps[jump] = .jump(self.steps.count) }
        case .repeated(let inner, let least, let most, let prefersMore):
            for _ in 0..<least {
                let before = self.steps.count
                try self.append(inner)
                // Nothing is the same however often it is repeated.
                if self.steps.count == before { break }
            }
            func split(_ inside: Int, _ behind: Int) -> Step {
                prefersMore ? .split(inside, behind) : .split(behind, inside)
            }
            guard let most else {
                let start = self.steps.count
                try self.append(.split(0, 0))
                try self.append(inner)
                try self.append(.jump(start))
                self.steps[start] = split(start + 1, self.steps.count)
                return
            }
            var splits: [Int] = []
            for _ in least..<most {
                splits.append(self.steps.count)
                try self.append(.split(0, 0))
                try self.append(inner)
            }
            for each in splits { self.steps[each] = split(each + 1, self.steps.count) }
        }
    }

    /// The places of the groups in the first match; `nil`: there is none.
    ///
    /// At each character every step is taken once at most, so that the cost is at most that of steps times characters.
    func search(_ text: [Unicode.Scalar]) -> [Int?]? {
        let none = [Int?](repeating: nil, count: 2 * self.names.count)
        var ways: [Way] = []
        var found: [Int?]?
        // When a step was reached last, so that it is reached once at each character.
        var reached = [Int](repeating: -1, count: self.steps.count)
        for position in 0...text.count {
            // Matches that begin earlier come first.
            if found == nil {
                self.follow(Way(step: 0, places: none), at: position, in: text, &reached, &ways)
            }
            guard !ways.isEmpty else {
                if found != nil { break }
                continue
            }
            var following: [Way] = []
            for way in ways {
                switch self.steps[way.step] {
                case .match: found = way.places
                case .take(let set):
                    guard position < text.count else { continue }
                    let scalar = text[position]
                    let takes = self.ignoresCase ? set.contains(ignoringCase: scalar) : set.contains(scalar)
                    guard takes else { continue }
                    let next = Way(step: way.step + 1, places: way.places)
                    self.follow(next, at: position + 1, in: text, &reached, &following)
                    continue
                default: continue
                }
                // The ways behind a match are not preferred.
                break
            }
            ways = following
        }
        return found
    }

    /// Goes on to the steps that take a character, in the order of preference.
    private func follow(
        _ way: Way,
        at position: Int,
        in text: [Unicode.Scalar],
        _ reached: inout [Int],
        _ ways: inout [Way]
    ) {
        var open = [way]
        while let next = open.popLast() {
            guard reached[next.step] != position else { continue }
            reached[next.step] = position
            switch self.steps[next.step] {
            case .jump(let target): open.append(Way(step: target, places: next.places))
            case .split(let first, let second):
                open.append(Way(step: second, places: next.places))
                open.append(Way(step: first, places: next.places))
            case .mark(let index):
                var places = next.places
                places[index] = position
                open.append(Way(step: next.step + 1, places: places))
            case .insist(let assertion):
                if Self.holds(assertion, at: position, in: text) {
                    open.append(Way(step: next.step + 1, places: next.places))
                }
            case .take, .match: ways.append(next)
            }
        }
    }

    private static func holds(_ assertion: PatternAssertion, at position: Int, in text: [Unicode.Scalar]) -> Bool {
        let isBehindWord = position > 0 && PatternSet.word.contains(text[position - 1])
        let isBeforeWord = position < text.count && PatternSet.word.contains(text[position])
        return switch assertion {
        case .start: position == 0
        case .end: position == text.count
        case .wordBoundary: isBehindWord != isBeforeWord
        case .noWordBoundary: isBehindWord == isBeforeWord
        }
    }
}
