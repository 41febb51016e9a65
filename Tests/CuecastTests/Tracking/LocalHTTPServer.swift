// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A small HTTP server on plain sockets, on a port of 127.0.0.1 that the system chooses.
///
/// It has one thread for each connection.
final class LocalHTTPServer: Sendable {
    enum Reply: Sendable {
        /// These bytes, then the connection is closed.
        case bytes(String)
        /// Nothing, until the server is stopped.
        case silence
        /// The connection is closed without an answer.
        case close
    }

    private struct State {
        var heads: [String] = []
        var connections: [Int32] = []
    }

    let port: UInt16
    private let listener: Int32
    private let state = Mutex(State())
    private let reply: @Sendable (_ path: String) -> Reply

    /// The heads of the requests so far, oldest first.
    var heads: [String] { self.state.withLock { $0.heads } }

    init(readsOnlyTheFirstLine: Bool = false, reply: @escaping @Sendable (_ path: String) -> Reply) throws {
        (self.listener, self.port) = try Self.listen()
        self.reply = reply
        let listener = self.listener
        Thread.detachNewThread { [weak self] in
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                guard let self else {
                    close(connection)
                    return
                }
                self.state.withLock { $0.connections.append(connection) }
                Thread.detachNewThread { self.serve(connection, readsOnlyTheFirstLine) }
            }
        }
    }

    func url(_ path: String, host: String = "127.0.0.1") -> String { "http://\(host):\(self.port)\(path)" }

    /// Closes every connection and the port.
    func stop() {
        // Not closed here: the number could be given to another file while a thread still reads from it.
        shutdown(self.listener, Int32(SHUT_RDWR))
        for connection in self.state.withLock({ $0.connections }) { shutdown(connection, Int32(SHUT_RDWR)) }
    }

    deinit { close(self.listener) }

    private func serve(_ connection: Int32, _ readsOnlyTheFirstLine: Bool) {
        defer {
            self.state.withLock { $0.connections.removeAll { $0 == connection } }
            close(connection)
        }
        var head = ""
        let end = readsOnlyTheFirstLine ? "\r\n" : "\r\n\r\n"
        while !head.contains(end) {
            guard let byte = Self.read(connection) else { return }
            head.unicodeScalars.append(Unicode.Scalar(byte))
        }
        self.state.withLock { $0.heads.append(head) }
        switch self.reply(head.split(separator: " ").dropFirst().first.map(String.init) ?? "") {
        case .bytes(let text): Self.write(connection, Array(text.utf8))
        case .silence: while Self.read(connection) != nil {}
        case .close: break
        }
    }

    private static func read(_ connection: Int32) -> UInt8? {
        var byte: UInt8 = 0
        return unsafe recv(connection, &byte, 1, 0) == 1 ? byte : nil
    }

    private static func write(_ connection: Int32, _ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            #if canImport(Glibc)
            let flags = Int32(MSG_NOSIGNAL)
            #else
            let flags: Int32 = 0
            #endif
            let count = unsafe rest.withUnsafeBytes {
                unsafe Foundation.send(connection, $0.baseAddress, $0.count, flags)
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
        // Lets the peer read to the end before the connection is gone.
        shutdown(connection, Int32(SHUT_WR))
    }

    /// A listening socket on 127.0.0.1, and its port.
    static func listen() throws -> (Int32, UInt16) {
        #if canImport(Glibc)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        let listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let status = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe bind(listener, address, size) == 0 && Foundation.listen(listener, 64) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        guard status else { throw POSIXError(.EADDRNOTAVAIL) }
        return (listener, UInt16(bigEndian: address.sin_port))
    }
}
