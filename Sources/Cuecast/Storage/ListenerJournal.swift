// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A client's durable state: in memory at once, and soon in a file if the app wants that.
///
/// ```
/// caller's thread          journal's thread                         caller of `report`
/// append(entries) ──────→  take all that wait
///   (memory)               one write, one sync  ("commit") ──────→  committed(count)
///                          … or the disk refuses            ──────→  failed(reason)
/// ```
/// No caller waits for the disk. `append` puts entries into the memory, where `contents` shows them, and into a queue. The
/// journal's own thread takes all that wait, writes them in one piece, and brings them to the disk: one *commit*. Then it
/// says how many entries, counted from the opening, are safe. What must not happen before an entry is safe waits for that
/// report: the session's decisions (`ListenerCore`) know what does.
///
/// A kill loses the entries since the last commit, and never one from before another that stays: the file is the beginning
/// of what was appended.
///
/// The file grows with every entry, and is written anew when most of it is of no use any more: to another file, which is on
/// the disk before it takes the place of the first. Where the disk refuses, entries stay in memory, and the file is written
/// anew when it takes again. Where more than `waitingBytesMax` wait, because the disk is slow, the queue is dropped: the
/// file is then written anew from the memory, which is bounded by itself.
final class ListenerJournal: Sendable {
    /// A file of less is not written anew for its size.
    static let compactAboveBytes = 262_144
    /// The longest file that is read.
    ///
    /// What is written is far shorter: outcomes are bounded by ``ListenerConfiguration/outboxBytesMax``, and 256 breaks are
    /// followed at most, whose batches a gateway that means well keeps small.
    static let fileBytesMax = 256 * 1_048_576
    /// The most that waits for the disk, by `JournalEntry.approximateBytes`; of more the file is written anew instead.
    static let waitingBytesMax = 4 * 1_048_576
    /// How many files of each kind that cannot be read are kept beside the journal; of more, the oldest is removed.
    static let filesAsideMax = 3
    /// How long after a failure the file is tried again.
    static let retryInterval = Duration.seconds(5)

    /// How the opening ended.
    enum Opened: Hashable, Sendable {
        /// Entries are kept in memory, as the app wants it.
        case memory
        /// Entries go to the file; sentences about what was wrong with it, if anything.
        case file(problems: [String])
        /// Entries are in memory, and the file lacks them until the disk takes them.
        case failing(problems: [String])
        /// Entries are kept in memory, because there can be no file, for the reason given.
        case unusable(String)
        /// Entries are kept in memory, because another client uses the file.
        case inUse
    }

    /// The journal's own reports, on its thread.
    enum Report: Hashable, Sendable {
        /// So many entries, counted from the opening, are on the disk.
        case committed(UInt64)
        /// The disk refuses, for the reason given: entries are in memory only. Said once, until `committed` follows.
        case failed(String)
    }

    typealias Reporting = @Sendable (Report) -> Void

    private struct State {
        var journal = JournalState()
        /// Whether entries go to the file.
        var hasFile = false
        /// How many entries were appended since the opening.
        var appended: UInt64 = 0
        var waiting: [JournalEntry] = []
        var waitingBytes = 0
        /// Whether the file lacks entries that do not wait any more.
        var mustRewrite = false
        /// Whether the thread is about to take what waits.
        var isScheduled = false

        mutating func enqueue(_ entry: JournalEntry) {
            self.appended += 1
            guard !self.mustRewrite else { return }
            self.waitingBytes += entry.approximateBytes
            self.waiting.append(entry)
            guard self.waitingBytes > ListenerJournal.waitingBytesMax else { return }
            self.emptyQueue()
            self.mustRewrite = true
        }

        mutating func emptyQueue() {
            self.waiting = []
            self.waitingBytes = 0
            self.mustRewrite = false
        }
    }

    /// The state of the journal's thread.
    private struct Disk {
        var lock: (any JournalLock)?
        var file: (any JournalFile)?
        var report: Reporting?
        var fileBytes = 0
        /// How many bytes the file had when it was last written anew.
        var compactBytes = 0
        /// Since when the file lacks entries.
        var failedAt: ContinuousClock.Instant?
    }

    private let storage: ListenerStorage
    private let files: any JournalFileSystem
    /// `nil`: in memory.
    private let thread: (any JournalWorker)?
    private let now: @Sendable () -> ContinuousClock.Instant
    private let wallTime: @Sendable () -> Timestamp
    private let state = Mutex(State())
    /// Only the journal's thread locks it, so no thread ever waits for it.
    private let disk = Mutex(Disk())

    /// - Parameters:
    ///   - storage: where entries go.
    ///   - files: the folder of the file.
    ///   - worker: works on the file; `nil`: the thread that all clients of this file share.
    ///   - now: the clock that the wait after a failure goes by.
    ///   - wallTime: this device's clock.
    init(
        _ storage: ListenerStorage,
        files: any JournalFileSystem = DiskFileSystem(),
        worker: (any JournalWorker)? = nil,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        wallTime: @escaping @Sendable () -> Timestamp = { ListenerJournal.wallTime }
    ) {
        self.storage = storage
        self.files = files
        self.now = now
        self.wallTime = wallTime
        if case .file(let path) = storage {
            self.thread = worker ?? JournalThread.shared(for: path)
        } else {
            self.thread = nil
        }
    }

