// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Dispatch
package import Foundation
import NIOCore
import NIOPosix
import Synchronization

/// One GET over HTTP that is given up in time, whatever the server does.
package enum HTTPExchange {
    /// How long, and for how much, a server is listened to.
    package struct Limits: Hashable, Sendable {
        /// How long it may say nothing.
        package var silenceMax: Duration = .seconds(10)
        /// How long it may take in all; the gateway itself ends an exchange after as long.
        ///
        /// `nil`: as long as it says something.
        package var exchangeMax: Duration? = .seconds(30)
        /// The longest answer, in bytes; where events are read, the longest event.
        package var answerBytesMax = 64 * 1_048_576

        package init() {}
    }

    /// The answer of a server.
    package struct Answer: Hashable, Sendable {
        package let status: Int
        package let body: Data
    }

    /// Why there is no answer: the end of a sentence.
    package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        case silent(Duration)
        case tooSlow(Duration)
        case tooLarge(bytes: Int)
        /// It speaks TLS, and was asked in plain.
        case encrypted
        /// It was asked by TLS, and does not speak it.
        case plain
        /// It does not prove that it is the gateway.
        case notTrusted(String)
        case unreachable(String)

        package var description: String {
            switch self {
            case .silent(let duration): "it has said nothing for \(duration.components.seconds) s"
            case .tooSlow(let duration): "its answer is not there after \(duration.components.seconds) s"
            case .tooLarge(let bytes): "its answer has more than \(bytes) bytes"
            case .encrypted: "it speaks TLS; its address begins with https://"
            case .plain: "it does not speak TLS; its address begins with http://"
            case .notTrusted(let reason): "it is not trusted: \(reason)"
            case .unreachable(let reason): reason
            }
        }
    }

    /// The thread of all exchanges, from the first one on: other work cannot delay them.
    ///
    /// It lasts as long as the process, because the lookup of a name may end after its caller has given up.
    private static let loops = MultiThreadedEventLoopGroup(numberOfThreads: 1)

    /// Sends one request.
    ///
    /// It follows no redirects and uses no proxies: only the host of the address is asked.
    ///
    /// - Parameters:
    ///   - target: path and query, from the slash on.
    ///   - endpoint: where, and how.
    ///   - headers: further headers.
    ///   - limits: the longest time and the largest answer.
    /// - Returns: the whole answer.
    /// - Throws: the reason if there is no answer.
    package static func get(
        _ target: String,
        at endpoint: HTTPEndpoint,
        headers: [String: String] = [:],
        limits: Limits = Limits()
    ) async throws(Failure) -> Answer {
        let exchange = RunningExchange(target, at: endpoint, headers: headers, limits: limits, on: Self.loops.next())
        let result = await withTaskCancellationHandler {
            await exchange.result()
        } onCancel: {
            exchange.end(.failure(.unreachable("the request was cancelled")))
        }
        return try result.get()
    }

    /// Reads server-sent events until they end or `receive` wants no more.
    ///
    /// - Parameters:
    ///   - target: path and query, from the slash on.
    ///   - endpoint: where, and how.
    ///   - headers: further headers.
    ///   - limits: the longest silence and the largest event; `exchangeMax` has no effect.
    ///   - receive: gets each event, on the thread of all exchanges, and returns whether it wants more.
    /// - Returns: the answer: without a body if it had events, else with its body.
    /// - Throws: the reason if the answer ended too early.
    package static func readEvents(
        _ target: String,
        at endpoint: HTTPEndpoint,
        headers: [String: String] = [:],
        limits: Limits = Limits(),
        _ receive: @escaping @Sendable (ServerEvent) -> Bool
    ) async throws(Failure) -> Answer {
        var limits = limits
        limits.exchangeMax = nil
        let exchange = RunningExchange(
            target,
            at: endpoint,
            headers: headers.merging(["Accept": "text/event-stream"]) { own, _ in own },
            limits: limits,
            on: Self.loops.next(),
            receive: receive
        )
        let result = await withTaskCancellationHandler {
            await exchange.result()
        } onCancel: {
            exchange.end(.failure(.unreachable("the request was cancelled")))
        }
        return try result.get()
    }

    /// Asks once, and waits on the calling thread: for a program that is not asynchronous, because it takes signals on its
    /// main thread and must have no other thread until then.
    ///
    /// Never to be called from an asynchronous function, whose thread the answer may need.
    ///
    /// - Parameters:
    ///   - target: path and query, from the slash on.
    ///   - endpoint: where, and how.
    ///   - headers: further headers.
    ///   - limits: how long, and for how much.
    /// - Returns: the answer, whole.
    /// - Throws: why there is none.
    @available(*, noasync)
    package static func wait(
        for target: String,
        at endpoint: HTTPEndpoint,
        headers: [String: String] = [:],
        limits: Limits = Limits()
    ) throws(Failure) -> Answer {
        let waiter = Waiter()
        Task.detached(name: "Exchange over HTTP") {
            let result: Result<Answer, Failure>
            do throws(Failure) {
                result = .success(try await Self.get(target, at: endpoint, headers: headers, limits: limits))
            } catch {
                result = .failure(error)
            }
            waiter.end(result)
        }
        return try waiter.result().get()
    }

    /// Holds up a thread until there is a result.
    private final class Waiter: Sendable {
        private let found = Mutex<Result<Answer, Failure>>(.failure(.unreachable("there is no answer yet")))
        private let isOver = DispatchSemaphore(value: 0)

        func end(_ result: Result<Answer, Failure>) {
            self.found.withLock { $0 = result }
            self.isOver.signal()
        }

        func result() -> Result<Answer, Failure> {
            self.isOver.wait()
            return self.found.withLock { $0 }
        }
    }
}
