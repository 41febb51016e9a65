// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CSystemSupport
internal import Glibc

/// The calls that a server makes beside those that every event loop makes.
extension System {
    /// How a connection is watched for a peer that vanished without a word.
    private static let keepAlive: [(option: Int32, value: Int32)] = [
        (Int32(TCP_KEEPIDLE), 60), (Int32(TCP_KEEPINTVL), 15), (Int32(TCP_KEEPCNT), 4),
    ]

    /// Listens on an address.
    ///
    /// - Parameters:
    ///   - host: a numeric address, a name, the name of a network interface, or `*` for all addresses of the machine.
    ///   - port: the port; 0: the system chooses.
    ///   - backlog: how many connections may wait to be accepted.
    /// - Returns: the descriptor, which does not block.
    /// - Throws: for instance where the address is in use.
    package static func listen(host: String, port: UInt16, backlog: Int32) throws(SystemCallError) -> Int32 {
        var hints = unsafe addrinfo()
        unsafe hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
        unsafe hints.ai_family = AF_UNSPEC
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        // All addresses: IPv4, as every other socket of the gateway has it.
        let name = host == "*" ? "0.0.0.0" : host
        // Safety: getaddrinfo answers 0 only with a list, which is read before it is freed.
        let answer = unsafe getaddrinfo(name, "\(port)", &hints, &found)
        guard answer == 0, let first = unsafe found else {
            throw SystemCallError(operation: "getaddrinfo \(host)", code: answer == EAI_SYSTEM ? errno : ENODEV)
        }
        defer { unsafe freeaddrinfo(first) }
        let descriptor = unsafe Glibc.socket(
            first.pointee.ai_family,
            Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue),
            0
        )
        guard descriptor >= 0 else { throw SystemCallError(operation: "socket", code: errno) }
        // A port is free again as soon as its server is gone, whatever its last connections still say to each other.
        Self.set(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
        // Safety: the kernel reads the address, which the list holds, during the call.
        guard unsafe Glibc.bind(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0,
            Glibc.listen(descriptor, backlog) == 0
        else {
            let code = errno
            Self.close(descriptor)
            throw SystemCallError(operation: "bind \(host):\(port)", code: code)
        }
        return descriptor
    }

    /// The port that a socket is bound to; 0 where the system does not tell.
    package static func port(of descriptor: Int32) -> UInt16 {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        // Safety: the kernel writes at most `length` bytes; both families have the port at the same place.
        return unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe getsockname(descriptor, generic, &length) == 0
            }
        } ? UInt16(bigEndian: address.sin6_port) : 0
    }

    /// The other end of a connection; `nil`: the descriptor is no connection, or it has ended.
    package static func peer(of descriptor: Int32) -> ConnectionPeer? {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        // Safety: the kernel writes at most `length` bytes; both families have the port at the same place.
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe getpeername(descriptor, generic, &length)
            }
        }
        guard result == 0, [sa_family_t(AF_INET), sa_family_t(AF_INET6)].contains(address.sin6_family) else {
            return nil
        }
        return ConnectionPeer(address: Self.address(address), port: UInt16(bigEndian: address.sin6_port))
    }

    /// Ends a connection whose descriptor belongs to another library, which then closes it.
    ///
    /// The library may have closed the descriptor meanwhile, and the number may belong to something else: that stays as it is.
    ///
    /// - Parameters:
    ///   - descriptor: of the connection.
    ///   - peer: its other end.
    /// - Returns: whether the connection was there.
    package static func shutDown(_ descriptor: Int32, to peer: ConnectionPeer) -> Bool {
        // The copy keeps the connection in place between the comparison and the call.
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return false }
        defer { Self.close(copy) }
        return Self.peer(of: copy) == peer && Glibc.shutdown(copy, Int32(SHUT_RDWR)) == 0
    }

    /// So many bytes of a connection the kernel keeps that it has not sent; then it says that the connection takes no more.
    ///
    /// Without it, it keeps as many as 4 MiB (`tcp_wmem`) for a peer that never reads: gigabytes for a thousand of them, which no limit of a
    /// server counts. What is on its way is not counted, so a fast connection is as fast (man 7 tcp, Linux `TCP_NOTSENT_LOWAT`).
    package static let unsentBytesMax = 131_072
    /// The option of TCP that says so, for code that opens connections otherwise.
    package static let unsentBytesOption = Int32(TCP_NOTSENT_LOWAT)

    /// Takes a connection that waits.
    ///
    /// - Returns: its descriptor, which does not block, or the negated errno; and the peer's address.
    package static func accept(_ listening: Int32) -> (result: Int32, peer: IPAddress) {
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        // Safety: the kernel writes at most `length` bytes during the call.
        let descriptor = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe accept4(listening, generic, &length, Int32(SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue))
            }
        }
        guard descriptor >= 0 else { return (-errno, IPAddress(ipv4: 0)) }
        Self.setOptions(descriptor)
        return (descriptor, Self.address(address))
    }

    /// Makes another descriptor of a connection that code of another library accepted, with the options that `accept` sets.
    ///
    /// - Returns: the descriptor, which does not block if the other one does not, or the negated errno.
    package static func copyConnection(_ descriptor: Int32) -> Int32 {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { return -errno }
        Self.setOptions(copy)
        return copy
    }

    private static func setOptions(_ connection: Int32) {
        Self.set(connection, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        Self.set(connection, Int32(IPPROTO_TCP), Self.unsentBytesOption, Int32(Self.unsentBytesMax))
        Self.set(connection, SOL_SOCKET, SO_KEEPALIVE, 1)
        for (option, value) in Self.keepAlive { Self.set(connection, Int32(IPPROTO_TCP), option, value) }
    }

    private static func address(_ address: sockaddr_in6) -> IPAddress {
        // Safety: both are plain values of the kernel's; the family says which one it wrote.
        if address.sin6_family == sa_family_t(AF_INET) {
            let number = unsafe withUnsafeBytes(of: address) { unsafe $0.load(fromByteOffset: 4, as: UInt32.self) }
            return IPAddress(ipv4: UInt32(bigEndian: number))
        }
        return Self.address(address.sin6_addr)
    }

    private static func address(_ address: in6_addr) -> IPAddress {
        // Safety: a plain value of sixteen bytes.
        let words = unsafe withUnsafeBytes(of: address) { bytes in
            unsafe (
                UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
        return IPAddress(high: words.0, low: words.1)
    }

    /// An address as people write it; `nil`: it is none.
    static func address(_ text: String) -> IPAddress? {
        var ipv4 = in_addr()
        // Safety: the C library writes one address of the family during the call, where it answers 1.
        if unsafe inet_pton(AF_INET, text, &ipv4) == 1 { return IPAddress(ipv4: UInt32(bigEndian: ipv4.s_addr)) }
        var ipv6 = in6_addr()
        return unsafe inet_pton(AF_INET6, text, &ipv6) == 1 ? Self.address(ipv6) : nil
    }

    /// Should the kernel refuse, the connection works all the same.
    private static func set(_ descriptor: Int32, _ level: Int32, _ option: Int32, _ value: Int32) {
        var value = value
        // Safety: the kernel reads four bytes during the call.
        _ = unsafe setsockopt(descriptor, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Writes as much as the kernel takes of two stretches of bytes, one after the other.
    package static func write(_ descriptor: Int32, _ first: Span<UInt8>, _ second: Span<UInt8>) -> Int {
        guard !first.isEmpty else { return Self.write(descriptor, second) }
        guard !second.isEmpty else { return Self.write(descriptor, first) }
        // Safety: the kernel reads the bytes of both during the call only.
        return unsafe first.withUnsafeBytes { first in
            unsafe second.withUnsafeBytes { second in
                var parts = unsafe (
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: first.baseAddress), iov_len: first.count),
                    iovec(iov_base: UnsafeMutableRawPointer(mutating: second.baseAddress), iov_len: second.count)
                )
                return unsafe withUnsafeMutablePointer(to: &parts) { pointer in
                    unsafe pointer.withMemoryRebound(to: iovec.self, capacity: 2) { vector in
                        var message = unsafe msghdr()
                        unsafe message.msg_iov = unsafe vector
                        unsafe message.msg_iovlen = 2
                        while true {
                            let count = unsafe sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
                            if count >= 0 { return count }
                            if errno != EINTR { return -Int(errno) }
                        }
                    }
                }
            }
        }
    }

    /// Says that nothing more is sent; what was sent still arrives.
    package static func endSending(_ descriptor: Int32) {
        _ = Glibc.shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Whether a call failed because the process, or the machine, has no descriptor left.
    package static func hasNoDescriptor(_ result: Int32) -> Bool {
        result == -EMFILE || result == -ENFILE || result == -ENOBUFS || result == -ENOMEM
    }
}
