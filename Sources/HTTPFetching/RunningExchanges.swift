// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Collects what the session says about each task, and ends the tasks that break their bounds.
final class RunningExchanges: NSObject, URLSessionDataDelegate {
    private struct Running {
        let request: HTTPFetcher.Request
        var exchange = HTTPFetcher.Exchange()
        var heard = ContinuousClock.now
        /// Whether it was ended before its caller waited for it.
        var isOver = false
        /// Whether a redirect waits for our word.
        var isRedirecting = false
        var continuation: CheckedContinuation<HTTPFetcher.Exchange, Never>?

        /// When it is over at the latest, if the server says nothing until then.
        var due: ContinuousClock.Instant {
            min(self.request.deadline, self.request.silenceMax.map { self.heard + $0 } ?? self.request.deadline)
        }
    }

    private let running = Mutex<[Int: Running]>([:])

    /// From here on `run` returns, whatever ends the task, and whenever.
    func begin(_ task: URLSessionDataTask, _ request: HTTPFetcher.Request) {
        self.running.withLock { $0[task.taskIdentifier] = Running(request: request) }
    }

    /// Runs a task until it is over.
    func run(_ task: URLSessionDataTask) async -> HTTPFetcher.Exchange {
        await withCheckedContinuation { continuation in
            let over = self.running.withLock { running -> HTTPFetcher.Exchange? in
                guard running[task.taskIdentifier]?.isOver == true else {
                    running[task.taskIdentifier]?.continuation = continuation
                    return nil
                }
                return running.removeValue(forKey: task.taskIdentifier)?.exchange
            }
            if let over { continuation.resume(returning: over) } else { task.resume() }
        }
    }

    /// When a task is to be looked at again; `nil`: it is over.
    func due(_ task: URLSessionDataTask) -> ContinuousClock.Instant? {
        self.running.withLock { running in
            running[task.taskIdentifier].flatMap { $0.isOver ? nil : $0.due }
        }
    }

    /// Ends a task whose time is over.
    func endWhereDue(_ task: URLSessionDataTask, at now: ContinuousClock.Instant) {
        let end = self.running.withLock { running -> HTTPFetcher.Exchange.End? in
            guard let each = running[task.taskIdentifier], each.due <= now else { return nil }
            return each.request.deadline <= now ? .tooSlow : .silent
        }
        if let end { self.end(task, end) }
    }

    /// Ends a task that breaks a bound, or that its caller has cancelled.
    ///
    /// It is over at once: what the session says of it afterwards does not count, and need not come.
    func end(_ task: URLSessionTask, _ end: HTTPFetcher.Exchange.End) {
        let isRedirecting = self.finish(task) { $0.end = end }
        // On Linux a task that is cancelled while a redirect waits for our word traps when the word comes: then the code that gives
        // it cancels the task afterwards.
        if !isRedirecting { task.cancel() }
    }

    /// Ends a task for its waiter; the first end counts.
    ///
    /// - Returns: whether a redirect waits for our word.
    @discardableResult
    private func finish(_ task: URLSessionTask, _ change: (inout sending HTTPFetcher.Exchange) -> Void) -> Bool {
        let id = task.taskIdentifier
        let (waiting, isRedirecting) = self.running.withLock {
            running -> ((CheckedContinuation<HTTPFetcher.Exchange, Never>, HTTPFetcher.Exchange)?, Bool) in
            guard var each = running[id], !each.isOver else { return (nil, false) }
            change(&each.exchange)
            each.isOver = true
            running[id] = each.continuation == nil ? each : nil
            return (each.continuation.map { ($0, each.exchange) }, each.isRedirecting)
        }
        if let (continuation, exchange) = waiting { continuation.resume(returning: exchange) }
        return isRedirecting
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        let id = task.taskIdentifier
        let isWanted = self.running.withLock { running in
            guard running[id]?.isOver == false else { return false }
            running[id]?.exchange.head = HTTPFetcher.Head(response)
            running[id]?.exchange.location = request.url
            running[id]?.heard = .now
            running[id]?.isRedirecting = true
            return true
        }
        // A finished exchange is not answered any more: on Linux the answer would trap.
        guard isWanted else { return }
        completionHandler(nil)
        let isOver = self.running.withLock { running in
            running[id]?.isRedirecting = false
            return running[id]?.isOver ?? true
        }
        if isOver { task.cancel() }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        let head = (response as? HTTPURLResponse).map { HTTPFetcher.Head($0) }
        let wantsBody = self.running.withLock { running in
            running[dataTask.taskIdentifier]?.exchange.head = head
            running[dataTask.taskIdentifier]?.heard = .now
            return running[dataTask.taskIdentifier]?.request.wantsBody
        }
        guard let head, let wantsBody, !wantsBody(head) else {
            completionHandler(.allow)
            return
        }
        self.finish(dataTask) { $0.end = .bodyRefused }
        completionHandler(.cancel)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let id = dataTask.taskIdentifier
        let isTooLarge = self.running.withLock { running in
            guard let each = running[id], !each.isOver else { return false }
            guard each.exchange.body.count + data.count <= each.request.bodyBytesMax else { return true }
            running[id]?.exchange.body += data
            running[id]?.heard = .now
            return false
        }
        if isTooLarge { self.end(dataTask, .bodyTooLarge) }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        // A redirect that leads nowhere ends without its head having been shown to us.
        let head = (task.response as? HTTPURLResponse).map { HTTPFetcher.Head($0) }
        self.finish(task) { exchange in
            if let error { exchange.end = .failed(error) }
            exchange.head = exchange.head ?? head
        }
    }
}
