// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import GatewayCore
import Synchronization

/// The requests from inside the process that are not answered yet, with the tasks that wait for them.
///
/// A request counts until it is answered, even if its caller has stopped waiting. Otherwise a caller that asks and leaves could
/// make the gateway keep any number of requests.
final class BroadcastCalls: Sendable {
    enum Begun: Sendable {
        case begun(UInt64)
        /// This limit is reached.
        case reached(LimitName, Int)
        /// The gateway answers nothing any more.
        case closed
    }

    private enum Side {
        /// Asked; no caller waits yet.
        case asked
        case waiting(CheckedContinuation<BroadcastReply?, Never>)
        /// Answered before a caller waited.
        case answered(BroadcastReply)
        /// The caller has left.
        case left
    }

    private struct Call {
        var side: Side
        /// The number that the caller gave the request.
        let requestID: UInt64
        let bytes: Int
        /// Whether it still counts.
        var isOpen = true
    }

    private struct State {
        var calls: [UInt64: Call] = [:]
        var counter: UInt64 = 0
        var open = 0
        var bytes = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let callsMax: Int
    private let bytesMax: Int

    /// - Parameters:
    ///   - callsMax: the most that are not answered.
    ///   - bytesMax: the most bytes of those.
    init(callsMax: Int, bytesMax: Int) {
        self.callsMax = callsMax
        self.bytesMax = bytesMax
    }

    /// How many are not answered.
    var openCount: Int { self.state.withLock(\.open) }

    /// Takes a request into the book, where there is room for it.
    ///
    /// - Parameters:
    ///   - requestID: the number that the caller gave the request.
    ///   - bytes: how large it is as a frame.
    /// - Returns: its number in the book, or why there is no room.
    func begin(_ requestID: UInt64, bytes: Int) -> Begun {
        self.state.withLock { state in
            guard !state.isClosed else { return .closed }
            guard state.open < self.callsMax else { return .reached(.broadcastCallsWaitingMax, self.callsMax) }
            guard state.bytes + bytes <= self.bytesMax else {
                return .reached(.broadcastCallBytesWaitingMax, self.bytesMax)
            }
            state.counter += 1
            state.open += 1
            state.bytes += bytes
            state.calls[state.counter] = Call(side: .asked, requestID: requestID, bytes: bytes)
            return .begun(state.counter)
        }
    }

    /// Waits for the answer to a request; once.
    ///
    /// - Returns: the answer; `nil` where the caller was cancelled first.
    func answer(to number: UInt64) async -> BroadcastReply? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { self.wait(for: number, $0) }
        } onCancel: {
            self.leave(number)
        }
    }

    private func wait(for number: UInt64, _ continuation: CheckedContinuation<BroadcastReply?, Never>) {
        let side = self.state.withLock { state in
            let side = state.calls[number]?.side
            switch side {
            case .asked: state.calls[number]?.side = .waiting(continuation)
            case .answered: state.calls[number] = nil
            case .waiting, .left, nil: break
            }
            return side
        }
        switch side {
        case .asked: break
        case .answered(let reply): continuation.resume(returning: reply)
        case .waiting, .left, nil: continuation.resume(returning: nil)
        }
    }

    /// Notes that the caller no longer waits.
    private func leave(_ number: UInt64) {
        let waiter: CheckedContinuation<BroadcastReply?, Never>? = self.state.withLock { state in
            switch state.calls[number]?.side {
            case .asked: state.calls[number]?.side = .left
            case .waiting(let continuation):
                state.calls[number]?.side = .left
                return continuation
            // The answer is there: it is what the caller gets.
            case .answered, .left, nil: break
            }
            return nil
        }
        waiter?.resume(returning: nil)
    }

    /// Answers a request.
    func answer(_ number: UInt64, _ reply: BroadcastReply) {
        let waiter = self.state.withLock { Self.settle(number, reply, in: &$0) }
        waiter?.resume(returning: reply)
    }

    private static func settle(
        _ number: UInt64,
        _ reply: BroadcastReply,
        in state: inout State
    ) -> CheckedContinuation<BroadcastReply?, Never>? {
        guard let call = state.calls[number], call.isOpen else { return nil }
        state.open -= 1
        state.bytes -= call.bytes
        switch call.side {
        case .asked, .answered:
            state.calls[number]?.side = .answered(reply)
            state.calls[number]?.isOpen = false
            return nil
        case .waiting(let continuation):
            state.calls[number] = nil
            return continuation
        case .left:
            state.calls[number] = nil
            return nil
        }
    }

    /// Refuses all requests from now on: those that still wait and those that come later.
    ///
    /// - Parameter now: the gateway's clock.
    func close(at now: Timestamp) {
        let waiters = self.state.withLock { state in
            state.isClosed = true
            return state.calls.filter(\.value.isOpen)
                .map { number, call in
                    let reply = BroadcastReply(
                        requestID: call.requestID,
                        gatewayTime: now,
                        body: .refused(.stopped)
                    )
                    return (waiter: Self.settle(number, reply, in: &state), reply: reply)
                }
        }
        for each in waiters { each.waiter?.resume(returning: each.reply) }
    }
}

extension Refusal {
    /// The gateway has stopped before it knew the result of a request.
    fileprivate static let stopped = Refusal(
        .draining,
        "The gateway stopped before it knew the result of this request; send it again, a repeat does no harm.",
        retryAfter: .seconds(1)
    )
}
