// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

extension ListenerCore {
    /// The decisions that were not taken yet, in order.
    struct Output: Sendable {
        private var actions: [Action] = []
        private var journal: [JournalEntry.Kind] = []
        /// How many entries were kept since the session began in this run.
        private(set) var keptCount: UInt64 = 0

        mutating func act(_ action: Action) {
            self.actions.append(action)
        }

        mutating func emit(_ event: ListenerEvent) {
            self.actions.append(.event(event))
        }

        mutating func log(_ level: LogLine.Level, _ message: String) {
            self.actions.append(.log(LogLine(level: level, message: message)))
        }

        /// Says in the log what is new about the connection.
        mutating func log(_ state: ConnectionState) {
            switch state {
            case .listening: self.log(.info, "Listening")
            case .waiting(let reason): self.log(.info, "Connection lost, trying again: \(reason)")
            case .refused(let reason): self.log(.error, "The gateway refuses this listener: \(reason)")
            default: self.log(.debug, "Connection: \(state)")
            }
        }

        /// The gateway said something that makes no sense.
        mutating func notUnderstood(_ what: String) {
            self.emit(.notUnderstood(what))
            self.log(.warning, "Not understood: \(what)")
        }

        mutating func keep(_ entry: JournalEntry.Kind) {
            self.journal.append(entry)
            self.keptCount += 1
        }

        mutating func takeActions() -> [Action] {
            defer { self.actions = [] }
            return self.actions
        }

        mutating func takeJournal() -> [JournalEntry.Kind] {
            defer { self.journal = [] }
            return self.journal
        }
    }
}
