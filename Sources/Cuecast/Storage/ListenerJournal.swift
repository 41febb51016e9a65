// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What a client must not forget: in memory, and in a file where the app wants that.
///
/// Entries are in the file when `write` returns, so that they survive the end of the app; a task brings them to the disk
/// soon after, so that they survive the end of the device. The file grows with every entry, and is written anew when most
/// of it is of no use any more.
final class ListenerJournal: Sendable {
    /// A file of less is not written anew for its size.
    static let compactAboveBytes = 262_144
    /// The longest file that is read.
    ///
    /// What is written is far shorter: outcomes are bounded by ``ListenerConfiguration/outboxBytesMax``, and 256 breaks are
    /// followed at most, whose batches a gateway that means well keeps small.
    static let fileBytesMax = 256 * 1_048_576
    /// How long after a failure the file is tried again.
    static let retryInterval = Duration.seconds(5)

    private struct State {
        var journal = JournalState()
        var lock: JournalLock?
        var file: JournalFile?
        var fileBytes = 0
        /// How many bytes the file had when it was last written anew.
        var compactBytes = 0
        /// Since when the file lacks entries.
        var failedAt: ContinuousClock.Instant?
        var synchronization: Task<Void, Never>?
        /// Written to since the task began with its last round.
        var toSynchronize: JournalFile?
    }

    private let storage: ListenerStorage
    private let state = Mutex(State())

    init(_ storage: ListenerStorage) {
        self.storage = storage
    }

    /// This device's clock.
    static var wallTime: Timestamp {
        Timestamp(microseconds: Int64(clamping: Int128((Date.now.timeIntervalSince1970 * 1_000_000).rounded())))
    }

    /// What is known, also while it is not open.
    var contents: JournalState { self.state.withLock { $0.journal } }

    /// Takes hold of the file and reads it; in memory there is nothing to do.
    ///
    /// - Returns: How many places of the file could not be read.
    func open() throws(CuecastError) -> Int {
        guard case .file(let path) = self.storage else { return 0 }
        let lock: JournalLock?
        let damaged: Int?
        do throws(JournalFile.Failure) {
            lock = try JournalLock(path: path + ".lock")
            damaged = try lock.map { (lock) throws(JournalFile.Failure) in try self.read(path, lock) } ?? nil
        } catch {
            throw .storageUnavailable(path: path, reason: error.description)
        }
        guard lock != nil else { throw .storageInUse(path: path) }
        guard let damaged else {
            let reason =
                "it is no journal of this version, or longer than \(Self.fileBytesMax) bytes, and is left as it is"
            throw .storageUnavailable(path: path, reason: reason)
        }
        return damaged
    }

    private func read(_ path: String, _ lock: JournalLock) throws(JournalFile.Failure) -> Int? {
        let bytes = try JournalFile(path: path, truncates: false).readAll(atMost: Self.fileBytesMax + 1)
        guard bytes.count <= Self.fileBytesMax, let contents = JournalRecords.read(bytes) else { return nil }
        return try self.state.withLock { (state) throws(JournalFile.Failure) in
            state.journal = JournalState()
            for entry in contents.entries { state.journal.apply(entry) }
            state.lock = lock
            // Written anew at every start: without what is of no use, and without what is damaged.
            try Self.compact(&state, path)
            return contents.damaged
        }
    }

    /// Keeps entries.
    ///
    /// - Returns: Why they are not in the file, where they are not; told once until it works again.
    func write(_ kinds: [JournalEntry.Kind]) -> String? {
        guard !kinds.isEmpty else { return nil }
        let written = Self.wallTime
        return self.state.withLock { state in
            var bytes: [UInt8] = []
            for kind in kinds {
                let entry = JournalEntry(written: written, kind: kind)
                state.journal.apply(entry)
                if state.file != nil { JournalRecords.append(entry, to: &bytes) }
            }
            guard case .file(let path) = self.storage, let file = state.file else { return nil }
            do throws(JournalFile.Failure) {
                if let failedAt = state.failedAt {
                    guard failedAt.duration(to: .now) >= Self.retryInterval else { return nil }
                    try Self.compact(&state, path)
                } else if state.fileBytes + bytes.count > max(Self.compactAboveBytes, 2 * state.compactBytes) {
                    try Self.compact(&state, path)
                } else {
                    try file.append(bytes)
                    state.fileBytes += bytes.count
                }
                state.failedAt = nil
            } catch {
                let isNew = state.failedAt == nil
                state.failedAt = .now
                return isNew ? error.description : nil
            }
            self.synchronizeSoon(&state)
            return nil
        }
    }

    /// Whether the file lacks entries: then nothing may be done that must not be done twice.
    var isFailing: Bool { self.state.withLock { $0.failedAt != nil } }

    /// Lets go of the file; what is known stays.
    func close() {
        self.state.withLock { state in
            if state.file != nil { self.synchronizeSoon(&state) }
            state.file = nil
            state.lock = nil
            state.failedAt = nil
        }
    }

    /// Returns when the file is on the disk and closed, after `close()`.
    func closed() async {
        await self.state.withLock { $0.synchronization }?.value
    }

    /// Puts a file in the place of the one that grew, with nothing but what is of use.
    ///
    /// Not brought to the disk here, where callers wait: the next synchronization does that.
    private static func compact(_ state: inout State, _ path: String) throws(JournalFile.Failure) {
        var bytes = JournalRecords.header
        for entry in state.journal.entries { JournalRecords.append(entry, to: &bytes) }
        let file = try JournalFile(path: path + ".new", truncates: true)
        try file.append(bytes)
        try JournalFile.replace(path, with: path + ".new")
        state.file = file
        state.fileBytes = bytes.count
        state.compactBytes = bytes.count
    }

    /// Brings what was written to the disk, by a task that lives as long as there is something to do.
    private func synchronizeSoon(_ state: inout State) {
        state.toSynchronize = state.file
        guard state.synchronization == nil else { return }
        state.synchronization = Task(name: "Cuecast journal") {
            // Where the disk refuses, the next entry's write says so.
            while let file = self.nextToSynchronize() { try? file.synchronize() }
        }
    }

    private func nextToSynchronize() -> JournalFile? {
        self.state.withLock { state in
            let file = state.toSynchronize.take()
            if file == nil { state.synchronization = nil }
            return file
        }
    }
}
