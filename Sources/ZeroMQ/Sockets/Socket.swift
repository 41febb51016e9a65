// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ
internal import SystemSupport

/// A libzmq socket with exactly one owner.
///
/// ```swift
/// let requests = try Socket(.router, in: context)
/// try requests.set(.routerMandatory, to: true)
/// try requests.set(.messageBytesMax, to: 16_384)
/// let endpoint = try requests.bind("tcp://127.0.0.1:*")  // tcp://127.0.0.1:49155
/// ```
///
/// libzmq forbids using a socket from two threads at once. `Socket` is neither copyable nor `Sendable`, so sharing one
/// does not compile: hand it over as `sending`, or keep it in an actor. Dropping it closes it. While it is attached to
/// a ``PollingThread``, every use on another thread ends the process at once and names that thread.
///
/// Nothing here blocks but ``waitUntilReadable(for:)``.
@safe
package struct Socket: ~Copyable {
    let handle: UnsafeMutableRawPointer
    let core: SocketCore

    /// The pattern that this socket plays a part in.
    package let kind: SocketKind

    /// A socket that is neither bound nor connected yet.
    ///
    /// Set its options first: most take effect only on the connections made after.
    ///
    /// - Throws: `tooManyFileDescriptors` when the context's limit on sockets, or the process's on descriptors, is
    ///   reached.
    package init(_ kind: SocketKind, in context: Context) throws(ZeroMQError) {
        guard let handle = unsafe zmq_socket(context.handle, kind.rawValue) else {
            throw SystemCall.lastFailure("zmq_socket", detail: "\(kind)")
        }
        unsafe self.handle = handle
        self.core = unsafe SocketCore(handle: handle, context: context)
        self.kind = kind
    }

    deinit {
        self.core.close()
    }

    /// Closes the socket.
    ///
    /// The same as dropping it, for where that should be seen.
    ///
    /// Queued messages are still sent, for at most `linger`.
    package consuming func close() {}

    /// Accepts connections at `endpoint` and returns the endpoint in full: `tcp://127.0.0.1:*` becomes
    /// `tcp://127.0.0.1:49155`.
    ///
    /// There is no way to unbind: in libzmq that would also cut the connections already accepted. Close the socket.
    ///
    /// - Throws: `addressInUse` or `addressNotAvailable`, with the endpoint as the detail.
    @discardableResult
    package borrowing func bind(_ endpoint: String) throws(ZeroMQError) -> String {
        self.core.checkThread("bind(_:)")
        try self.allowIPv6(for: endpoint)
        try SystemCall.perform("zmq_bind", detail: endpoint) { unsafe zmq_bind(self.handle, endpoint) }
        return try self.get(.lastEndpoint)
    }

    /// Connects to `endpoint`, now and again after each loss, in the background.
    ///
    /// A second call with the same endpoint does nothing on `sub`, `dealer` and `req` sockets; an `xsub` socket gets one more
    /// connection.
    ///
    /// - Throws: `invalidArgument` for an endpoint that cannot be read. A missing peer is not an error.
    package borrowing func connect(_ endpoint: String) throws(ZeroMQError) {
        self.core.checkThread("connect(_:)")
        try self.allowIPv6(for: endpoint)
        try SystemCall.perform("zmq_connect", detail: endpoint) { unsafe zmq_connect(self.handle, endpoint) }
    }

    /// libzmq reads an address in brackets only when it is told beforehand; for names it would then prefer IPv6.
    private borrowing func allowIPv6(for endpoint: String) throws(ZeroMQError) {
        if endpoint.hasPrefix("tcp://[") { try self.set(.ipv6, to: true) }
    }

    /// Ends the connection to `endpoint` and drops what is queued for it.
    ///
    /// - Throws: `noSuchEndpoint` when the socket is not connected to it.
    package borrowing func disconnect(_ endpoint: String) throws(ZeroMQError) {
        self.core.checkThread("disconnect(_:)")
        try SystemCall.perform("zmq_disconnect", detail: endpoint) { unsafe zmq_disconnect(self.handle, endpoint) }
    }
}

@available(*, unavailable, message: "A socket belongs to one thread at a time: hand it over as `sending`.")
extension Socket: Sendable {}

/// The state that outlives a move of its ``Socket``: its poller and whether it is monitored.
@safe
final class SocketCore {
    private let handle: UnsafeMutableRawPointer
    // Retained because a context may end only after its sockets.
    let context: Context
    private(set) var isClosed = false
    /// The number of the monitor that runs, if one does.
    private(set) var monitorNumber: UInt64?

    /// The thread that polls the socket, while one does.
    var registration: PollingLoop.Registration?

    /// The number of that thread, 0 while none does.
    ///
    /// A plain number makes the check of every send and receive cheap.
    var boundThreadID: UInt = 0

    init(handle: UnsafeMutableRawPointer, context: Context) {
        unsafe self.handle = handle
        self.context = context
    }

    /// Ends the process when the socket is attached to another thread than this one.
    @inline(__always)
    func checkThread(_ operation: StaticString) {
        guard self.boundThreadID != 0, self.boundThreadID != OSThread.currentID else { return }
        self.registration?.thread.misused(operation)
    }

    func close() {
        self.checkThread("close()")
        self.registration?.detach()
        self.stopMonitor()
        self.isClosed = true
        SystemCall.mustSucceed("zmq_close") { unsafe zmq_close(self.handle) }
    }

    func startMonitor(_ number: UInt64, endpoint: String, events: CInt) throws(ZeroMQError) {
        try SystemCall.perform("zmq_socket_monitor", detail: endpoint) {
            unsafe zmq_socket_monitor(self.handle, endpoint, events)
        }
        self.monitorNumber = number
    }

    /// Makes `monitorStopped` the last event.
    ///
    /// Without it, closing would still report to a reader that may be gone, and libzmq blocks its I/O thread until the events are
    /// read.
    func stopMonitor() {
        guard self.monitorNumber.take() != nil, !self.isClosed else { return }
        SystemCall.mustSucceed("zmq_socket_monitor") { unsafe zmq_socket_monitor(self.handle, nil, 0) }
    }
}
