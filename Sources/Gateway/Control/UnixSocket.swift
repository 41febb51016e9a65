// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A call on a socket file that failed.
package struct UnixSocketError: Error, Hashable, Sendable, CustomStringConvertible {
    let operation: String
    let code: Int32

    package var description: String {
        "\(self.operation): \(unsafe String(cString: strerror(self.code)))"
    }
}

/// A socket of this machine, closed when its last reference goes.
///
/// Holds nothing but the descriptor: the system itself keeps calls of several threads apart.
final class UnixSocket: Sendable {
    /// The result of a read or a write.
    enum Moved: Equatable {
        case bytes(Int)
        case wouldBlock
        /// The other end closed, or is gone.
        case ended
    }

    let descriptor: Int32

    private init(owning descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit { close(self.descriptor) }

    // MARK: - The file

    /// Listens on a socket file of a folder, readable and writable by its owner only; a file that is there already goes.
    ///
    /// Only for the process that holds the folder: the file that is there is a leftover then.
    static func listening(on name: String, in directory: String) throws(UnixSocketError) -> UnixSocket {
        let socket = try Self.make()
        return try Self.withPath(to: name, in: directory) { (path) throws(UnixSocketError) in
            if unsafe unlink(path) != 0, errno != ENOENT { throw Self.failure("unlink") }
            // Set before it is bound, so that the file never is open to others; where a system does not heed that, the mode
            // of the folder stands before it.
            _ = fchmod(socket.descriptor, 0o600)
            try unsafe UnixAddress(path: path)
                .withAddress { (address, length) throws(UnixSocketError) in
                    guard unsafe bind(socket.descriptor, address, length) == 0 else { throw Self.failure("bind") }
                }
            guard unsafe chmod(path, 0o600) == 0 else { throw Self.failure("chmod") }
            guard listen(socket.descriptor, Int32(ControlLimits.connectionsMax)) == 0 else {
                throw Self.failure("listen")
            }
            return socket
        }
    }

    /// Connects to a socket file of a folder.
    static func connected(to name: String, in directory: String) throws(UnixSocketError) -> UnixSocket {
        let socket = try Self.make()
        return try Self.withPath(to: name, in: directory) { (path) throws(UnixSocketError) in
            try unsafe UnixAddress(path: path)
                .withAddress { (address, length) throws(UnixSocketError) in
                    while unsafe connect(socket.descriptor, address, length) != 0 {
                        guard errno == EINTR else { throw Self.failure("connect") }
                    }
                }
            return socket
        }
    }

    /// Takes the file away.
    static func remove(_ name: String, in directory: String) {
        try? Self.withPath(to: name, in: directory) { (path) throws(UnixSocketError) in _ = unsafe unlink(path) }
    }

    /// Lends a path to a file of a folder that is short enough for the address of a socket (108 bytes with its end on
    /// Linux), however long the folder's own path is.
    private static func withPath<Result>(
        to name: String,
        in directory: String,
        _ body: (String) throws(UnixSocketError) -> Result
    ) throws(UnixSocketError) -> Result {
        let path = directory + "/" + name
        if path.utf8.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) { return try body(path) }
        let folder = unsafe open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { throw Self.failure("open") }
        defer { close(folder) }
        return try body("/proc/self/fd/\(folder)/\(name)")
    }

    /// For datagrams to others; bound nowhere.
    static func datagram() throws(UnixSocketError) -> UnixSocket { try Self.make(isDatagram: true) }

    private static func make(isDatagram: Bool = false) throws(UnixSocketError) -> UnixSocket {
        #if canImport(Glibc)
        let form = Int32((isDatagram ? SOCK_DGRAM : SOCK_STREAM).rawValue)
        let kind = form | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        #else
        let kind = isDatagram ? SOCK_DGRAM : SOCK_STREAM
        #endif
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { throw Self.failure("socket") }
        return UnixSocket(owning: descriptor).prepared()
    }

    /// Without waiting, and not for processes that we start; where the call that makes a descriptor cannot say so.
    private func prepared() -> UnixSocket {
        #if !canImport(Glibc)
        _ = fcntl(self.descriptor, F_SETFL, O_NONBLOCK)
        _ = fcntl(self.descriptor, F_SETFD, FD_CLOEXEC)
        var one: Int32 = 1
        _ = unsafe setsockopt(self.descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one, socklen_t(MemoryLayout<Int32>.size))
        #endif
        return self
    }

    // MARK: - Connections

    /// The next connection that waits; `nil`: none.
    ///
    /// - Throws: when there are no descriptors left, for instance.
    func accepted() throws(UnixSocketError) -> UnixSocket? {
        while true {
            let descriptor = accept(self.descriptor, nil, nil)
            if descriptor >= 0 {
                _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
                _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
                return UnixSocket(owning: descriptor).prepared()
            }
            switch errno {
            case EINTR, ECONNABORTED: continue
            case EAGAIN: return nil
            default: throw Self.failure("accept")
            }
        }
    }