    /// This device's clock.
    static var wallTime: Timestamp {
        Timestamp(microseconds: Int64(clamping: Int128((Date.now.timeIntervalSince1970 * 1_000_000).rounded())))
    }

    /// The known state, also before the journal is open, and with entries that are not on the disk yet.
    var contents: JournalState { self.state.withLock { $0.journal } }

    /// How much waits for the disk, by `JournalEntry.approximateBytes`.
    var waitingBytes: Int { self.state.withLock { $0.waitingBytes } }

    // MARK: Opening

    /// Takes hold of the file and reads it, on the journal's thread; in memory there is nothing to do.
    ///
    /// - Parameters:
    ///   - report: is told what becomes of entries, on the journal's thread, until `close`.
    ///   - opened: is told how it ended, once: at once in memory, on the journal's thread otherwise.
    func open(report: @escaping Reporting, opened: @escaping @Sendable (Opened) -> Void) {
        guard case .file(let path) = self.storage, let thread = self.thread else { return opened(.memory) }
        thread.perform {
            let result = self.disk.withLock { disk in
                disk.report = report
                return self.open(path, &disk)
            }
            opened(result)
        }
    }

    private func open(_ path: String, _ disk: inout Disk) -> Opened {
        do throws(JournalFailure) {
            try self.files.makeFolder(of: path)
            guard let lock = try self.files.lock(path + ".lock") else { return .inUse }
            disk.lock = lock
            var problems: [String] = []
            // Entries that could not be written in the last session are in memory only.
            if disk.failedAt == nil {
                switch try self.read(path) {
                case .success(let contents):
                    if contents.damaged > 0 {
                        problems.append("\(contents.damaged) places of the file could not be read")
                    }
                    self.fill(contents.entries)
                case .failure(let fault):
                    problems.append(try self.setAside(path, fault))
                    self.fill([])
                }
            }
            self.state.withLock { state in
                state.hasFile = true
                state.appended = 0
                state.waiting = []
                state.waitingBytes = 0
                state.mustRewrite = true
            }
            // Written anew at every start: without what is of no use, and without what is damaged.
            guard let failure = self.rewrite(path, &disk).failure else { return .file(problems: problems) }
            return .failing(problems: problems + [failure.description])
        } catch {
            disk.lock = nil
            return .unusable(error.description)
        }
    }

    /// Why a file is none that can be used.
    private enum Fault: String, Error {
        case laterVersion = "later-version"
        case foreign = "not-a-journal"
        case tooLong = "too-long"

        var sentence: String {
            switch self {
            case .laterVersion: "it was written by a later version"
            case .foreign: "it is no journal"
            case .tooLong: "it is longer than \(ListenerJournal.fileBytesMax) bytes"
            }
        }
    }

    private func read(_ path: String) throws(JournalFailure) -> Result<JournalRecords.Contents, Fault> {
        let bytes = try self.files.open(path, truncates: false).readAll(atMost: Self.fileBytesMax + 1)
        guard bytes.count <= Self.fileBytesMax else { return .failure(.tooLong) }
        guard let contents = JournalRecords.read(bytes) else {
            return .failure(bytes.starts(with: JournalRecords.headerOfAnyVersion) ? .laterVersion : .foreign)
        }
        return .success(contents)
    }

    private func fill(_ entries: [JournalEntry]) {
        var journal = JournalState()
        for entry in entries { journal.apply(entry) }
        self.state.withLock { $0.journal = journal }
    }

    /// Gives a file that cannot be read another name, which says why; number 1 is the latest one.
    ///
    /// - Returns: a sentence about it.
    private func setAside(_ path: String, _ fault: Fault) throws(JournalFailure) -> String {
        func name(_ number: Int) -> String { "\(path).\(fault.rawValue)-\(number)" }
        for number in (1..<Self.filesAsideMax).reversed() where self.files.exists(name(number)) {
            try self.files.rename(name(number), to: name(number + 1))
        }
        try self.files.rename(path, to: name(1))
        return "the file cannot be used, because \(fault.sentence); it is kept as \(name(1))"
    }

    // MARK: Entries

    /// Keeps entries: in memory when this returns, and on the disk when `report` says so.
    func append(_ kinds: [JournalEntry.Kind]) {
        guard !kinds.isEmpty else { return }
        let written = self.wallTime()
        let mustSchedule = self.state.withLock { state in
            for kind in kinds {
                let entry = JournalEntry(written: written, kind: kind)
                state.journal.apply(entry)
                if state.hasFile { state.enqueue(entry) }
            }
            defer { state.isScheduled = state.isScheduled || state.hasFile }
            return state.hasFile && !state.isScheduled
        }
        if mustSchedule { self.thread?.perform { self.commitAll() } }
    }

