// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CSystemSupport
internal import Glibc

/// The calls of the operating system that event loops make: with `Poller` the only place with pointers.
///
/// Calls of I/O answer with a count, or with the negated errno.
extension System {
    package static func monotonicNanoseconds() -> UInt64 {
        var time = timespec()
        // Safety: the kernel writes the one value during the call.
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }

    /// User and system time of this process.
    package static func cpuSeconds() -> Double {
        var usage = rusage()
        // Safety: the kernel writes the one value during the call.
        guard unsafe getrusage(RUSAGE_SELF.rawValue, &usage) == 0 else { return 0 }
        let microseconds = usage.ru_utime.tv_usec + usage.ru_stime.tv_usec
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + Double(microseconds) / 1e6
    }

    /// The time slice of a background thread, in nanoseconds.
    ///
    /// By default Linux lets a thread that has begun run for 1.4 ms or more, whatever its niceness.
    private static let backgroundSlice: UInt64 = 200_000

    /// Lowers the priority of the calling thread below the other threads of this process, permanently.
    ///
    /// - Parameter niceness: how much (`man 2 nice`); 0: no change. On Linux it belongs to the thread (man 2 setpriority,
    ///   "C library/kernel differences").
    package static func lowerPriority(by niceness: Int32) {
        guard niceness != 0 else { return }
        _ = nice(niceness)
        cuecast_set_time_slice(Self.backgroundSlice)
    }

    /// The time slice of a thread that answers requests, in nanoseconds: shorter than that of background threads.
    private static let answeringSlice: UInt64 = 100_000

    /// Makes the scheduler prefer the calling thread to other ready threads, permanently.
    ///
    /// Linux runs the thread with the shortest time slice first, and still gives each thread its share (the kernel's
    /// Documentation/scheduler/sched-eevdf.rst). Without this, a background thread would run first because its slice is shorter, and
    /// could run until the next tick of the clock, up to 4 ms later.
    package static func raisePriority() { cuecast_set_time_slice(Self.answeringSlice) }

    /// Lets other threads that are ready use the calling thread's processor first (man 2 sched_yield).
    package static func yieldProcessor() { _ = sched_yield() }

    /// Microseconds since 1970.
    package static func wallClockMicroseconds() -> Int64 {
        var time = timespec()
        // Safety: the kernel writes the one value during the call.
        unsafe clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    /// The first IPv4 address of a host.
    package static func ipv4Address(of host: String) -> UInt32? {
        var hints = unsafe addrinfo()
        unsafe hints.ai_family = AF_INET
        unsafe hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        // Safety: getaddrinfo answers 0 only with a list, which is read before it is freed; AF_INET makes its addresses
        // sockaddr_in.
        guard unsafe getaddrinfo(host, nil, &hints, &found) == 0, let first = unsafe found else { return nil }
        defer { unsafe freeaddrinfo(first) }
        guard let address = unsafe first.pointee.ai_addr else { return nil }
        return unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
            unsafe UInt32(bigEndian: $0.pointee.sin_addr.s_addr)
        }
    }

    // MARK: - Sockets

    /// Begins a connection to an IPv4 address.
    ///
    /// - Returns: the descriptor and whether it is connected already; a negated errno where that failed.
    package static func connect(to address: UInt32, port: UInt16) -> (result: Int32, isConnected: Bool) {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        let descriptor = Glibc.socket(AF_INET, type, 0)
        guard descriptor >= 0 else { return (-errno, false) }
        var on: Int32 = 1
        // Safety: the kernel reads four bytes during the call. Should it refuse, requests are slower, not wrong.
        _ = unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        var target = sockaddr_in()
        target.sin_family = sa_family_t(AF_INET)
        target.sin_port = port.bigEndian
        target.sin_addr.s_addr = address.bigEndian
        // Safety: the kernel reads the address during the call only.
        let result = unsafe withUnsafePointer(to: &target) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                unsafe Glibc.connect(descriptor, generic, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result == 0 { return (descriptor, true) }
        let code = errno
        if code == EINPROGRESS || code == EINTR { return (descriptor, false) }
        _ = Glibc.close(descriptor)
        return (-code, false)
    }

    /// How a connection that was begun came out: 0, or an errno.
    package static func connectResult(_ descriptor: Int32) -> Int32 {
        var code: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        // Safety: the kernel writes four bytes during the call.
        guard unsafe getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &code, &size) == 0 else { return errno }
        return code
    }