    /// Reads what is there, up to a bound.
    func receive(into reader: inout ControlLineReader, bytesMax: Int = 16_384) -> Moved {
        var failure: Int32 = 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: bytesMax) { (buffer, count) in
            let read = unsafe recv(self.descriptor, buffer.baseAddress, bytesMax, 0)
            failure = read < 0 ? errno : 0
            count = max(0, read)
        }
        reader.append(bytes)
        guard failure == 0 else { return failure == EAGAIN || failure == EINTR ? .wouldBlock : .ended }
        return bytes.isEmpty ? .ended : .bytes(bytes.count)
    }

    /// Writes as much as the other end takes at once.
    func send(_ bytes: ArraySlice<UInt8>) -> Moved {
        #if canImport(Glibc)
        let flags = Int32(MSG_NOSIGNAL)
        #else
        let flags: Int32 = 0
        #endif
        let sent = unsafe bytes.withUnsafeBytes { unsafe Self.send(self.descriptor, $0.baseAddress, $0.count, flags) }
        guard sent < 0 else { return .bytes(sent) }
        return errno == EAGAIN || errno == EINTR ? .wouldBlock : .ended
    }

    /// Sends one datagram without waiting.
    ///
    /// - Returns: whether it was taken; `false`: the receiver has no room for it at present.
    /// - Throws: when there is no receiver, for instance.
    func send(_ bytes: [UInt8], to address: UnixAddress) throws(UnixSocketError) -> Bool {
        #if canImport(Glibc)
        let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
        #else
        let flags = MSG_DONTWAIT
        #endif
        var wasTaken = false
        try unsafe address.withAddress { (address, length) throws(UnixSocketError) in
            while true {
                let sent = unsafe bytes.withUnsafeBytes {
                    unsafe sendto(self.descriptor, $0.baseAddress, $0.count, flags, address, length)
                }
                if sent >= 0 {
                    wasTaken = true
                    return
                }
                switch errno {
                case EINTR: continue
                case EAGAIN, ENOBUFS: return
                default: throw Self.failure("sendto")
                }
            }
        }
        return wasTaken
    }

    private static func send(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
        #if canImport(Glibc)
        unsafe Glibc.send(descriptor, bytes, count, flags)
        #else
        unsafe Darwin.send(descriptor, bytes, count, flags)
        #endif
    }

    /// Waits until the socket can be read (or written), or time passes.
    ///
    /// - Returns: whether it can.
    func wait(toWrite: Bool = false, for timeout: Duration) -> Bool {
        var asked = pollfd(fd: self.descriptor, events: Int16(toWrite ? POLLOUT : POLLIN), revents: 0)
        let end = ContinuousClock.now + timeout
        while true {
            let left = max(.zero, end - .now)
            let found = unsafe poll(&asked, 1, left.pollMilliseconds)
            if found > 0 { return true }
            if found == 0, ContinuousClock.now >= end { return false }
            if found < 0, errno != EINTR { return true }  // The call that follows says what is wrong.
        }
    }

    private static func failure(_ operation: String) -> UnixSocketError {
        UnixSocketError(operation: operation, code: errno)
    }
}

/// Where a socket of this machine is: at a path, or under an abstract name of Linux (`man 7 unix`).
struct UnixAddress: Hashable, Sendable {
    /// As the kernel takes it: with a zero byte before an abstract name.
    private let bytes: [UInt8]
    private let isAbstract: Bool

    /// - Throws: where the path is longer than an address of the system.
    init(path: String) throws(UnixSocketError) {
        try self.init(Array(path.utf8), isAbstract: false)
    }

    /// Reads the value of `NOTIFY_SOCKET`: an absolute path, or `@` and an abstract name.
    ///
    /// - Throws: for anything else, and for what is too long.
    init(notifySocket text: String) throws(UnixSocketError) {
        let bytes = Array(text.utf8)
        switch bytes.first {
        case UInt8(ascii: "/"): try self.init(bytes, isAbstract: false)
        case UInt8(ascii: "@") where bytes.count > 1: try self.init([0] + bytes.dropFirst(), isAbstract: true)
        default: throw UnixSocketError(operation: "NOTIFY_SOCKET", code: EAFNOSUPPORT)
        }
    }

    private init(_ bytes: [UInt8], isAbstract: Bool) throws(UnixSocketError) {
        // A path has its end in the address, an abstract name its length.
        guard bytes.count < MemoryLayout.size(ofValue: sockaddr_un().sun_path) else {
            throw UnixSocketError(operation: "the path of the socket", code: ENAMETOOLONG)
        }
        self.bytes = bytes
        self.isAbstract = isAbstract
    }

    /// Lends the address to a call of the system.
    ///
    /// Safety: the pointer is good during the call of `body` only.
    @unsafe
    func withAddress(
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws(UnixSocketError) -> Void
    ) throws(UnixSocketError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: self.bytes) }
        let whole = MemoryLayout<sockaddr_un>.size
        let head = whole - MemoryLayout.size(ofValue: address.sun_path)
        let length = socklen_t(self.isAbstract ? head + self.bytes.count : whole)
        var failure: UnixSocketError?
        unsafe withUnsafePointer(to: &address) { (pointer) in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { (pointer) in
                do throws(UnixSocketError) {
                    try unsafe body(pointer, length)
                } catch {
                    failure = error
                }
            }
        }
        if let failure { throw failure }
    }
}

extension Duration {
    /// As `poll` takes it: never less than there is to wait.
    var pollMilliseconds: Int32 {
        let (seconds, attoseconds) = self.components
        let milliseconds = seconds.multipliedReportingOverflow(by: 1_000).partialValue
        return Int32(clamping: milliseconds + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
