// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CZeroMQ

extension Socket {
    /// The most bytes of a topic: 4.3.4 frames subscriptions of 246 to 255 bytes wrongly.
    package static var topicBytesMax: Int { 200 }

    /// Sets an option, for the connections made after.
    ///
    /// - Throws: `invalidArgument`, with the option and value as the detail, when the value is out of range or the
    ///   option is not one of this kind of socket.
    package borrowing func set<Value>(_ option: SocketOption<Value>, to value: Value) throws(ZeroMQError) {
        self.core.checkThread("set(_:to:)")
        let bytes = try option.encode(value)
        try self.setRaw(option.number, bytes, "\(option.name) = \(value)")
    }

    /// Reads an option.
    ///
    /// - Throws: `invalidArgument` when libzmq cannot read the option on this kind of socket.
    package borrowing func get<Value>(_ option: SocketOption<Value>) throws(ZeroMQError) -> Value {
        self.core.checkThread("get(_:)")
        var count = option.bytesMax
        var bytes = [UInt8](repeating: 0, count: count)
        try unsafe bytes.withUnsafeMutableBufferPointer { (buffer) throws(ZeroMQError) in
            let start = buffer.baseAddress
            try SystemCall.perform("zmq_getsockopt", detail: option.name) {
                unsafe zmq_getsockopt(self.handle, option.number, start, &count)
            }
        }
        return try option.decode(Array(bytes.prefix(count)))
    }

    /// Receives the messages that begin with `topic`, on a `sub` or `xsub` socket.
    ///
    /// An empty topic is every message.
    ///
    /// The publisher learns of it some time later, and nothing says when.
    ///
    /// - Throws: `invalidArgument` for more than ``topicBytesMax`` bytes, or on another kind of socket.
    package borrowing func subscribe(_ topic: [UInt8]) throws(ZeroMQError) {
        try self.changeSubscription(ZMQ_SUBSCRIBE, "ZMQ_SUBSCRIBE", command: 1, topic)
    }

    /// Takes back one ``subscribe(_:)``.
    ///
    /// - Throws: as ``subscribe(_:)``.
    package borrowing func unsubscribe(_ topic: [UInt8]) throws(ZeroMQError) {
        try self.changeSubscription(ZMQ_UNSUBSCRIBE, "ZMQ_UNSUBSCRIBE", command: 0, topic)
    }

    private borrowing func changeSubscription(
        _ number: CInt,
        _ name: String,
        command: UInt8,
        _ topic: [UInt8]
    ) throws(ZeroMQError) {
        self.core.checkThread("subscribe(_:)")
        guard topic.count <= Self.topicBytesMax else {
            let detail = "\(name): a topic of \(topic.count) bytes"
            throw ZeroMQError(operation: "zmq_setsockopt", code: .invalidArgument, detail: detail)
        }
        if self.kind == .xsub {
            // An xsub socket has no such option: it sends the subscription as a message.
            guard try self.send([command] + topic) == .sent else {
                throw ZeroMQError(operation: "zmq_send", code: .resourceUnavailable, detail: name)
            }
        } else {
            try self.setRaw(number, topic, name)
        }
    }

    private borrowing func setRaw(
        _ number: CInt,
        _ bytes: [UInt8],
        _ detail: @autoclosure () -> String
    ) throws(ZeroMQError) {
        try unsafe bytes.withUnsafeBufferPointer { (buffer) throws(ZeroMQError) in
            let (start, count) = (buffer.baseAddress, buffer.count)
            try SystemCall.perform("zmq_setsockopt", detail: detail()) {
                unsafe zmq_setsockopt(self.handle, number, start, count)
            }
        }
    }
}
