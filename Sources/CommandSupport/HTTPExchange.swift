// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Dispatch
package import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One GET over HTTP that is given up in time, whatever the server does.
///
/// Time-outs of `URLSession` count from the last byte, and a server that trickles is waited for without end; these are
/// counted here.
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

    /// Asks, and waits on the calling thread.
    package static func get(_ url: URL, limits: Limits = Limits()) throws(Failure) -> Answer {
        let listener = Listener(answerBytesMax: limits.answerBytesMax)
        let session = URLSession(configuration: .ephemeral, delegate: listener, delegateQueue: nil)
        defer { session.invalidateAndCancel() }
        let task = session.dataTask(with: url)
        let began = ContinuousClock.now
        task.resume()
        while true {
            let (result, heard) = listener.progress
            if let result { return try result.get() }
            let now = ContinuousClock.now
            guard now < began + limits.exchangeMax else { throw .tooSlow(limits.exchangeMax) }
            let silence = (heard ?? began) + limits.silenceMax
            guard now < silence else { throw .silent(limits.silenceMax) }
            listener.wait(for: min(silence, began + limits.exchangeMax) - now)
        }
    }

    /// Gathers what the server says.
    private final class Listener: NSObject, URLSessionDataDelegate, Sendable {
        private struct State {
            var body = Data()
            var status = 0
            var heard: ContinuousClock.Instant?
            var result: Result<Answer, Failure>?
        }

        private let answerBytesMax: Int
        private let state = Mutex(State())
        private let changed = DispatchSemaphore(value: 0)

        init(answerBytesMax: Int) {
            self.answerBytesMax = answerBytesMax
        }

        /// What came of it, if it is over, and when the server was heard last.
        var progress: (result: Result<Answer, Failure>?, heard: ContinuousClock.Instant?) {
            self.state.withLock { ($0.result, $0.heard) }
        }

        /// Returns when it is over, or after a time.
        func wait(for duration: Duration) {
            let nanoseconds =
                duration.components.seconds * 1_000_000_000 + duration.components.attoseconds / 1_000_000_000
            _ = self.changed.wait(timeout: .now() + .nanoseconds(Int(clamping: max(1, nanoseconds))))
        }

        private func finish(_ result: Result<Answer, Failure>) {
            self.state.withLock { if $0.result == nil { $0.result = result } }
            self.changed.signal()
        }

        func urlSession(
            _ session: URLSession,
            dataTask: URLSessionDataTask,
            didReceive response: URLResponse,
            completionHandler: @escaping (URLSession.ResponseDisposition) -> Void
        ) {
            self.state.withLock {
                $0.status = (response as? HTTPURLResponse)?.statusCode ?? 0
                $0.heard = .now
            }
            completionHandler(.allow)
        }

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            let isTooLarge = self.state.withLock { state in
                guard state.body.count + data.count <= self.answerBytesMax else { return true }
                state.body += data
                state.heard = .now
                return false
            }
            if isTooLarge { self.finish(.failure(.tooLarge(bytes: self.answerBytesMax))) }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            if let error {
                self.finish(.failure(.unreachable(error.localizedDescription)))
            } else {
                let (status, body) = self.state.withLock { ($0.status, $0.body) }
                self.finish(.success(Answer(status: status, body: body)))
            }
        }

        /// Nobody is asked whom the address does not name.
        func urlSession(
            _ session: URLSession,
            task: URLSessionTask,
            willPerformHTTPRedirection response: HTTPURLResponse,
            newRequest request: URLRequest,
            completionHandler: @escaping (URLRequest?) -> Void
        ) {
            completionHandler(nil)
        }
    }
}
