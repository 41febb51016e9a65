// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CNATS
import CuecastWire
import DequeModule
import Dispatch
import GatewayCore
import Synchronization

/// Appends to the streams of a log: many at a time, in the order of the calls.
///
/// `append` only queues, so a connection that takes nothing blocks no caller. Every append is answered: by the server, or after
/// `NATSAccess.answerWithin` as `unanswered`.
// Safety: the handle is libnats's, which locks it, and is not changed; everything else is in the lock.
@safe final class StreamWriter: @unchecked Sendable {
    typealias Done = @Sendable (Result<UInt64, EventLogError>) -> Void
    /// A record was stored at this sequence; `seen` is called once: whether it was read back.
    typealias Stored = @Sendable (_ lane: Lane, _ sequence: UInt64, _ seen: @escaping @Sendable (Bool) -> Void) -> Void

    private struct Item {
        let lane: Lane
        let id: AppendID?
        let record: [UInt8]
        /// How far its lane was read when it was handed over: it is stored behind that.
        let seen: UInt64
        let done: Done
    }

    private struct Open {
        let lane: Lane
        let bytes: Int
        let seen: UInt64
        let done: Done
    }

    private struct State {
        var queue: Deque<Item> = []
        /// By the addresses of their messages, which are libnats's until it has called back.
        var open: [UInt: Open] = [:]
        /// How many are stored, and not read back yet.
        var unseenCount = 0
        var bytes = 0
        var isScheduled = false
        var isClosing = false
        var closers: [CheckedContinuation<Void, Never>] = []

        var count: Int { self.queue.count + self.open.count + self.unseenCount }
    }

    private let names: LogNames
    private let places: [Lane: LanePlaces]
    private let connection: NATSConnection
    private let stored: Stored
    private let lost: @Sendable (String) -> Void
    private let state = Mutex(State())
    private let thread = DispatchQueue(label: "cuecast-jetstream-appends")
    private let number: UInt
    private let context: OpaquePointer

    /// - Parameters:
    ///   - names: of the streams.
    ///   - places: of all lanes.
    ///   - connection: to the servers.
    ///   - stored: is told of each record that the servers have confirmed, and says when readers have it: then the append is answered.
    ///   - lost: is told why the log cannot be what it was.
    /// - Throws: where libnats has no memory.
    init(
        _ names: LogNames,
        _ places: [Lane: LanePlaces],
        _ connection: NATSConnection,
        stored: @escaping Stored,
        lost: @escaping @Sendable (String) -> Void
    ) throws(NATSError) {
        self.names = names
        self.places = places
        self.connection = connection
        self.stored = stored
        self.lost = lost
        let box = Forward()
        let number = Self.forwards.add(box)
        var options = unsafe jsOptions()
        unsafe jsOptions_Init(&options)
        unsafe options.PublishAsync.MaxPending = 0
        unsafe options.PublishAsync.AckHandlerClosure = unsafe CallbackTable<Forward>.closure(number)
        unsafe options.PublishAsync.AckHandler = { _, message, answer, error, closure in
            let writer = unsafe StreamWriter.forwards.find(closure)?.writer.withLock { $0.value }
            let sequence = unsafe answer?.pointee.Sequence
            let failure = unsafe error.map { unsafe ($0.pointee.Err, $0.pointee.ErrCode) }
            let text = unsafe error.flatMap { unsafe $0.pointee.ErrText }.map { unsafe String(cString: $0) }
            writer?.answered(UInt(bitPattern: message), sequence, failure, text)
            unsafe natsMsg_Destroy(message)
        }
        var context: OpaquePointer?
        let status = unsafe natsConnection_JetStream(&context, connection.handle, &options)
        guard status == NATS_OK, let context = unsafe context else {
            Self.forwards.remove(number)
            throw .unusable("JetStream: \(NATSCall.text(of: status))")
        }
        self.number = number
        unsafe self.context = context
        box.writer.withLock { $0.value = self }
    }

    deinit {
        Self.forwards.remove(self.number)
        unsafe jsCtx_Destroy(self.context)
    }

    /// Finds a writer without keeping it.
    private final class Forward: Sendable {
        struct Weak { weak var value: StreamWriter? }
        let writer = Mutex(Weak())
    }

    private static let forwards = CallbackTable<Forward>()

    /// Queues an append.
    ///
    /// - Parameters:
    ///   - record: the bytes.
    ///   - id: kept beside the record.
    ///   - lane: to which lane.
    ///   - seen: how far the lane was read.
    ///   - done: called once, on another thread.
    /// - Returns: why it is not taken; then `done` is not called.
    func append(
        _ record: [UInt8],
        id: AppendID?,
        to lane: Lane,
        seen: UInt64,
        done: @escaping Done
    ) -> EventLogError? {
        self.state.withLock { state in
            guard !state.isClosing else { return .closed }
            guard state.count < EventLogLimits.appendsOpenMax + Self.settlingRoom,
                state.bytes + record.count <= EventLogLimits.appendBytesOpenMax
            else {
                return .failed(
                    "the limit appendsOpenMax (\(EventLogLimits.appendsOpenMax)) or appendBytesOpenMax"
                        + " (\(EventLogLimits.appendBytesOpenMax)) is passed"
                )
            }
            state.queue.append(Item(lane: lane, id: id, record: record, seen: seen, done: done))
            state.bytes += record.count
            if !state.isScheduled {
                state.isScheduled = true
                self.thread.async { self.send() }
            }
            return nil
        }
    }

