// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// Why a snapshot cannot be used, or not at present.
package enum SnapshotFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// It is not what was written, or not for this program.
    case unusable(String)
    /// The servers did not answer, or refused.
    case unavailable(String)
    /// It would be larger than this limit.
    case limitReached(LimitName)

    package var description: String {
        switch self {
        case .unusable(let reason), .unavailable(let reason): reason
        case .limitReached(let limit): "it would be larger than the limit \(limit.rawValue) (\(limit.value))"
        }
    }
}

/// A message of the stream of snapshots.
package struct SnapshotMessage: Hashable, Sendable {
    /// Ascending; never used again.
    package let sequence: UInt64
    package let bytes: [UInt8]

    package init(sequence: UInt64, bytes: [UInt8]) {
        self.sequence = sequence
        self.bytes = bytes
    }
}

/// Where the snapshots of a log are kept, as messages in the order in which they were stored.
package protocol SnapshotStream: Sendable {
    /// Stores a message.
    ///
    /// - Parameters:
    ///   - bytes: at most `SnapshotLimits.messageBytesMax`.
    ///   - isManifest: whether it is the manifest of a snapshot.
    /// - Returns: its sequence, once it is stored for good.
    /// - Throws: where it is not certain that it is stored.
    func append(_ bytes: [UInt8], isManifest: Bool) async throws(SnapshotFault) -> UInt64

    /// Messages in their order, as many as there are, or as are given at once.
    ///
    /// - Parameters:
    ///   - sequence: begins with this one, or the first one behind it.
    ///   - manifestsOnly: passes over chunks.
    /// - Returns: none only where there is none.
    /// - Throws: where the servers do not answer.
    func messages(from sequence: UInt64, manifestsOnly: Bool) async throws(SnapshotFault) -> [SnapshotMessage]

    /// Removes all messages below a sequence.
    func remove(below sequence: UInt64) async throws(SnapshotFault)
}

/// The snapshots of the board that the gateways of one log leave for those that begin.
///
/// A snapshot is a row of chunks and then a manifest. It counts only with its manifest; chunks without one are what a gateway left that
/// ended in the middle, and go with the older snapshots.
///
/// ```swift
/// let archive = SnapshotArchive(stream)
/// for found in try await archive.list() where found.manifest.fault(for: identity) == nil {
///     try await archive.read(found) { parts in … }
/// }
/// ```
package struct SnapshotArchive: Sendable {
    /// A snapshot that was written to its end.
    package struct Entry: Hashable, Sendable {
        /// Of the manifest.
        package let sequence: UInt64
        package let manifest: SnapshotManifest
    }

    /// The snapshots that there are.
    package struct Listing: Hashable, Sendable {
        /// Newest first.
        package var entries: [Entry] = []
        /// The sequences of manifests that cannot be read, newest first.
        package var damaged: [UInt64] = []
    }

    private let stream: any SnapshotStream
    private let messageBytesMax: Int
    private let chunksMax: Int

    /// - Parameters:
    ///   - stream: where they are kept.
    ///   - messageBytesMax: the size of a chunk.
    ///   - chunksMax: the most chunks of a snapshot.
    package init(
        _ stream: any SnapshotStream,
        messageBytesMax: Int = SnapshotLimits.messageBytesMax,
        chunksMax: Int = SnapshotLimits.chunksMax
    ) {
        self.stream = stream
        self.messageBytesMax = messageBytesMax
        self.chunksMax = chunksMax
    }

    /// The snapshots that there are; at most the newest `SnapshotLimits.listedMax`.
    package func list() async throws(SnapshotFault) -> Listing {
        var listing = Listing()
        var next: UInt64 = 1
        while case let messages = try await self.stream.messages(from: next, manifestsOnly: true),
            let last = messages.last
        {
            for message in messages {
                if let manifest = SnapshotManifest(message.bytes) {
                    listing.entries.append(Entry(sequence: message.sequence, manifest: manifest))
                } else {
                    listing.damaged.append(message.sequence)
                }
            }
            listing.entries = listing.entries.suffix(SnapshotLimits.listedMax)
            listing.damaged = listing.damaged.suffix(SnapshotLimits.listedMax)
            next = last.sequence + 1
        }
        listing.entries.reverse()
        listing.damaged.reverse()
        return listing
    }

    /// Reads a snapshot, part by part.
    ///
    /// - Parameters:
    ///   - entry: which one.
    ///   - take: gets its parts, in the order of their keys. They count only when this returns.
    /// - Throws: `SnapshotFault` where it is not whole or damaged, or the errors of `take`.
    package func read(_ entry: Entry, take: ([SnapshotPart]) async throws -> Void) async throws {
        var joiner = SnapshotJoiner(entry.manifest)
        var next = entry.manifest.first
        while next < entry.sequence {
            let messages = try await self.stream.messages(from: next, manifestsOnly: false)
                .filter { $0.sequence < entry.sequence }
            guard let last = messages.last else { break }
            for message in messages {
                let parts = try joiner.add(message.bytes)
                if !parts.isEmpty { try await take(parts) }
            }
            next = last.sequence + 1
        }
        try joiner.end()
    }

    /// Writes a snapshot.
    ///
    /// - Parameters:
    ///   - facts: the log, the rules and the records that it is of; the facts of its chunks are filled in here.
    ///   - board: as of the record of `facts`.
    /// - Returns: the snapshot, whole.
    /// - Throws: where it could not be written to its end: then it does not count.
    package func write(_ facts: SnapshotManifest, of board: Board) async throws(SnapshotFault) -> Entry {
        precondition(facts.offset == board.offset, "a snapshot says what it is of")
        var manifest = facts
        manifest.id = .random(in: 1 ... .max)
        var cutter = SnapshotCutter(id: manifest.id, messageBytesMax: self.messageBytesMax)
        var first: UInt64?
        let stream = self.stream
        func store(_ chunk: [UInt8]) async throws(SnapshotFault) {
            guard cutter.chunks <= self.chunksMax else { throw .limitReached(.snapshotChunksMax) }
            guard !Task.isCancelled else { throw .unavailable("the gateway ends") }
            let sequence = try await stream.append(chunk, isManifest: false)
            first = first ?? sequence
        }
        try await BoardParts.write(
            BoardChanges(everythingOf: board),
            of: board,
            bytesMax: self.messageBytesMax,
            partsMax: .max
        ) { (portion) throws(SnapshotFault) in
            for part in portion.parts { for chunk in cutter.add(part) { try await store(chunk) } }
        }
        if let chunk = cutter.end() { try await store(chunk) }
        manifest.first = first ?? 0
        (manifest.chunks, manifest.parts, manifest.bytes) = (cutter.chunks, cutter.parts, cutter.bytes)
        manifest.digest = cutter.digest.value
        return Entry(sequence: try await stream.append(manifest.encoded, isManifest: true), manifest: manifest)
    }

    /// Removes what stands before the newest whole snapshots of a log that are kept.
    ///
    /// - Parameter logID: snapshots of other logs are not kept.
    /// - Throws: where the servers do not answer.
    package func removeOld(of logID: LogID) async throws(SnapshotFault) {
        let kept = try await self.list().entries.filter { $0.manifest.logID == logID }.prefix(SnapshotLimits.kept)
        guard kept.count == SnapshotLimits.kept, let first = kept.map(\.manifest.first).min(), first > 1 else { return }
        try await self.stream.remove(below: first)
    }
}
