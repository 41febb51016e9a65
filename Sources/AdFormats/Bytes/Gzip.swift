// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Reads gzip (RFC 1952), the one encoding of bodies that ad servers are asked for.
package enum Gzip {
    /// Why bytes are no gzip that can be read.
    package enum Fault: Error, Hashable, Sendable {
        /// They do not begin as gzip does.
        case notGzip
        /// They end too early, or break a rule of RFC 1951 or RFC 1952.
        case broken
        /// Checksum or length is not that of what was read.
        case mismatch
        /// More bytes come of them than may.
        case tooLarge(maximum: Int)
    }

    /// The bytes of which gzip was made, from one member or several.
    ///
    /// - Parameters:
    ///   - bytes: The gzip, whole.
    ///   - bytesMax: The most bytes that may come of it; no more than that are ever held.
    /// - Returns: The bytes.
    /// - Throws: Why there are none.
    package static func inflated(_ bytes: [UInt8], bytesMax: Int) throws(Fault) -> [UInt8] {
        var output: [UInt8] = []
        var place = 0
        repeat {
            place = try self.headerEnd(bytes, from: place)
            let start = output.count
            var inflater = Inflater(bytes, from: place, after: output, bytesMax: max(bytesMax, 0))
            try inflater.run()
            output = inflater.output
            place = inflater.end
            guard bytes.count - place >= 8 else { throw .broken }
            let member = output[start...]
            guard self.number(bytes, at: place) == Self.checksum(member),
                self.number(bytes, at: place + 4) == UInt32(truncatingIfNeeded: member.count)
            else { throw .mismatch }
            place += 8
        } while place < bytes.count
        return output
    }

    /// The end of a member's header (RFC 1952 section 2.3).
    private static func headerEnd(_ bytes: [UInt8], from start: Int) throws(Fault) -> Int {
        guard bytes.count - start >= 10, bytes[start] == 0x1F, bytes[start + 1] == 0x8B, bytes[start + 2] == 8 else {
            throw start == 0 ? .notGzip : .broken
        }
        let flags = bytes[start + 3]
        guard flags & 0xE0 == 0 else { throw .broken }
        var place = start + 10
        if flags & 4 != 0 {
            guard bytes.count - place >= 2 else { throw .broken }
            place += 2 + Int(bytes[place]) + Int(bytes[place + 1]) << 8
        }
        // A name and a comment, each with a zero behind it.
        for flag in [UInt8(8), 16] where flags & flag != 0 {
            guard place < bytes.count, let zero = bytes[place...].firstIndex(of: 0) else { throw .broken }
            place = zero + 1
        }
        if flags & 2 != 0 { place += 2 }
        guard place <= bytes.count else { throw .broken }
        return place
    }

    private static func number(_ bytes: [UInt8], at place: Int) -> UInt32 {
        (0..<4).reduce(0) { $0 | UInt32(bytes[place + $1]) << UInt32(8 * $1) }
    }

    /// The CRC-32 of ISO 3309 (RFC 1952 section 8).
    private static func checksum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        ~bytes.reduce(UInt32.max) { self.checksums[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] ^ ($0 >> 8) }
    }

    private static let checksums: [UInt32] = (UInt32(0)..<256)
        .map { (0..<8).reduce($0) { sum, _ in sum & 1 == 1 ? 0xEDB8_8320 ^ (sum >> 1) : sum >> 1 } }
}

/// Decompresses one stream of DEFLATE (RFC 1951).
private struct Inflater {
    /// The bytes before the stream, and those that came of it.
    private(set) var output: [UInt8]
    private let input: [UInt8]
    private let start: Int
    private let bytesMax: Int
    private var place: Int
    private var bits: UInt32 = 0
    private var bitCount: UInt32 = 0

    /// The first byte behind the stream.
    var end: Int { self.place - Int(self.bitCount / 8) }

    init(_ input: [UInt8], from place: Int, after output: [UInt8], bytesMax: Int) {
        self.input = input
        self.place = place
        self.output = output
        self.start = output.count
        self.bytesMax = bytesMax
    }

    mutating func run() throws(Gzip.Fault) {
        var isLast = false
        while !isLast {
            isLast = try self.take(1) == 1
            switch try self.take(2) {
            case 0: try self.copyStored()
            case 1: try self.decode(Self.fixedLiterals, Self.fixedDistances)
            case 2:
                let (literals, distances) = try self.readCodes()
                try self.decode(literals, distances)
            default: throw .broken
            }
        }
    }

    /// The next bits, the lowest first; at most 16.
    private mutating func take(_ count: UInt32) throws(Gzip.Fault) -> Int {
        while self.bitCount < count {
            guard self.place < self.input.count else { throw .broken }
            self.bits |= UInt32(self.input[self.place]) << self.bitCount
            self.place += 1
            self.bitCount += 8
        }
        let value = self.bits & ((1 << count) - 1)
        self.bits >>= count
        self.bitCount -= count
        return Int(value)
    }

    private mutating func put(_ byte: UInt8) throws(Gzip.Fault) {
        guard self.output.count < self.bytesMax else { throw .tooLarge(maximum: self.bytesMax) }
        self.output.append(byte)
    }

    /// A block that is not compressed (section 3.2.4).
    private mutating func copyStored() throws(Gzip.Fault) {
        // What is left of the last byte does not count; whole bytes that were read ahead do.
        _ = try self.take(self.bitCount % 8)
        let length = try self.take(16)
        guard try self.take(16) == length ^ 0xFFFF else { throw .broken }
        for _ in 0..<length { try self.put(UInt8(try self.take(8))) }
    }

