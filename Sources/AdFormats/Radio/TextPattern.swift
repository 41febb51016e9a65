// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Why a pattern cannot be used.
public struct TextPatternError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault, as a clause.
    public var fault: String
    /// Where, in characters (Unicode scalars) from the beginning of the pattern, counted from 1.
    public var column: Int

    /// A sentence for people.
    public var description: String { "The pattern cannot be used: column \(self.column): \(self.fault)." }
}

/// A regular expression whose cost is bounded, whatever the text is.
///
/// It is searched in one pass over the text, which follows all ways through the pattern at once (Thompson, "Regular Expression
/// Search Algorithm", 1968). Engines that try one way after the other, as `Regex` of Swift does, take exponential time for a
/// pattern such as `(a|a)*b`, and titles come from outside.
///
/// A pattern has characters, `.`, `[a-z]`, `[^a-z]`, `\d`, `\w`, `\s` and their opposites, `\n`, `\t`, `(…)`, `(?:…)`,
/// `(?<name>…)`, `|`, `*`, `+`, `?`, `{m}`, `{m,}`, `{m,n}`, each also with `?` behind it for as few as possible, `^`, `$`, `\b`,
/// and `(?i)` at its beginning, which makes A to Z equal to a to z. Of all matches the first one in the text counts, and of
/// those that begin there the one that the order of the pattern prefers.
public struct TextPattern: Hashable, Sendable {
    /// The longest pattern, in bytes of UTF-8.
    public static let patternBytesMax = 512
    /// The most steps that a pattern may be made of; `{m,n}` counts what is in it that often.
    public static let stepsMax = 1_000
    /// The longest text, in characters (Unicode scalars): what is behind that is not searched.
    public static let textCharactersMax = 4_096
    /// The most groups with names.
    public static let groupsMax = 8

    /// The pattern as written.
    public let source: String
    let program: PatternProgram

    /// Prepares a pattern.
    ///
    /// - Parameter source: The pattern.
    /// - Throws: ``TextPatternError`` where it cannot be used, or passes a limit.
    public init(_ source: String) throws(TextPatternError) {
        guard source.utf8.count <= Self.patternBytesMax else {
            throw TextPatternError(
                fault: "it is longer than \(Self.patternBytesMax) bytes (patternBytesMax)",
                column: 1
            )
        }
        var parser = PatternParser(source)
        let node = try parser.parse()
        self.source = source
        self.program = try PatternProgram(node, names: parser.names, ignoresCase: parser.ignoresCase)
    }

    /// Two patterns are equal where they are written the same.
    public static func == (left: TextPattern, right: TextPattern) -> Bool { left.source == right.source }

    /// Hashes the source of the pattern.
    public func hash(into hasher: inout Hasher) { hasher.combine(self.source) }

    /// Searches a text.
    ///
    /// - Parameter text: The text.
    /// - Returns: What the groups with names have of it; `nil`: the pattern matches nowhere.
    public func firstMatch(in text: String) -> [String: String]? {
        let scalars = Array(text.unicodeScalars.prefix(Self.textCharactersMax))
        guard let places = self.program.search(scalars) else { return nil }
        var groups: [String: String] = [:]
        for (index, name) in self.program.names.enumerated() {
            guard let start = places[2 * index], let end = places[2 * index + 1], start <= end else { continue }
            groups[name] = String(String.UnicodeScalarView(scalars[start..<end]))
        }
        return groups
    }
}

/// The characters that a step of a pattern takes.
struct PatternSet: Hashable, Sendable {
    var ranges: [ClosedRange<UInt32>]
    var isNegated = false

    static let digits = PatternSet(ranges: [0x30...0x39])
    static let word = PatternSet(ranges: [0x30...0x39, 0x41...0x5A, 0x5F...0x5F, 0x61...0x7A])
    static let space = PatternSet(ranges: [0x09...0x0D, 0x20...0x20, 0xA0...0xA0])
    static let notNewline = PatternSet(ranges: [0x0A...0x0A, 0x0D...0x0D], isNegated: true)

    static func one(_ scalar: Unicode.Scalar) -> PatternSet { PatternSet(ranges: [scalar.value...scalar.value]) }

    var negated: PatternSet { PatternSet(ranges: self.ranges, isNegated: !self.isNegated) }

