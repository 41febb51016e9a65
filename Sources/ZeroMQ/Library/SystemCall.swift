// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The one way into libzmq and the few system calls of this module.
///
/// - An interrupted call (`EINTR`) is made again.
/// - Would-block (`EAGAIN`) is a value.
/// - An errno that only a bug of ours can cause ends the process and names the call: going on would use memory that is
///   not ours.
/// - Anything else is thrown.
enum SystemCall {
    /// The result of `body`, or `nil` when it would block.
    @inline(__always)
    static func unlessBlocked(
        _ operation: StaticString,
        detail: @autoclosure () -> String? = nil,
        _ body: () -> CInt
    ) throws(ZeroMQError) -> CInt? {
        while true {
            let result = body()
            if result >= 0 { return result }
            let code = zmq_errno()
            if code == EAGAIN { return nil }
            if code == EINTR { continue }
            throw self.failure(operation, code, detail())
        }
    }

    /// The result of `body`, for calls that never block.
    ///
    /// Should one say so all the same, that is thrown.
    @discardableResult
    @inline(__always)
    static func perform(
        _ operation: StaticString,
        detail: @autoclosure () -> String? = nil,
        _ body: () -> CInt
    ) throws(ZeroMQError) -> CInt {
        guard let result = try self.unlessBlocked(operation, detail: detail(), body) else {
            throw ZeroMQError(operation: operation.description, code: .resourceUnavailable, detail: detail())
        }
        return result
    }

    /// For calls that fail only through a bug of ours: a failure ends the process.
    @inline(__always)
    static func mustSucceed(_ operation: StaticString, _ body: () -> CInt) {
        while body() < 0 {
            let code = zmq_errno()
            if code == EINTR { continue }
            self.trap(operation, code)
        }
    }

    /// The error for the errno of the call before, for calls that answer with a pointer.
    static func lastFailure(_ operation: StaticString, detail: String? = nil) -> ZeroMQError {
        self.failure(operation, zmq_errno(), detail)
    }

    @inline(never)
    private static func failure(_ operation: StaticString, _ code: CInt, _ detail: String?) -> ZeroMQError {
        // ENOTSOCK: a closed socket. EFAULT, EBADF: a handle that never was one. None can come from a peer.
        if code == ENOTSOCK || code == EFAULT || code == EBADF { self.trap(operation, code) }
        return ZeroMQError(operation: operation.description, code: .init(rawValue: code), detail: detail)
    }

    /// Ends the process and says which call failed, in release builds too.
    static func trap(_ operation: StaticString, _ code: CInt) -> Never {
        let error = ZeroMQError(operation: operation.description, code: .init(rawValue: code))
        fatalError("\(error): a handle was used after its end")
    }
}
