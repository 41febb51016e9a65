// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Dispatch
package import Foundation
import HTTPFetching
import Synchronization

/// One GET over HTTP that is given up in time, whatever the server does.
package enum HTTPExchange {
    /// How long, and for how much, a server is listened to.
    package struct Limits: Hashable, Sendable {
        /// How long it may say nothing.
        package var silenceMax: Duration = .seconds(10)
        /// How long it may take in all; the gateway itself ends an exchange after as long.
        package var exchangeMax: Duration = .seconds(30)
        /// The longest answer, in bytes.
        package var answerBytesMax = 64 * 1_048_576

        package init() {}
    }

    /// What a server answered.
    package struct Answer: Hashable, Sendable {
        package let status: Int
        package let body: Data
    }

    /// Why there is no answer: the end of a sentence.
    package enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        case silent(Duration)
        case tooSlow(Duration)
        case tooLarge(bytes: Int)
        case unreachable(String)

        package var description: String {
            switch self {
            case .silent(let duration): "it has said nothing for \(duration.components.seconds) s"
            case .tooSlow(let duration): "its answer is not there after \(duration.components.seconds) s"
            case .tooLarge(let bytes): "its answer has more than \(bytes) bytes"
            case .unreachable(let reason): reason
            }
        }
    }

    /// Asks once.
    ///
    /// Nobody is asked whom the address does not name: a redirect is the answer.
    package static func get(
        _ url: URL,
        headers: [String: String] = [:],
        limits: Limits = Limits()
    ) async throws(Failure) -> Answer {
        var request = HTTPFetcher.Request(
            url,
            bodyBytesMax: limits.answerBytesMax,
            deadline: .now + limits.exchangeMax
        )
        request.silenceMax = limits.silenceMax
        request.headers = headers
        let exchange = await HTTPFetcher().get(request)
        switch exchange.end {
        case .complete, .bodyRefused:
            guard let head = exchange.head else { throw .unreachable("it closed the connection without an answer") }
            return Answer(status: head.status, body: Data(exchange.body))
        case .bodyTooLarge: throw .tooLarge(bytes: limits.answerBytesMax)
        case .tooSlow: throw .tooSlow(limits.exchangeMax)
        case .silent: throw .silent(limits.silenceMax)
        case .cancelled: throw .unreachable(CancellationError().localizedDescription)
        case .failed(let error): throw .unreachable(error.localizedDescription)
        }
    }

    /// Asks once, and waits on the calling thread: for a program that is not asynchronous, because it takes signals on its
    /// main thread and must have no other thread until then.
    ///
    /// Never to be called from an asynchronous function, whose thread the answer may need.
    @available(*, noasync)
    package static func wait(
        for url: URL,
        headers: [String: String] = [:],
        limits: Limits = Limits()
    ) throws(Failure) -> Answer {
        let waiter = Waiter()
        Task.detached(name: "Exchange over HTTP") {
            let result: Result<Answer, Failure>
            do throws(Failure) {
                result = .success(try await Self.get(url, headers: headers, limits: limits))
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