    func contains(_ scalar: Unicode.Scalar) -> Bool {
        self.ranges.contains { $0.contains(scalar.value) } != self.isNegated
    }

    /// The set of the same letters, large and small.
    func contains(ignoringCase scalar: Unicode.Scalar) -> Bool {
        let value = scalar.value
        let other: UInt32 =
            switch value {
            case 0x41...0x5A: value + 0x20
            case 0x61...0x7A: value - 0x20
            default: value
            }
        let isListed = self.ranges.contains { $0.contains(value) || $0.contains(other) }
        return isListed != self.isNegated
    }
}

/// A pattern as a tree.
indirect enum PatternNode: Hashable, Sendable {
    case set(PatternSet)
    case sequence([PatternNode])
    case choice([PatternNode])
    case repeated(PatternNode, atLeast: Int, atMost: Int?, prefersMore: Bool)
    case group(PatternNode, name: Int)
    case assertion(PatternAssertion)
}

/// A condition on a place of the text.
enum PatternAssertion: Hashable, Sendable {
    case start
    case end
    case wordBoundary
    case noWordBoundary
}

/// Reads a pattern.
struct PatternParser {
    private static let nestingMax = 32
    private static let countMax = 1_000

    private let scalars: [Unicode.Scalar]
    private var position = 0
    private var nesting = 0
    private(set) var names: [String] = []
    private(set) var ignoresCase = false

    init(_ source: String) { self.scalars = Array(source.unicodeScalars) }

    private var next: Unicode.Scalar? { self.position < self.scalars.count ? self.scalars[self.position] : nil }

    mutating func parse() throws(TextPatternError) -> PatternNode {
        if self.take("(?i)") { self.ignoresCase = true }
        let node = try self.choice()
        guard self.next == nil else { throw self.fault("a “)” without its “(”") }
        return node
    }

    private mutating func choice() throws(TextPatternError) -> PatternNode {
        self.nesting += 1
        guard self.nesting <= Self.nestingMax else {
            throw self.fault("more than \(Self.nestingMax) groups in each other")
        }
        defer { self.nesting -= 1 }
        var choices = [try self.sequence()]
        while self.take("|") { choices.append(try self.sequence()) }
        return choices.count == 1 ? choices[0] : .choice(choices)
    }

    private mutating func sequence() throws(TextPatternError) -> PatternNode {
        var nodes: [PatternNode] = []
        while let next = self.next, next != "|", next != ")" {
            let node = try self.atom()
            nodes.append(try self.repeated(node))
        }
        return .sequence(nodes)
    }

    private mutating func atom() throws(TextPatternError) -> PatternNode {
        guard let scalar = self.next else { throw self.fault("something is missing") }
        switch scalar {
        case "(": return try self.group()
        case "[": return .set(try self.characters())
        case "\\": return try self.escape()
        case "*", "+", "?", "{": throw self.fault("a “\(scalar)” with nothing before it")
        case ".":
            self.position += 1
            return .set(.notNewline)
        case "^":
            self.position += 1
            return .assertion(.start)
        case "$":
            self.position += 1
            return .assertion(.end)
        default:
            self.position += 1
            return .set(.one(scalar))
        }
    }

    private mutating func group() throws(TextPatternError) -> PatternNode {
        let start = self.position
        self.position += 1
        var name: Int?
        if self.take("?") {
            if self.take("<") {
                name = try self.name()
            } else if !self.take(":") {
                throw self.fault("a group that is neither (…), (?:…) nor (?<name>…)")
            }
        }
        let node = try self.choice()
        guard self.take(")") else {
            self.position = start
            throw self.fault("a “(” without its “)”")
        }
        return name.map { .group(node, name: $0) } ?? node
    }

    private mutating func name() throws(TextPatternError) -> Int {
        var name = ""
        while let next = self.next, PatternSet.word.contains(next) {
            name.unicodeScalars.append(next)
            self.position += 1
        }
        guard !name.isEmpty, self.take(">") else { throw self.fault("a name that is not of letters, digits and “_”") }
        guard !self.names.contains(name) else { throw self.fault("a second group \(quoted(name))") }
        guard self.names.count < TextPattern.groupsMax else {
            throw self.fault("more than \(TextPattern.groupsMax) groups with names (groupsMax)")
        }
        self.names.append(name)
        return self.names.count - 1
    }

