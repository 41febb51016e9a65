// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A small HTTP server on a port of 127.0.0.1 that the system chooses: it answers as a test says, well or badly.
///
/// It has one thread for each connection, and one request on each.
package final class LoopbackServer: Sendable {
    /// One connection whose request was read.
    package struct Connection {
        fileprivate let socket: Int32
        /// The request's head.
        package let request: String

        /// The path with its query, as it came.
        package var path: String { self.request.split(separator: " ").dropFirst().first.map(String.init) ?? "" }

        /// Sends the bytes; `false` where the other side is gone.
        @discardableResult
        package func send(_ bytes: [UInt8]) -> Bool {
            #if canImport(Darwin)
            let flags: Int32 = 0
            #else
            let flags = Int32(MSG_NOSIGNAL)
            #endif
            var rest = bytes[...]
            while !rest.isEmpty {
                // The pointer is used within the call only.
                let count = unsafe rest.withUnsafeBytes {
                    unsafe Foundation.send(self.socket, $0.baseAddress, $0.count, flags)
                }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }

        package func answer(_ status: String, _ headers: [String] = [], _ body: [UInt8] = []) {
            let head = ["HTTP/1.1 \(status)", "Connection: close"] + headers
            self.send(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body)
        }

        package func answer(type: String, _ body: [UInt8]) {
            self.answer("200 OK", ["Content-Type: \(type)", "Content-Length: \(body.count)"], body)
        }

        /// Returns when the other side closed, or the server was stopped.
        package func waitForClose() { while self.read() != nil {} }

        fileprivate func read() -> UInt8? {
            var byte: UInt8 = 0
            // The pointer is used within the call only.
            return unsafe recv(self.socket, &byte, 1, 0) == 1 ? byte : nil
        }
    }

    /// The reply to a request.
    package enum Reply: Sendable {
        /// These bytes, then the connection is closed.
        case bytes(String)
        /// Nothing, until the server is stopped or the other side closes.
        case silence
        /// The connection is closed without an answer.
        case close
    }

    package typealias Handler = @Sendable (Connection) -> Void

    private struct State {
        var heads: [String] = []
        var connections: Set<Int32> = []
        var isStopped = false
    }

    package let port: UInt16
    private let listener: Int32
    private let state = Mutex(State())

    /// A server that handles each request as `handler` does; then the connection is closed.
    ///
    /// - Parameters:
    ///   - readsOnlyTheFirstLine: whether it answers without having read the rest of the head.
    ///   - handler: answers one request, on a thread of its connection.
    /// - Throws: where the system gives no port.
    private init(readsOnlyTheFirstLine: Bool, handler: @escaping Handler) throws {
        (self.listener, self.port) = try Self.listen()
        #if canImport(Darwin)
        signal(SIGPIPE, SIG_IGN)
        #endif
        let end = Array((readsOnlyTheFirstLine ? "\r\n" : "\r\n\r\n").utf8)
        Thread.detachNewThread { [listener = self.listener, weak self] in
            while true {
                let socket = accept(listener, nil, nil)
                // The listener was shut down. It is closed here, because a number that is closed belongs to others at once.
                guard socket >= 0 else {
                    close(listener)
                    return
                }
                guard let self, self.takes(socket) else {
                    close(socket)
                    continue
                }
                Thread.detachNewThread { self.serve(socket, until: end, handler) }
            }
        }
    }

    /// A server that knows these paths; others are not found.
    package convenience init(_ handlers: [String: Handler]) throws {
        try self.init(readsOnlyTheFirstLine: false) { connection in
            let path = connection.path.split(separator: "?").first.map(String.init) ?? ""
            guard let handler = handlers[path] else { return connection.answer("404 Not Found") }
            handler(connection)
        }
    }

    /// A server that replies by the path.
    package convenience init(
        readsOnlyTheFirstLine: Bool = false,
        reply: @escaping @Sendable (_ path: String) -> Reply
    ) throws {
        try self.init(readsOnlyTheFirstLine: readsOnlyTheFirstLine) { connection in
            switch reply(connection.path) {
            case .bytes(let text): connection.send(Array(text.utf8))
            case .silence: connection.waitForClose()
            case .close: break
            }
        }
    }

    deinit { self.stop() }

    /// The heads of the requests so far, oldest first.
    package var heads: [String] { self.state.withLock { $0.heads } }

    /// The requested paths, in order.
    package var requestedPaths: [String] { self.heads.map { Connection(socket: -1, request: $0).path } }

    package func url(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(self.port)\(path)" }

    /// Ends every connection, and closes the port.
    package func stop() {
        self.state.withLock { state in
            guard !state.isStopped else { return }
            state.isStopped = true
            shutdown(self.listener, Int32(SHUT_RDWR))
            // Closed by their threads: a number that is closed belongs to others at once.
            for socket in state.connections { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    private func takes(_ socket: Int32) -> Bool {
        self.state.withLock { state in
            if !state.isStopped { state.connections.insert(socket) }
            return !state.isStopped
        }
    }

    private func serve(_ socket: Int32, until end: [UInt8], _ handler: Handler) {
        defer {
            self.state.withLock { state in
                state.connections.remove(socket)
                close(socket)
            }
        }
        var head: [UInt8] = []
        while !head.suffix(end.count).elementsEqual(end) {
            guard let byte = Connection(socket: socket, request: "").read() else { return }
            head.append(byte)
        }
        let connection = Connection(socket: socket, request: String(decoding: head, as: UTF8.self))
        self.state.withLock { $0.heads.append(connection.request) }
        handler(connection)
        // Lets the other side read to the end before the connection is gone.
        shutdown(socket, Int32(SHUT_WR))
    }

    /// A listening socket on 127.0.0.1, and its port.
    private static func listen() throws -> (Int32, UInt16) {
        #if canImport(Glibc)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // The address lives as long as each call; a sockaddr_in may be seen as a sockaddr.
        let isListening = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, size) == 0 && Foundation.listen(listener, 64) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
        return (listener, UInt16(bigEndian: address.sin_port))
    }
}
