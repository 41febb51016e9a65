// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Synchronization

/// The events while listening, in order, from the call of ``CuecastClient/makeEvents()`` on.
///
/// It ends when the client has stopped. Each reader has a buffer of its own; where one reads too slowly, later events are
/// dropped for it and counted by ``ListenerEvent/eventsDropped(_:)``. Iterate one sequence once.
public struct ListenerEvents: AsyncSequence, Sendable {
    fileprivate let base: AsyncStream<ListenerEvent>

    /// Begins to read: `next` gives an event, or `nil` when the client has stopped or the task is cancelled.
    public func makeAsyncIterator() -> AsyncStream<ListenerEvent>.Iterator { self.base.makeAsyncIterator() }
}

/// Hands each event to every reader.
final class EventHub: Sendable {
    private struct Reader {
        let continuation: AsyncStream<ListenerEvent>.Continuation
        var dropped = 0
    }

    private struct State {
        var readers: [Int: Reader] = [:]
        var lastID = 0
    }

    private let state = Mutex(State())
    private let bufferedMax: Int

    /// - Parameter bufferedMax: how many events wait for each reader.
    init(bufferedMax: Int) {
        self.bufferedMax = bufferedMax
    }

    var readerCount: Int { self.state.withLock { $0.readers.count } }

    func makeEvents() -> ListenerEvents {
        let (stream, continuation) = AsyncStream.makeStream(
            of: ListenerEvent.self,
            bufferingPolicy: .bufferingOldest(self.bufferedMax)
        )
        let id = self.state.withLock { state in
            state.lastID += 1
            state.readers[state.lastID] = Reader(continuation: continuation)
            return state.lastID
        }
        continuation.onTermination = { [weak self] _ in
            self?.state.withLock { $0.readers[id] = nil }
        }
        return ListenerEvents(base: stream)
    }

    func send(_ event: ListenerEvent) {
        for (id, reader) in self.state.withLock({ $0.readers }) {
            var dropped = reader.dropped
            if dropped > 0, case .enqueued = reader.continuation.yield(.eventsDropped(dropped)) { dropped = 0 }
            if dropped > 0 {
                dropped += 1
            } else if case .dropped = reader.continuation.yield(event) {
                dropped += 1
            }
            guard dropped != reader.dropped else { continue }
            self.state.withLock { $0.readers[id]?.dropped = dropped }
        }
    }

    func finish() {
        let readers = self.state.withLock { state in
            defer { state.readers = [:] }
            return state.readers
        }
        for reader in readers.values { reader.continuation.finish() }
    }
}
