// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A TCP port of 127.0.0.1 that is reserved as long as this lives, whichever servers listen there meanwhile, and end.
///
/// For servers that come late, or go and return. A port that is asked for, given back and taken again may have got
/// another program by then. This socket is bound and never listens: connections are refused until a server listens there
/// that was told the number and sets `SO_REUSEADDR`, as all of ours do. The kernel never assigns a bound port by itself.
/// (socket(7) and tcp(7) of Linux, `SO_REUSEADDR`)
final class HeldPort: Sendable {
    /// The port's number.
    let number: UInt16
    private let descriptor: Int32

    /// As libzmq writes it.
    var endpoint: String { "tcp://127.0.0.1:\(self.number)" }

    init() throws {
        #if canImport(Glibc)
        self.descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        self.descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        let descriptor = self.descriptor
        var yes: Int32 = 1
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        // Safety: the kernel reads and writes the variables during the calls only.
        let size = socklen_t(MemoryLayout<Int32>.size)
        let isBound =
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, size) == 0
            && withUnsafeMutablePointer(to: &address) { pointer in
                unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                    unsafe bind(descriptor, generic, length) == 0 && getsockname(descriptor, generic, &length) == 0
                }
            }
        self.number = UInt16(bigEndian: address.sin_port)
        guard isBound else { throw HeldPortError(code: errno) }
    }

    deinit { _ = close(self.descriptor) }
}

/// The kernel gave no port.
struct HeldPortError: Error {
    let code: Int32
}