    /// Lengths and literals of a block, until its end (section 3.2.5).
    private mutating func decode(_ literals: HuffmanCode, _ distances: HuffmanCode) throws(Gzip.Fault) {
        while true {
            let symbol = try self.symbol(of: literals)
            if symbol < 256 {
                try self.put(UInt8(symbol))
                continue
            }
            guard symbol > 256 else { return }
            guard symbol - 257 < Self.lengths.count else { throw .broken }
            let length = Self.lengths[symbol - 257]
            let count = length.base + (try self.take(length.extraBits))
            let code = try self.symbol(of: distances)
            guard code < Self.distances.count else { throw .broken }
            let distance = Self.distances[code].base + (try self.take(Self.distances[code].extraBits))
            guard distance <= self.output.count - self.start else { throw .broken }
            for _ in 0..<count { try self.put(self.output[self.output.count - distance]) }
        }
    }

    /// The codes of a block that brings its own (section 3.2.7).
    private mutating func readCodes() throws(Gzip.Fault) -> (literals: HuffmanCode, distances: HuffmanCode) {
        let literalCount = try self.take(5) + 257
        let distanceCount = try self.take(5) + 1
        let lengthCount = try self.take(4) + 4
        guard literalCount <= 286, distanceCount <= 30 else { throw .broken }
        var codeLengths = [Int](repeating: 0, count: 19)
        for index in 0..<lengthCount { codeLengths[Self.lengthOrder[index]] = try self.take(3) }
        guard let lengthCode = HuffmanCode(codeLengths) else { throw .broken }
        var lengths: [Int] = []
        while lengths.count < literalCount + distanceCount {
            switch try self.symbol(of: lengthCode) {
            case let length where length < 16: lengths.append(length)
            case 16:
                guard let last = lengths.last else { throw .broken }
                lengths += [Int](repeating: last, count: 3 + (try self.take(2)))
            case 17: lengths += [Int](repeating: 0, count: 3 + (try self.take(3)))
            default: lengths += [Int](repeating: 0, count: 11 + (try self.take(7)))
            }
        }
        guard lengths.count == literalCount + distanceCount, lengths[256] != 0,
            let literals = HuffmanCode(Array(lengths[..<literalCount])),
            let distances = HuffmanCode(Array(lengths[literalCount...]))
        else { throw .broken }
        return (literals, distances)
    }

    private mutating func symbol(of code: HuffmanCode) throws(Gzip.Fault) -> Int {
        var (value, first, index) = (0, 0, 0)
        for length in 1...HuffmanCode.bitsMax {
            value |= try self.take(1)
            let count = code.counts[length]
            if value - first < count { return code.symbols[index + value - first] }
            index += count
            first = (first + count) << 1
            value <<= 1
        }
        throw .broken
    }

    // MARK: Tables of RFC 1951

    private struct Extended {
        let base: Int
        let extraBits: UInt32
    }

    private static let lengthOrder = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15]
    /// Of the symbols 257 to 285 (section 3.2.5).
    private static let lengths: [Extended] = {
        var base = 3
        let extended = (0..<28)
            .map { index in
                let extraBits = UInt32(index < 8 ? 0 : index / 4 - 1)
                defer { base += 1 << Int(extraBits) }
                return Extended(base: base, extraBits: extraBits)
            }
        return extended + [Extended(base: 258, extraBits: 0)]
    }()
    private static let distances: [Extended] = {
        var base = 1
        return (0..<30)
            .map { index in
                let extraBits = UInt32(index < 4 ? 0 : index / 2 - 1)
                defer { base += 1 << Int(extraBits) }
                return Extended(base: base, extraBits: extraBits)
            }
    }()
    /// The codes of blocks that bring none (section 3.2.6).
    private static let fixedLiterals = HuffmanCode(
        unchecked: (0..<288).map { $0 < 144 ? 8 : $0 < 256 ? 9 : $0 < 280 ? 7 : 8 }
    )
    private static let fixedDistances = HuffmanCode(unchecked: [Int](repeating: 5, count: 30))
}

/// A canonical Huffman code (RFC 1951 section 3.2.2).
private struct HuffmanCode {
    /// The longest code, in bits.
    static let bitsMax = 15

    /// How many codes there are of each length.
    let counts: [Int]
    /// The symbols in the order of their codes.
    let symbols: [Int]

    /// The code in which each symbol has a code of so many bits, or none; nil: there are more codes than fit, or too few.
    ///
    /// One code alone may be too few: a block may have a single distance, or none (section 3.2.7).
    init?(_ lengths: [Int]) {
        self.init(unchecked: lengths)
        var free = 1
        for length in 1...Self.bitsMax {
            free = free << 1 - self.counts[length]
            guard free >= 0 else { return nil }
        }
        guard free == 0 || self.symbols.count <= 1 else { return nil }
    }

    init(unchecked lengths: [Int]) {
        var counts = [Int](repeating: 0, count: Self.bitsMax + 1)
        for length in lengths where length > 0 { counts[length] += 1 }
        var starts = [Int](repeating: 0, count: Self.bitsMax + 2)
        for length in 1...Self.bitsMax { starts[length + 1] = starts[length] + counts[length] }
        var symbols = [Int](repeating: 0, count: lengths.count { $0 > 0 })
        for (symbol, length) in lengths.enumerated() where length > 0 {
            symbols[starts[length]] = symbol
            starts[length] += 1
        }
        self.counts = counts
        self.symbols = symbols
    }
}