    /// Room for the empty records that settle others (`OwnAppends`).
    private static let settlingRoom = 64

    private func send() {
        while true {
            let item = self.state.withLock { state -> Item? in
                guard let item = state.queue.popFirst() else {
                    state.isScheduled = false
                    return nil
                }
                return item
            }
            guard let item else { return self.tellClosers() }
            self.send(item)
        }
    }

    private func send(_ item: Item) {
        var message: OpaquePointer?
        let subject = self.names.subject(of: item.lane)
        var status = unsafe item.record.withUnsafeBytes { bytes in
            unsafe natsMsg_Create(
                &message,
                subject,
                nil,
                bytes.baseAddress?.assumingMemoryBound(to: CChar.self),
                Int32(bytes.count)
            )
        }
        if status == NATS_OK, let id = item.id {
            status = unsafe natsMsgHeader_Set(message, AppendHeader.name, AppendHeader.text(id))
        }
        let key = UInt(bitPattern: message)
        guard status == NATS_OK else {
            unsafe natsMsg_Destroy(message)
            return self.finish(item, .failed(NATSCall.text(of: status)))
        }
        let open = Open(lane: item.lane, bytes: item.record.count, seen: item.seen, done: item.done)
        self.state.withLock { $0.open[key] = open }
        var options = unsafe jsPubOptions()
        unsafe jsPubOptions_Init(&options)
        unsafe options.MaxWait = self.connection.access.answerWithin.wholeMilliseconds
        let sent = unsafe self.names.stream(of: item.lane)
            .withCString { stream in
                unsafe options.ExpectStream = unsafe stream
                return unsafe js_PublishMsgAsync(self.context, &message, &options)
            }
        guard sent != NATS_OK else { return }
        unsafe natsMsg_Destroy(message)
        // Where it was called back already, it is answered.
        guard let open = self.state.withLock({ $0.open.removeValue(forKey: key) }) else { return }
        self.settle(open, .failure(sent == NATS_MAX_PAYLOAD ? .failed(NATSCall.text(of: sent)) : .unanswered))
    }

    private func finish(_ item: Item, _ error: EventLogError) {
        self.settle(
            Open(lane: item.lane, bytes: item.record.count, seen: item.seen, done: item.done),
            .failure(error)
        )
    }

    private func answered(_ key: UInt, _ sequence: UInt64?, _ failure: (natsStatus, jsErrCode)?, _ text: String?) {
        let isStored = sequence != nil && failure == nil
        let taken = self.state.withLock { state -> Open? in
            guard let open = state.open.removeValue(forKey: key) else { return nil }
            if isStored { state.unseenCount += 1 }
            return open
        }
        guard let open = taken else { return }
        guard let sequence, failure == nil else {
            return self.settle(open, .failure(Self.error(failure?.1 ?? jsErrCode(0), text)))
        }
        let places = self.places[open.lane]
        let offset = places?.offset(of: sequence) ?? 0
        guard sequence > places?.restored ?? 1, offset > open.seen else {
            self.lost(
                "the lane \(open.lane) stored a record at offset \(offset), and offset \(open.seen) was there before"
            )
            return self.settleStored(open, .failure(.unanswered))
        }
        self.stored(open.lane, sequence) { isSeen in
            self.settleStored(open, isSeen ? .success(offset) : .failure(.unanswered))
        }
    }

    private func settleStored(_ open: Open, _ result: Result<UInt64, EventLogError>) {
        self.state.withLock { $0.unseenCount -= 1 }
        self.settle(open, result)
    }

    /// The meaning of a refusal: where the server had no room before it asked the others, nothing was stored for certain.
    private static func error(_ code: jsErrCode, _ text: String?) -> EventLogError {
        switch code {
        case JSAccountResourcesExceededErr, JSInsufficientResourcesErr, JSStorageResourcesExceededErr:
            .outOfSpace(text ?? "JetStream has no room (\(code.rawValue))")
        case JSStreamNotMatchErr: .failed(text ?? "another stream takes the subject")
        default: .unanswered
        }
    }

    private func settle(_ open: Open, _ result: Result<UInt64, EventLogError>) {
        self.state.withLock { $0.bytes -= open.bytes }
        open.done(result)
        self.tellClosers()
    }

    private func tellClosers() {
        let closers = self.state.withLock { state -> [CheckedContinuation<Void, Never>] in
            guard state.count == 0 else { return [] }
            defer { state.closers = [] }
            return state.closers
        }
        for each in closers { each.resume() }
    }

    /// Takes no more, and returns when every append is answered.
    func close() async {
        await withCheckedContinuation { continuation in
            let waits = self.state.withLock { state in
                state.isClosing = true
                guard state.count > 0 else { return false }
                state.closers.append(continuation)
                return true
            }
            if !waits { continuation.resume() }
        }
    }
}
#endif