    /// Brings to the disk what waits, group by group.
    private func commitAll() {
        guard case .file(let path) = self.storage else { return }
        while let group = self.takeGroup() {
            let (report, says) = self.disk.withLock { disk in (disk.report, self.commit(group, path, &disk)) }
            if let says { report?(says) }
        }
    }

    /// Some entries in their order, and how many there are up to the last of them.
    private struct Group {
        let entries: [JournalEntry]
        let through: UInt64
        let mustRewrite: Bool
    }

    private func takeGroup() -> Group? {
        self.state.withLock { state in
            guard !state.waiting.isEmpty || state.mustRewrite else {
                state.isScheduled = false
                return nil
            }
            defer { state.emptyQueue() }
            return Group(entries: state.waiting, through: state.appended, mustRewrite: state.mustRewrite)
        }
    }

    /// - Returns: What is to be said about it, if anything.
    private func commit(_ group: Group, _ path: String, _ disk: inout Disk) -> Report? {
        guard let file = disk.file, disk.failedAt == nil, !group.mustRewrite else {
            if let failedAt = disk.failedAt, failedAt.duration(to: self.now()) < Self.retryInterval { return nil }
            return self.rewriteAndReport(path, &disk)
        }
        var bytes: [UInt8] = []
        for entry in group.entries { JournalRecords.append(entry, to: &bytes) }
        guard disk.fileBytes + bytes.count <= max(Self.compactAboveBytes, 2 * disk.compactBytes) else {
            return self.rewriteAndReport(path, &disk)
        }
        do throws(JournalFailure) {
            try file.append(bytes)
            try file.synchronize()
            disk.fileBytes += bytes.count
            return .committed(group.through)
        } catch {
            disk.failedAt = self.now()
            return .failed(error.description)
        }
    }

    private func rewriteAndReport(_ path: String, _ disk: inout Disk) -> Report? {
        let wasFailing = disk.failedAt != nil
        let (through, failure) = self.rewrite(path, &disk)
        guard let failure else { return .committed(through) }
        return wasFailing ? nil : .failed(failure.description)
    }

    /// Puts a file in the place of the one that grew, with nothing but what is of use.
    private func rewrite(_ path: String, _ disk: inout Disk) -> (through: UInt64, failure: JournalFailure?) {
        let (journal, through) = self.state.withLock { state in
            state.emptyQueue()
            return (state.journal, state.appended)
        }
        var bytes = JournalRecords.header
        for entry in journal.entries { JournalRecords.append(entry, to: &bytes) }
        do throws(JournalFailure) {
            let file = try self.files.open(path + ".new", truncates: true)
            try file.append(bytes)
            try file.synchronize()
            try self.files.rename(path + ".new", to: path)
            disk.file = file
            disk.fileBytes = bytes.count
            disk.compactBytes = bytes.count
            disk.failedAt = nil
            return (through, nil)
        } catch {
            self.files.remove(path + ".new")
            disk.failedAt = self.now()
            return (through, error)
        }
    }

    // MARK: Closing

    /// Lets go of the file once all that waits is on the disk; what is known stays in memory.
    ///
    /// - Parameter closed: is called once it is done: at once in memory, on the journal's thread otherwise.
    func close(closed: @escaping @Sendable () -> Void = {}) {
        self.state.withLock { $0.hasFile = false }
        guard case .file(let path) = self.storage, let thread = self.thread else { return closed() }
        thread.perform {
            self.commitAll()
            self.disk.withLock { disk in
                if disk.lock != nil, disk.failedAt != nil { _ = self.rewrite(path, &disk) }
                disk.file = nil
                disk.lock = nil
                disk.report = nil
            }
            self.state.withLock { $0.hasFile = false }
            closed()
        }
    }
}

extension JournalEntry {
    /// About how many bytes it takes while it waits, found without encoding it.
    var approximateBytes: Int {
        switch self.kind {
        case .batch(_, let batch, _): 512 + batch.advertisements.reduce(0) { $0 + $1.approximateBytes }
        case .outcome(let request): 256 + request.ticket.count
        case .tracking(let bytes): 128 + bytes.count
        case .settled(let numbers, let why): 128 + 8 * numbers.count + (why?.sentence.utf8.count ?? 0)
        case .trackingForgotten(let ids): 128 + 8 * ids.count
        case .session(let session): 256 + session.ticket.count
        case .handedOut, .progress, .breakClosed, .forgotten, .sessionOver, .alive: 256
        }
    }
}

extension AdvertisementContent {
    fileprivate var approximateBytes: Int {
        512 + self.title.utf8.count + self.text.utf8.count + self.media.reduce(0) { $0 + 64 + $1.url.utf8.count }
            + self.trackers.reduce(0) { $0 + 64 + $1.url.utf8.count } + self.supplements.memoryBytes
    }
}
