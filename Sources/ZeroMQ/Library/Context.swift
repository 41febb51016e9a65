// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ

/// A libzmq context: the I/O threads that the sockets made in it share.
///
/// ```swift
/// let context = try Context(ioThreads: 2, socketsMax: 4_096)
/// let notices = try Socket(.xpub, in: context)
/// ```
///
/// One context per process is the rule; `inproc` endpoints reach only sockets of the same context.
///
/// Every ``Socket`` retains its context, so the context ends when the last socket is closed and the last reference is
/// gone. Its end waits until closed sockets have sent what they still hold, for at most each socket's `linger`.
/// A socket's `linger` is zero unless it is set (libzmq's own default is for ever), so this returns quickly by default.
@safe
package final class Context: Sendable {
    private let owner: ContextHandle

    /// The raw handle.
    ///
    /// Valid as long as `self` lives.
    var handle: UnsafeMutableRawPointer { unsafe self.owner.pointer }

    /// A context with its settings made before any socket exists; later changes would not take effect.
    ///
    /// - Parameters:
    ///   - ioThreads: Threads that move bytes. Cores minus one, and at least one, is a good choice for a server.
    ///   - socketsMax: Upper limit on open sockets, including the pair of hidden ones of each socket monitor.
    /// - Throws: `invalidArgument` when a number is not positive.
    package init(ioThreads: Int = 1, socketsMax: Int = 1023) throws(ZeroMQError) {
        guard let ioThreads = CInt(exactly: ioThreads), ioThreads >= 1 else {
            throw .invalidContext("ZMQ_IO_THREADS", ioThreads)
        }
        guard let socketsMax = CInt(exactly: socketsMax), socketsMax >= 1 else {
            throw .invalidContext("ZMQ_MAX_SOCKETS", socketsMax)
        }
        _ = seededRandom
        guard let handle = unsafe zmq_ctx_new() else { throw SystemCall.lastFailure("zmq_ctx_new") }
        let settings = [(ZMQ_IO_THREADS, ioThreads), (ZMQ_MAX_SOCKETS, socketsMax), (ZMQ_BLOCKY, 0)]
        do throws(ZeroMQError) {
            for (option, value) in settings {
                try SystemCall.perform("zmq_ctx_set") { unsafe zmq_ctx_set(handle, option, value) }
            }
        } catch {
            SystemCall.mustSucceed("zmq_ctx_term") { unsafe zmq_ctx_term(handle) }
            throw error
        }
        self.owner = unsafe ContextHandle(pointer: handle)
    }

    deinit {
        SystemCall.mustSucceed("zmq_ctx_term") { unsafe zmq_ctx_term(self.handle) }
    }
}

/// Seeds, once, the C library's random numbers, from which libzmq takes the ids that a ROUTER gives its peers.
///
/// Unseeded they are the same in every process, and libzmq ends the process where a peer claims the id that comes next.
private let seededRandom: Void = cuecast_seed_random(.random(in: 0 ... .max))

/// A context's pointer.
// Safety: libzmq documents its context as usable from every thread without a lock.
@safe
private struct ContextHandle: @unchecked Sendable {
    let pointer: UnsafeMutableRawPointer

    @unsafe
    init(pointer: UnsafeMutableRawPointer) {
        unsafe self.pointer = unsafe pointer
    }
}

extension ZeroMQError {
    fileprivate static func invalidContext(_ option: String, _ value: Int) -> ZeroMQError {
        ZeroMQError(operation: "zmq_ctx_set", code: .invalidArgument, detail: "\(option) = \(value)")
    }
}