    /// Reads what is there into `buffer` from `offset` on, at most `bytesMax`; 0 is the end.
    package static func read(_ descriptor: Int32, into buffer: inout [UInt8], at offset: Int, bytesMax: Int) -> Int {
        // Safety: the kernel writes at most `count` bytes behind `offset`, which are the buffer's.
        unsafe buffer.withUnsafeMutableBytes { bytes in
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])
            while true {
                let count = unsafe recv(descriptor, room.baseAddress, min(room.count, bytesMax), 0)
                if count >= 0 { return count }
                if errno != EINTR { return -Int(errno) }
            }
        }
    }

    /// Writes as much as the kernel takes.
    package static func write(_ descriptor: Int32, _ bytes: Span<UInt8>) -> Int {
        // Safety: the kernel reads the bytes during the call only.
        unsafe bytes.withUnsafeBytes { bytes in
            while true {
                let count = unsafe send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                if count >= 0 { return count }
                if errno != EINTR { return -Int(errno) }
            }
        }
    }

    /// A header and a body that are written behind each other; the header begins where the one before it ends.
    package struct GatheredPiece: Hashable, Sendable {
        package let headerEnd: Int
        package let body: Range<Int>

        package init(headerEnd: Int, body: Range<Int>) {
            self.headerEnd = headerEnd
            self.body = body
        }
    }

    /// Writes as much as the kernel takes of headers and bodies, without copying them together.
    ///
    /// - Parameters:
    ///   - descriptor: a socket.
    ///   - pieces: at most 512.
    ///   - headers: all headers, one behind the other.
    ///   - bodies: has the bodies.
    /// - Returns: how many bytes the kernel took; a negated errno where that failed.
    package static func write(
        _ descriptor: Int32,
        _ pieces: Span<GatheredPiece>,
        headers: Span<UInt8>,
        bodies: Span<UInt8>
    ) -> Int {
        // Safety: the vectors point into the spans, in the bounds that are checked here; the kernel reads them during the call only.
        unsafe headers.withUnsafeBytes { headers in
            unsafe bodies.withUnsafeBytes { bodies in
                unsafe withUnsafeTemporaryAllocation(of: iovec.self, capacity: 2 * pieces.count) { vectors in
                    var headerStart = 0
                    for index in pieces.indices {
                        let piece = pieces[index]
                        precondition(
                            headerStart <= piece.headerEnd && piece.headerEnd <= headers.count,
                            "a header is outside"
                        )
                        precondition(piece.body.upperBound <= bodies.count, "a body is outside")
                        unsafe vectors[2 * index] = unsafe vector(headers, headerStart..<piece.headerEnd)
                        unsafe vectors[2 * index + 1] = unsafe vector(bodies, piece.body)
                        headerStart = piece.headerEnd
                    }
                    var message = unsafe msghdr()
                    unsafe message.msg_iov = vectors.baseAddress
                    unsafe message.msg_iovlen = vectors.count
                    while true {
                        let count = unsafe sendmsg(descriptor, &message, Int32(MSG_NOSIGNAL))
                        if count >= 0 { return count }
                        if errno != EINTR { return -Int(errno) }
                    }
                }
            }
        }
    }

    @unsafe
    private static func vector(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> iovec {
        unsafe iovec(
            iov_base: UnsafeMutableRawPointer(mutating: bytes.baseAddress?.advanced(by: range.lowerBound)),
            iov_len: range.count
        )
    }

    package static func close(_ descriptor: Int32) {
        _ = Glibc.close(descriptor)
    }

    /// Copies bytes to the end of an array.
    package static func append(_ bytes: Span<UInt8>, to array: inout [UInt8]) {
        // Safety: the array copies the bytes during the call.
        unsafe bytes.withUnsafeBufferPointer { unsafe array.append(contentsOf: $0) }
    }

    // MARK: - Signals

    /// Takes SIGINT and SIGTERM from the process.
    ///
    /// - Returns: a descriptor that becomes readable when one comes, or a negated errno.
    package static func takeSignals() -> Int32 {
        var signals = sigset_t()
        // Safety: the C library reads and writes the one set during the calls.
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGINT)
        unsafe sigaddset(&signals, SIGTERM)
        let code = unsafe pthread_sigmask(SIG_BLOCK, &signals, nil)
        guard code == 0 else { return -code }
        let descriptor = unsafe signalfd(-1, &signals, Int32(SFD_NONBLOCK) | Int32(SFD_CLOEXEC))
        return descriptor < 0 ? -errno : descriptor
    }
}

extension System {
    /// Gives the signals back to the process.
    package static func releaseSignals() {
        var signals = sigset_t()
        // Safety: the C library reads and writes the one set during the calls.
        unsafe sigemptyset(&signals)
        unsafe sigaddset(&signals, SIGINT)
        unsafe sigaddset(&signals, SIGTERM)
        // The signal that came is pending still; it must not end us now.
        var time = timespec()
        unsafe sigtimedwait(&signals, nil, &time)
        _ = unsafe pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    package static func isRefusal(_ code: Int32) -> Bool { code == ECONNREFUSED }

    package static func wouldBlock(_ result: Int) -> Bool { result == -Int(EAGAIN) }

    package static func isReset(_ result: Int) -> Bool { result == -Int(ECONNRESET) || result == -Int(EPIPE) }
}
