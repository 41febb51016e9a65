// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// The head of a chunk: which snapshot it belongs to, and its place there.
struct SnapshotChunkHead: Hashable, Sendable {
    private static let mark: [UInt8] = Array("CSC1".utf8)
    static let byteCount = 16

    let id: UInt64
    let index: UInt32

    init(id: UInt64, index: UInt32) {
        self.id = id
        self.index = index
    }

    var bytes: [UInt8] {
        Self.mark + BigEndian.bytes(self.id, count: 8) + BigEndian.bytes(UInt64(self.index), count: 4)
    }

    /// - Returns: `nil` where the bytes are no chunk.
    init?(_ bytes: [UInt8]) {
        guard bytes.count > Self.byteCount, bytes.starts(with: Self.mark) else { return nil }
        self.id = BigEndian.number(bytes[4..<12])
        self.index = UInt32(truncatingIfNeeded: BigEndian.number(bytes[12..<16]))
    }
}

enum BigEndian {
    static func bytes(_ value: UInt64, count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64(count - 1 - $0))) }
    }

    static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// The digest of the chunks of a snapshot, in their order.
///
/// It finds damage; it is no proof against people.
struct SnapshotDigest: Hashable, Sendable {
    private(set) var value: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func add(_ bytes: ArraySlice<UInt8>) {
        var value = self.value ^ UInt64(bytes.count)
        unsafe bytes.withUnsafeBytes { buffer in
            var place = 0
            while place + 8 <= buffer.count {
                let word = UInt64(littleEndian: unsafe buffer.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                value = StableHash.mixed(value ^ word) &+ 0x9E37_79B9_7F4A_7C15
                place += 8
            }
            while place < buffer.count {
                value = StableHash.mixed(value ^ UInt64(unsafe buffer[place])) &+ 0x9E37_79B9_7F4A_7C15
                place += 1
            }
        }
        self.value = value
    }
}

/// Cuts the parts of a snapshot into chunks of one size.
struct SnapshotCutter: Sendable {
    /// The longest key of a part, in bytes.
    static let keyBytesMax = 1_024

    let id: UInt64
    private let contentBytesMax: Int
    private(set) var chunks = 0
    private(set) var parts = 0
    private(set) var bytes = 0
    private(set) var digest = SnapshotDigest()
    private var open: [UInt8] = []

    /// - Parameters:
    ///   - id: of the snapshot.
    ///   - messageBytesMax: the size of a chunk with its head.
    init(id: UInt64, messageBytesMax: Int = SnapshotLimits.messageBytesMax) {
        self.id = id
        self.contentBytesMax = messageBytesMax - SnapshotChunkHead.byteCount
    }

    /// Takes a part.
    ///
    /// - Returns: the chunks that are full now.
    mutating func add(_ part: SnapshotPart) -> [[UInt8]] {
        let key = Array(part.key.utf8)
        precondition(key.count <= Self.keyBytesMax, "the key of a part is too long")
        self.parts += 1
        self.open += BigEndian.bytes(UInt64(key.count), count: 2) + BigEndian.bytes(UInt64(part.bytes.count), count: 4)
        self.open += key
        self.open += part.bytes
        var full: [[UInt8]] = []
        while self.open.count >= self.contentBytesMax { full.append(self.cut(self.contentBytesMax)) }
        return full
    }

    /// - Returns: the last chunk; `nil`: there is none left.
    mutating func end() -> [UInt8]? { self.open.isEmpty ? nil : self.cut(self.open.count) }

    private mutating func cut(_ count: Int) -> [UInt8] {
        let content = self.open.prefix(count)
        self.digest.add(content)
        self.bytes += count
        let chunk = SnapshotChunkHead(id: self.id, index: UInt32(self.chunks)).bytes + content
        self.open.removeFirst(count)
        self.chunks += 1
        return chunk
    }
}

/// Puts the chunks of a snapshot together to its parts.
struct SnapshotJoiner: Sendable {
    private static let headBytes = 6

    private let manifest: SnapshotManifest
    private var chunks = 0
    private var parts = 0
    private var bytes = 0
    private var digest = SnapshotDigest()
    private var open: [UInt8] = []

    init(_ manifest: SnapshotManifest) { self.manifest = manifest }

    /// Takes a message that lies between the first chunk and the manifest.
    ///
    /// - Parameter message: of this snapshot, or of another one that was written at the same time, which is passed over.
    /// - Returns: the parts that are whole now.
    /// - Throws: where the chunks cannot be those that were written.
    mutating func add(_ message: [UInt8]) throws(SnapshotFault) -> [SnapshotPart] {
        guard let head = SnapshotChunkHead(message), head.id == self.manifest.id else { return [] }
        guard Int(head.index) == self.chunks else {
            throw .unusable("the chunk \(head.index) stands in the place of the chunk \(self.chunks)")
        }
        let content = message[SnapshotChunkHead.byteCount...]
        self.digest.add(content)
        self.chunks += 1
        self.bytes += content.count
        self.open += content
        return try self.takeParts()
    }

    private mutating func takeParts() throws(SnapshotFault) -> [SnapshotPart] {
        var found: [SnapshotPart] = []
        var place = 0
        while self.open.count - place >= Self.headBytes {
            let keyCount = Int(BigEndian.number(self.open[place..<place + 2]))
            let byteCount = Int(BigEndian.number(self.open[place + 2..<place + 6]))
            guard keyCount <= SnapshotCutter.keyBytesMax, byteCount <= EventLogLimits.recordBytesMax * 2 else {
                throw .unusable("a part has a length that no part has")
            }
            let end = place + Self.headBytes + keyCount + byteCount
            guard end <= self.open.count else { break }
            let key = self.open[place + Self.headBytes..<place + Self.headBytes + keyCount]
            guard let text = String(validating: key, as: UTF8.self) else {
                throw .unusable("a part has a name that is no text")
            }
            found.append(SnapshotPart(key: text, bytes: Array(self.open[place + Self.headBytes + keyCount..<end])))
            place = end
        }
        self.open.removeFirst(place)
        self.parts += found.count
        return found
    }

    /// Insists that everything was there.
    ///
    /// - Throws: where something is missing or damaged.
    func end() throws(SnapshotFault) {
        guard self.chunks == self.manifest.chunks else {
            throw .unusable("it has \(self.chunks) of \(self.manifest.chunks) chunks")
        }
        guard self.digest.value == self.manifest.digest, self.bytes == self.manifest.bytes, self.open.isEmpty,
            self.parts == self.manifest.parts
        else { throw .unusable("its chunks are not what was written") }
    }
}
