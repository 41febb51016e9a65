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

/// A web server on loopback that answers each path as a test says, well or badly.
final class LoopbackServer: Sendable {
    /// One connection whose request was read.
    struct Connection {
        let socket: Int32
        let request: String

        /// The query items as they came.
        var path: String { self.request.split(separator: " ").dropFirst().first.map(String.init) ?? "" }

        /// Sends the bytes; `false` where the other side is gone.
        @discardableResult
        func send(_ bytes: [UInt8]) -> Bool {
            var rest = bytes[...]
            while !rest.isEmpty {
                // The pointer is used within the call only.
                let count = unsafe rest.withUnsafeBytes { unsafe write(self.socket, $0.baseAddress, $0.count) }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }

        func answer(_ status: String, _ headers: [String] = [], _ body: [UInt8] = []) {
            let head = ["HTTP/1.1 \(status)", "Connection: close"] + headers
            self.send(Array((head.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body)
        }

        func answer(type: String, _ body: [UInt8]) {
            self.answer("200 OK", ["Content-Type: \(type)", "Content-Length: \(body.count)"], body)
        }

        /// Returns when the other side closed.
        func waitForClose() {
            var byte: UInt8 = 0
            // The pointer is used within the call only.
            while unsafe read(self.socket, &byte, 1) > 0 {}
        }
    }

    typealias Handler = @Sendable (Connection) -> Void

    private let listener: Int32
    private let port: UInt16
    private let handlers: Mutex<[String: Handler]>
    private let paths = Mutex<[String]>([])

    /// What was asked for, in order.
    var requestedPaths: [String] { self.paths.withLock { $0 } }

    init(_ handlers: [String: Handler]) throws {
        signal(SIGPIPE, SIG_IGN)
        #if canImport(Glibc)
        self.listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        self.listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // The address lives as long as each call; a sockaddr_in may be seen as a sockaddr.
        let result = unsafe withUnsafeMutablePointer(to: &address) { [listener] pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { general in
                unsafe bind(listener, general, length) == 0 && listen(listener, 16) == 0
                    && getsockname(listener, general, &length) == 0
            }
        }
        guard result else { throw POSIXError(.EADDRNOTAVAIL) }
        self.port = UInt16(bigEndian: address.sin_port)
        self.handlers = Mutex(handlers)
        Thread.detachNewThread { [listener = self.listener, weak self] in
            while true {
                let socket = accept(listener, nil, nil)
                // The listener was shut down. It is closed here, because a number that is closed belongs to others at once.
                guard socket >= 0 else {
                    close(listener)
                    return
                }
                guard let self else {
                    close(socket)
                    return
                }
                Thread.detachNewThread { self.serve(socket) }
            }
        }
    }

    deinit {
        shutdown(self.listener, Int32(SHUT_RDWR))
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(self.port)\(path)" }

    private func serve(_ socket: Int32) {
        defer { close(socket) }
        var request: [UInt8] = []
        var byte: UInt8 = 0
        // The pointer is used within the call only.
        while !request.suffix(4).elementsEqual([13, 10, 13, 10]), unsafe read(socket, &byte, 1) == 1 {
            request.append(byte)
        }
        let connection = Connection(socket: socket, request: String(decoding: request, as: UTF8.self))
        self.paths.withLock { $0.append(connection.path) }
        let path = connection.path.split(separator: "?").first.map(String.init) ?? ""
        guard let handler = self.handlers.withLock({ $0[path] }) else { return connection.answer("404 Not Found") }
        handler(connection)
    }
}