    private mutating func repeated(_ node: PatternNode) throws(TextPatternError) -> PatternNode {
        let bounds: (Int, Int?)
        if self.take("*") {
            bounds = (0, nil)
        } else if self.take("+") {
            bounds = (1, nil)
        } else if self.take("?") {
            bounds = (0, 1)
        } else if self.next == "{" {
            bounds = try self.counts()
        } else {
            return node
        }
        let prefersMore = !self.take("?")
        if let next = self.next, "*+?{".unicodeScalars.contains(next) {
            throw self.fault("a “\(next)” behind what repeats already")
        }
        return .repeated(node, atLeast: bounds.0, atMost: bounds.1, prefersMore: prefersMore)
    }

    private mutating func counts() throws(TextPatternError) -> (Int, Int?) {
        let start = self.position
        self.position += 1
        let least = self.number()
        var most = least
        if self.take(",") { most = self.number() }
        let isOpen = self.scalars[self.position - 1] == ","
        guard self.take("}"), let least, isOpen || most != nil, most.map({ $0 >= least }) ?? true else {
            self.position = start
            throw self.fault("counts that are not {m}, {m,} or {m,n}, of at most \(Self.countMax)")
        }
        return (least, isOpen ? nil : most)
    }

    private mutating func number() -> Int? {
        var number: Int?
        while let next = self.next, PatternSet.digits.contains(next) {
            number = min((number ?? 0) * 10 + Int(next.value - 0x30), Self.countMax + 1)
            self.position += 1
        }
        return number.flatMap { $0 <= Self.countMax ? $0 : nil }
    }

    private mutating func escape() throws(TextPatternError) -> PatternNode {
        if self.take("\\b") { return .assertion(.wordBoundary) }
        if self.take("\\B") { return .assertion(.noWordBoundary) }
        return .set(try self.escapedSet())
    }

    private mutating func escapedSet() throws(TextPatternError) -> PatternSet {
        self.position += 1
        guard let scalar = self.next else { throw self.fault("a “\\” at the end") }
        self.position += 1
        switch scalar {
        case "d": return .digits
        case "D": return .digits.negated
        case "w": return .word
        case "W": return .word.negated
        case "s": return .space
        case "S": return .space.negated
        case "n": return .one("\n")
        case "t": return .one("\t")
        default:
            guard !PatternSet.word.contains(scalar) else {
                self.position -= 1
                throw self.fault("“\\\(scalar)”, which is not known")
            }
            return .one(scalar)
        }
    }

    /// Reads the characters between “[” and “]”.
    private mutating func characters() throws(TextPatternError) -> PatternSet {
        let start = self.position
        self.position += 1
        var set = PatternSet(ranges: [])
        set.isNegated = self.take("^")
        while let scalar = self.next, scalar != "]" {
            var first = PatternSet.one(scalar)
            if scalar == "\\" { first = try self.escapedSet() } else { self.position += 1 }
            guard !first.isNegated else { throw self.fault("an opposite in “[…]”") }
            let isSingle = first.ranges.count == 1 && first.ranges[0].count == 1
            let hasEnd = self.position + 1 < self.scalars.count && self.scalars[self.position + 1] != "]"
            guard isSingle, self.next == "-", hasEnd else {
                set.ranges += first.ranges
                continue
            }
            self.position += 1
            var last = PatternSet.one(self.scalars[self.position])
            if self.next == "\\" { last = try self.escapedSet() } else { self.position += 1 }
            let low = first.ranges[0].lowerBound
            guard !last.isNegated, last.ranges.count == 1, last.ranges[0].count == 1, last.ranges[0].lowerBound >= low
            else { throw self.fault("a range that goes back") }
            set.ranges.append(low...last.ranges[0].lowerBound)
        }
        guard self.take("]"), !set.ranges.isEmpty else {
            self.position = start
            throw self.fault("a “[” without characters or without its “]”")
        }
        return set
    }

    private mutating func take(_ text: String) -> Bool {
        guard self.scalars[self.position...].starts(with: text.unicodeScalars) else { return false }
        self.position += text.unicodeScalars.count
        return true
    }

    private func fault(_ fault: String) -> TextPatternError {
        TextPatternError(fault: fault, column: self.position + 1)
    }
}
