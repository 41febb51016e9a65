// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A key that the user pressed.
package enum Key: Hashable, Sendable {
    case character(Character)
    /// With Ctrl: the letter, in lower case.
    case control(Character)
    case enter
    case escape
    case tab
    case backspace
    case delete
    case up
    case down
    case left
    case right
    case pageUp
    case pageDown
    case home
    case end
}

/// Bytes of a terminal → keys.
///
/// Keys without a letter come as sequences that begin with ESC (ECMA-48, and what xterm made usual), and may come in parts. Those that are
/// not known are passed over.
package struct KeyDecoder: Sendable {
    /// The longest sequence that is waited for, in bytes; what is longer is none.
    package static let sequenceBytesMax = 32

    private static let escape: UInt8 = 0x1B
    private var waiting: [UInt8] = []

    package init() {}

    /// Whether part of a key is here: ``settle()`` is for when no more comes.
    package var isWaiting: Bool { !self.waiting.isEmpty }

    /// Takes bytes as they come.
    ///
    /// - Parameter bytes: in any pieces.
    /// - Returns: the keys that are whole.
    package mutating func take(_ bytes: some Sequence<UInt8>) -> [Key] {
        self.waiting += bytes
        var keys: [Key] = []
        var rest = self.waiting[...]
        while !rest.isEmpty, let (key, length) = Self.next(rest) {
            if let key { keys.append(key) }
            rest = rest.dropFirst(length)
        }
        self.waiting = Array(rest)
        return keys
    }

    /// Takes what is here as all there is: ESC alone is the key of that name.
    ///
    /// - Returns: the keys that this makes.
    package mutating func settle() -> [Key] {
        guard self.waiting.first == Self.escape else {
            self.waiting = []
            return []
        }
        let rest = self.waiting.dropFirst()
        self.waiting = []
        return [.escape] + self.take(rest)
    }

    /// The first key and its length; `nil`: more is needed.
    ///
    /// A key that is `nil` is passed over.
    private static func next(_ bytes: ArraySlice<UInt8>) -> (Key?, Int)? {
        guard let first = bytes.first else { return nil }
        switch first {
        case self.escape: return self.sequence(bytes)
        case 0x0D, 0x0A: return (.enter, 1)
        case 0x09: return (.tab, 1)
        case 0x7F, 0x08: return (.backspace, 1)
        case 0x01...0x1A: return (.control(Character(Unicode.Scalar(first + 0x60))), 1)
        case 0x20...0x7E: return (.character(Character(Unicode.Scalar(first))), 1)
        case 0xC2...0xF4:
            let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
            let wanted = bytes.prefix(length)
            // Bytes that do not continue as UTF-8 are no character.
            guard wanted.dropFirst().allSatisfy({ (0x80...0xBF).contains($0) }) else { return (nil, 1) }
            guard wanted.count == length else { return nil }
            guard let text = String(validating: wanted, as: UTF8.self), let character = text.first else {
                return (nil, 1)
            }
            return (.character(character), length)
        default: return (nil, 1)
        }
    }

    private static func sequence(_ bytes: ArraySlice<UInt8>) -> (Key?, Int)? {
        guard bytes.count > 1 else { return nil }
        let second = bytes[bytes.startIndex + 1]
        guard second == UInt8(ascii: "[") || second == UInt8(ascii: "O") else { return (.escape, 1) }
        // Parameters, then the byte that ends it.
        var numbers: [UInt8] = []
        for (offset, byte) in bytes.dropFirst(2).enumerated() {
            guard offset < self.sequenceBytesMax else { return (nil, offset + 2) }
            switch byte {
            case 0x20...0x3F: numbers.append(byte)
            case 0x40...0x7E: return (self.key(ending: byte, numbers), offset + 3)
            default: return (nil, offset + 2)
            }
        }
        return nil
    }

    private static func key(ending: UInt8, _ numbers: [UInt8]) -> Key? {
        switch ending {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "H"): .home
        case UInt8(ascii: "F"): .end
        case UInt8(ascii: "M") where numbers.isEmpty: .enter
        case UInt8(ascii: "~"):
            switch String(decoding: numbers.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self) {
            case "1", "7": .home
            case "3": .delete
            case "4", "8": .end
            case "5": .pageUp
            case "6": .pageDown
            default: nil
            }
        default: nil
        }
    }
}
