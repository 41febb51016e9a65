// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import DequeModule
import Synchronization

/// Answers that several threads find, told one after the other, in the order in which they were added.
///
/// A thread that adds an answer in a lock of its own, and tells it behind that lock, may be overtaken between the two by another thread.
/// Here the answers keep the order of `add`, and one thread at a time tells.
///
/// ```swift
/// state.withLock { … ; answers.add { done(.success(offset)) } }
/// answers.tell()
/// ```
final class AnswerQueue: Sendable {
    fileprivate struct State {
        var waiting: Deque<@Sendable () -> Void> = []
        /// Whether a thread tells at present: it also tells what is added meanwhile.
        var isTelling = false
    }

    private let state = Mutex(State())

    /// Adds an answer behind all others.
    ///
    /// It may be called in a lock.
    func add(_ answer: @escaping @Sendable () -> Void) { self.state.withLock { $0.waiting.append(answer) } }

    /// Tells everything that was added, unless another thread does so already.
    ///
    /// It must not be called in a lock.
    func tell() {
        guard var next = self.state.withLock({ $0.begin() }) else { return }
        while true {
            next()
            guard let following = self.state.withLock({ $0.goOn() }) else { return }
            next = following
        }
    }
}

extension AnswerQueue.State {
    fileprivate mutating func begin() -> (@Sendable () -> Void)? {
        self.isTelling ? nil : self.goOn()
    }

    fileprivate mutating func goOn() -> (@Sendable () -> Void)? {
        let next = self.waiting.popFirst()
        self.isTelling = next != nil
        return next
    }
}
