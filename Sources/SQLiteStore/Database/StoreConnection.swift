// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Dispatch
import GRDB
import Synchronization

/// A store that was closed was asked for something.
struct StoreClosed: Error {}

/// The connections to one file: one that writes, with what only it touches, and some that read.
///
/// Nothing here stops when the task that asks is cancelled: what was begun is finished, and the caller learns the
/// result.
///
/// Safety: `state` and `backups` are touched only in closures that run on the pool's writing queue, which is serial, and at the end
/// of the last of them, when no reference to this is left; the values that they capture are `Sendable`. The other members are
/// constants.
final class StoreConnection<State>: @unchecked Sendable {
    private let pool: DatabasePool
    private var state: State?
    /// Copies under way: a connection does not close before they end.
    private var backups: [StoreBackup] = []
    /// The task that closes it, for all callers of `close`.
    private let closing: Mutex<Task<Void, Never>?> = Mutex(nil)

    /// Takes over a pool.
    ///
    /// - Parameters:
    ///   - pool: open; it has no other user.
    ///   - makeState: makes what belongs to the writing connection, for instance prepared statements.
    /// - Throws: the errors of `makeState`.
    init(_ pool: DatabasePool, makeState: (Database) throws -> State) throws {
        self.pool = pool
        self.state = try pool.writeWithoutTransaction { try makeState($0) }
    }

    /// For a store that was not closed: what belongs to the connection goes before the connection does.
    ///
    /// The pool may close the connection on its queue as soon as no reference to it is left; a statement that ends here meanwhile
    /// would be a second thread in one connection, which SQLite does not allow ("multi-thread" in sqlite.org/threadsafe.html).
    deinit {
        self.state = nil
        for backup in self.backups { backup.abandon() }
    }

    /// Does something with the writing connection, after everything that was asked of it before; nothing when it is
    /// closed.
    func enqueue(_ body: @escaping @Sendable (Database, State) -> Void) {
        self.pool.asyncWriteWithoutTransaction { database in
            if let state = self.state { body(database, state) }
        }
    }

    /// Does something with the writing connection, after everything that was asked of it before.
    func write<Value: Sendable>(
        _ body: @escaping @Sendable (Database, State) throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            self.pool.asyncWriteWithoutTransaction { database in
                continuation.resume(
                    with: Result {
                        guard let state = self.state else { throw StoreClosed() }
                        return try body(database, state)
                    }
                )
            }
        }
    }

    /// Reads at one moment.
    ///
    /// A task that prefers an executor reads on it: the choice of threads for a kind of work includes reads, and these threads may
    /// have a lower priority. For all other tasks the store has threads of its own.
    @concurrent
    func read<Value: Sendable>(_ body: @escaping @Sendable (Database) throws -> Value) async throws -> Value {
        if unsafe withUnsafeCurrentTask(body: { unsafe $0?.unownedTaskExecutor }) != nil {
            return try self.readHere(body)
        }
        return try await withCheckedThrowingContinuation { continuation in
            self.pool.asyncRead { result in
                continuation.resume(with: Result { try body(try result.get()) })
            }
        }
    }

    /// Gives back the pages that are in memory only to be faster, behind what was asked of the writing connection before, and closes
    /// the reading ones as they become free.
    func releaseCaches() async {
        self.pool.releaseMemoryEventually()
        // So that the pages are free when this returns; a store that was closed has none.
        try? await self.write { _, _ in }
    }

    /// The memory of the writing connection's pages, in bytes; 0 once it is closed.
    func cacheBytes() async -> Int {
        (try? await self.write { database, _ in database.cacheBytes }) ?? 0
    }

    /// Begins a copy of the file; `endBackup` or `abandonBackup` ends it, or closing does.
    func beginBackup(to path: String) async throws -> StoreBackup {
        try await self.write { database, _ in
            let backup = try StoreBackup(from: database, to: path)
            self.backups.append(backup)
            return backup
        }
    }

    /// Ends a copy that is whole.
    func endBackup(_ backup: StoreBackup) async throws {
        try await self.write { _, _ in
            self.backups.removeAll { $0 === backup }
            try backup.finish()
        }
    }

    /// Ends a copy that is of no use.
    func abandonBackup(_ backup: StoreBackup) async {
        // Where the connection is closed already, closing has ended it.
        try? await self.write { _, _ in
            self.backups.removeAll { $0 === backup }
            backup.abandon()
        }
    }

    /// Reads on the calling thread, which waits for a connection where all are in use.
    private func readHere<Value>(_ body: (Database) throws -> Value) throws -> Value {
        try self.pool.read(body)
    }

    /// Closes, after everything that was asked before; reads under way fail.
    ///
    /// Where it is closed or closes already, it only waits: what was closed must not be interrupted.
    ///
    /// - Parameter last: the last thing done with the writing connection; not called when it was closed before.
    func close(_ last: @escaping @Sendable (Database, State) -> Void) async {
        let closing = self.closing.withLock { closing in
            let task = closing ?? Task.detached { await self.closeOnce(last) }
            closing = task
            return task
        }
        await closing.value
    }

    private func closeOnce(_ last: @escaping @Sendable (Database, State) -> Void) async {
        await withCheckedContinuation { continuation in
            self.pool.asyncWriteWithoutTransaction { database in
                if let state = self.state { last(database, state) }
                self.state = nil
                for backup in self.backups { backup.abandon() }
                self.backups = []
                // Closing waits for the queue that we are on, and for readers.
                DispatchQueue.global()
                    .async {
                        self.pool.interrupt()
                        // It fails only when there is nothing left to close, or a reader is stuck: the process goes on.
                        try? self.pool.close()
                        continuation.resume()
                    }
            }
        }
    }
}
