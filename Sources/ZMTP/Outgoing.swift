// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Writes what a side sends, each onto the end of a buffer.
package enum Outgoing {
    /// One frame of a message.
    package static func appendFrame(_ body: [UInt8], more: Bool = false, to output: inout [UInt8]) {
        FrameHeader.append(bodyBytes: body.count, more: more, to: &output)
        output += body
    }

    /// A request as REQ sockets send it, also from a DEALER: an empty delimiter frame and one body.
    package static func appendRequest(_ body: [UInt8], to output: inout [UInt8]) {
        FrameHeader.append(bodyBytes: 0, more: true, to: &output)
        self.appendFrame(body, to: &output)
    }

    /// The READY command of the NULL handshake (RFC 23, "The NULL Security Mechanism").
    package static func appendReady(_ type: SocketType, identity: [UInt8] = [], to output: inout [UInt8]) {
        var properties: [UInt8] = []
        self.appendProperty("Socket-Type", Array(type.rawValue.utf8), to: &properties)
        switch type {
        case .req, .dealer, .router:
            self.appendProperty("Identity", Array(identity.prefix(ZMTPLimits.identityBytesMax)), to: &properties)
        default: break
        }
        self.appendCommand("READY", properties, to: &output)
    }

    /// The ERROR command, by which a side refuses the other; the reason is cut after 255 bytes.
    package static func appendError(_ reason: String, to output: inout [UInt8]) {
        let bytes = Array(reason.utf8.prefix(255))
        self.appendCommand("ERROR", [UInt8(bytes.count)] + bytes, to: &output)
    }

    /// A PING (RFC 37): the peer may take the connection for dead when it hears nothing for `ttlTenths` of a second.
    package static func appendPing(ttlTenths: UInt16, context: [UInt8] = [], to output: inout [UInt8]) {
        self.appendCommand(
            "PING",
            [UInt8(ttlTenths >> 8), UInt8(ttlTenths & 0xFF)] + context.prefix(ZMTPLimits.pingContextBytesMax),
            to: &output
        )
    }

    /// The answer to a PING, with its context.
    package static func appendPong(context: [UInt8], to output: inout [UInt8]) {
        self.appendCommand("PONG", Array(context.prefix(ZMTPLimits.pingContextBytesMax)), to: &output)
    }

    /// A subscription, or with `cancel` its end.
    ///
    /// - Parameters:
    ///   - topic: the first bytes of the messages that are wanted.
    ///   - cancel: ends an earlier subscription of the same topic.
    ///   - asCommand: as RFC 37 has it, for peers of version 3.1; otherwise as the message of RFC 23: one byte 1 or 0,
    ///     then the topic. libzmq 4.3.4 takes both.
    ///   - output: grows by it.
    package static func appendSubscription(
        _ topic: [UInt8],
        cancel: Bool = false,
        asCommand: Bool = false,
        to output: inout [UInt8]
    ) {
        if asCommand {
            self.appendCommand(cancel ? "CANCEL" : "SUBSCRIBE", topic, to: &output)
        } else {
            FrameHeader.append(bodyBytes: topic.count + 1, to: &output)
            output.append(cancel ? 0 : 1)
            output += topic
        }
    }

    private static func appendCommand(_ name: StaticString, _ data: [UInt8], to output: inout [UInt8]) {
        let name = name.description.utf8
        FrameHeader.append(bodyBytes: 1 + name.count + data.count, isCommand: true, to: &output)
        output.append(UInt8(name.count))
        output += name
        output += data
    }

    private static func appendProperty(_ name: StaticString, _ value: [UInt8], to output: inout [UInt8]) {
        let name = name.description.utf8
        output.append(UInt8(name.count))
        output += name
        for shift in stride(from: 24, through: 0, by: -8) {
            output.append(UInt8(truncatingIfNeeded: value.count >> shift))
        }
        output += value
    }
}
