// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Testing
import ZeroMQ

@Suite(.suiteLimit)
struct MessageTests {
    // libzmq keeps up to 33 bytes inside the frame and more behind a pointer.
    static let sizes = [0, 1, 32, 33, 34, 255, 256, 100_000]

    static func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    }

    @Test(arguments: sizes)
    func `a message gives back its bytes`(count: Int) {
        let bytes = Self.bytes(count)
        let message = Message(bytes)
        #expect(message.count == count)
        #expect(message.bytes() == bytes)
        #expect(message.withBytes { $0.copied } == bytes)
        #expect(message.hasMore == false)
        let lent = bytes.lend { Message($0).bytes() }
        #expect(lent == bytes)
    }

    @Test(arguments: sizes, [0, 1, 40])
    func `a head and a tail become one body`(head: Int, tail: Int) {
        let (head, tail) = (Self.bytes(head), Self.bytes(tail))
        let body = head.lend { head in tail.lend { tail in Message(head: head, tail: tail).bytes() } }
        #expect(body == head + tail)
    }

    @Test(arguments: sizes)
    func `a copy outlives the original`(count: Int) {
        func copyOfATemporary() -> Message {
            var original = Message(Self.bytes(count))
            return original.copy()
        }
        #expect(copyOfATemporary().bytes() == Self.bytes(count))
    }

    @Test func `an empty message has no bytes`() {
        #expect(Message().count == 0)
        #expect(Message().bytes() == [])
        #expect(Message().property("Peer-Address") == nil)
    }

    @Test(arguments: [0, 5, 15, 16, 17, 255])
    func `a routing id gives back its bytes`(count: Int) {
        let bytes = Self.bytes(count)
        let id = RoutingID(bytes)
        #expect(id.count == count)
        #expect(id.withBytes { $0.copied } == bytes)
        #expect(id == bytes.lend { RoutingID($0) })
        #expect(id.hashValue == RoutingID(bytes).hashValue)
        #expect(id != RoutingID(bytes + [0]))
        #expect(RoutingID(bytes + [1]) != RoutingID(bytes + [0]))
    }

    @Test func `a routing id is shown in hexadecimal digits`() {
        #expect(RoutingID([0, 10, 255]).description == "000aff")
    }
}
