// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayTestKit
import Testing
import ZeroMQ

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// A peer that names itself as libzmq would name the next one.
@Suite(.suiteLimit)
struct ClaimedIdentityTests {
    /// The READY command of a DEALER that claims the first id that a ROUTER gives in a process whose random numbers were not
    /// seeded, then its message `claim`.
    private static let claim: [UInt8] = {
        var ready: [UInt8] = [5] + Array("READY".utf8) + [11] + Array("Socket-Type".utf8) + [0, 0, 0, 6]
        ready += Array("DEALER".utf8) + [8] + Array("Identity".utf8) + [0, 0, 0, 5, 0x00, 0x6B, 0x8B, 0x45, 0x67]
        var bytes: [UInt8] = [0x04, UInt8(ready.count)]
        bytes += ready
        bytes += [0, 5]
        bytes += Array("claim".utf8)
        return bytes
    }()

    @Test func `a peer that claims the first id of an unseeded process ends nothing`() async {
        await #expect(processExitsWith: .success) {
            let context = try Context()
            let router = try Socket(.router, in: context)
            let endpoint = try router.bind("tcp://127.0.0.1:*")
            let claiming = try TCPPeer(connectedTo: endpoint)
            try claiming.send([UInt8](TCPPeer.handshake[..<64]))
            // libzmq answers a greeting before it reads on.
            var answered = 0
            while answered < 64 {
                guard case .bytes(let bytes) = claiming.receive() else {
                    try await Task.sleep(for: .milliseconds(1))
                    continue
                }
                answered += bytes.count
            }
            try claiming.send(Self.claim)
            var frames = FrameBuffer(framesMax: 2)
            guard try router.waitUntilReadable(for: .seconds(300)), try router.receive(into: &frames) == .message,
                frames.bytes(at: 1) == Array("claim".utf8)
            else { exit(2) }
            // The next one gets an id of its own.
            let next = try Socket(.dealer, in: context)
            try next.connect(endpoint)
            guard try next.send(Array("next".utf8)) == .sent, try router.waitUntilReadable(for: .seconds(300)),
                try router.receive(into: &frames) == .message, frames.bytes(at: 1) == Array("next".utf8)
            else { exit(3) }
            withExtendedLifetime(claiming) {}
        }
    }
}
