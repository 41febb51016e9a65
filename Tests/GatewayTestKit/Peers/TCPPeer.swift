// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
import Glibc
import TestSupport
#else
import Darwin
#endif

/// A bare TCP connection, for bytes that no ZeroMQ socket would send.
package final class TCPPeer: Sendable {
    /// The result of reading from a connection.
    package enum Received: Hashable, Sendable {
        case nothing
        case bytes([UInt8])
        /// The other side has closed the connection.
        case end
    }

    /// The greeting of ZMTP 3.0 with the NULL mechanism, then the READY command of a DEALER socket
    /// (ZMTP 3.0, rfc.zeromq.org/spec/23, sections "greeting" and "The NULL Security Mechanism").
    package static let handshake: [UInt8] =
        [0xFF, 0, 0, 0, 0, 0, 0, 0, 1, 0x7F, 3, 0] + Array("NULL".utf8) + [UInt8](repeating: 0, count: 48)
        + [0x04, 28, 5] + Array("READY".utf8) + [11] + Array("Socket-Type".utf8) + [0, 0, 0, 6] + Array("DEALER".utf8)

    /// The same of a DEALER that claims a routing id.
    package static func handshake(as identity: String) -> [UInt8] {
        let name: [UInt8] = [8] + Array("Identity".utf8) + [0, 0, 0, UInt8(identity.utf8.count)] + Array(identity.utf8)
        var bytes = Self.handshake + name
        // The length of the command.
        bytes[65] += UInt8(name.count)
        return bytes
    }

    private let descriptor: Int32

    /// Connects to an endpoint such as `tcp://127.0.0.1:7400`.
    package init(connectedTo endpoint: String) throws {
        guard let port = endpoint.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw PeerError.unexpected("the endpoint \(endpoint)")
        }
        #if canImport(Glibc)
        self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        self.descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let descriptor = self.descriptor
        // Safety: the kernel reads the address during the call only.
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw PeerError.unexpected("connecting to \(endpoint) failed: \(errno)") }
    }

    deinit {
        _ = close(self.descriptor)
    }

    /// Sends bytes; small ones, that the kernel takes at once.
    package func send(_ bytes: [UInt8]) throws {
        // Safety: the kernel reads the bytes during the call only.
        let sent = unsafe bytes.withUnsafeBytes { buffer in
            #if canImport(Glibc)
            unsafe Glibc.send(self.descriptor, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL))
            #else
            unsafe Darwin.send(self.descriptor, buffer.baseAddress, buffer.count, 0)
            #endif
        }
        guard sent == bytes.count else { throw PeerError.unexpected("sending ended after \(sent) bytes") }
    }

    /// The received bytes, without waiting.
    package func receive() -> Received {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        #if canImport(Glibc)
        let flags = Int32(MSG_DONTWAIT)
        #else
        let flags = MSG_DONTWAIT
        #endif
        // Safety: the kernel writes at most `count` bytes, during the call only.
        let count = unsafe buffer.withUnsafeMutableBytes { target in
            unsafe recv(self.descriptor, target.baseAddress, target.count, flags)
        }
        if count > 0 { return .bytes(Array(buffer.prefix(count))) }
        return count < 0 && (errno == EAGAIN || errno == EINTR) ? .nothing : .end
    }

    /// Waits until the other side has closed the connection.
    package func waitForEnd() async throws {
        try await until("the connection is closed") {
            while true {
                switch self.receive() {
                case .nothing: return false
                case .bytes: continue
                case .end: return true
                }
            }
        }
    }
}
