// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Dispatch
internal import Synchronization

/// Does a journal's work, one piece after the other, each after all that was asked for before.
protocol JournalWorker: Sendable {
    /// Returns at once.
    func perform(_ work: @escaping @Sendable () -> Void)
}

/// The thread on which one file is worked on, one piece of work after the other.
///
/// All clients of a process that name the same file share it: one that begins waits for another that is just letting go
/// of the file. It costs nothing while there is no work.
final class JournalThread: JournalWorker {
    private struct Entry {
        weak var thread: JournalThread?
    }

    private static let threads = Mutex<[String: Entry]>([:])

    private let path: String
    private let queue: DispatchQueue

    private init(path: String) {
        self.path = path
        self.queue = DispatchQueue(label: "cuecast.journal")
    }

    deinit {
        Self.threads.withLock { threads in
            // Another one may have taken its place by now.
            if threads[self.path]?.thread == nil { threads[self.path] = nil }
        }
    }

    static func shared(for path: String) -> JournalThread {
        self.threads.withLock { threads in
            if let thread = threads[path]?.thread { return thread }
            let thread = JournalThread(path: path)
            threads[path] = Entry(thread: thread)
            return thread
        }
    }

    func perform(_ work: @escaping @Sendable () -> Void) {
        self.queue.async { work() }
    }
}
