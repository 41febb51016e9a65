// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import LoadEngine
import TestSupport
import Testing

/// Reading and writing by hand, against the codec that reads and writes everything.
@Suite(.suiteLimit)
struct WireTests {
    @Test(arguments: [WireRequest.firstID, WireRequest.firstID + 1, 1 << 30, WireRequest.lastID])
    func `a request keeps its length whatever id and session are written into it`(id: UInt64) throws {
        let key = BreakKey(stream: try StreamID("radio1"), id: try BreakID("b"))
        let kind = ListenerRequest.Kind.getBatch(ListenerRequest.GetBatch(key: key))
        var request = WireRequest(ListenerRequest(id: 1, session: .random(), kind: kind))
        let count = request.bytes.count
        let session = SessionID.random()
        request.patch(id: id)
        request.patch(session: session)
        #expect(request.bytes.count == count)
        #expect(request.body.count == request.bodyBytes)
        // Delimiter, then one short frame.
        #expect(Array(request.bytes.prefix(4)) == [1, 0, 0, UInt8(request.bodyBytes)])
        let decoded = try ListenerRequest(decoding: Array(request.body))
        #expect(decoded == ListenerRequest(id: id, session: session, kind: kind))
    }

    @Test func `an id of five bytes is one from the first to the last, and none beyond`() throws {
        func digits(_ id: UInt64) -> Int {
            ListenerRequest(id: id, session: .random(), kind: .getTime).encoded().count
        }
        let five = digits(WireRequest.firstID)
        #expect(digits(WireRequest.firstID - 1) == five - 1)
        #expect(digits(WireRequest.lastID) == five)
        #expect(digits(WireRequest.lastID + 1) == five + 1)
    }

    @Test(arguments: StatusCode.allCases)
    func `id and status of a reply are read as the codec reads them`(status: StatusCode) throws {
        let body: ListenerReply.Body = status == .ok ? .done : .refused(Refusal(status, "A sentence."))
        for id in [1, 300, WireRequest.lastID, UInt64.max] {
            let reply = ListenerReply(requestID: id, gatewayTime: Timestamp(microseconds: 5), body: body)
            let bytes = reply.encoded()
            let read = ReplyHead(bytes.span)
            let head = try #require(read)
            #expect(head.requestID == id)
            #expect(head.status == status.rawValue)
        }
    }

    @Test(arguments: Notice.Kind.allCases)
    func `position and kind of a notice are read as the codec reads them`(kind: Notice.Kind) throws {
        let position = Position(epoch: .random(in: 1...UInt64.max), sequence: .random(in: 1...UInt64.max))
        let notice = Notice(
            position: position,
            kind: kind,
            breakID: kind == .head ? nil : try BreakID("b"),
            expires: Timestamp(microseconds: 1),
            sent: Timestamp(microseconds: 1)
        )
        let bytes = NoticeFrame.notice(notice, stream: try StreamID("radio1")).encoded()
        let read = NoticeHead(bytes.span)
        let head = try #require(read)
        #expect(head.topicBytes == 6)
        #expect(Position(epoch: head.epoch, sequence: head.sequence) == position)
        #expect(head.kind == kind.rawValue)
    }

    @Test func `a tick is no notice`() {
        let bytes = NoticeFrame.tick(SyncTick(instance: 1, counter: 2)).encoded()
        let read = NoticeHead(bytes.span)
        #expect(read == nil)
    }

    @Test func `no bytes make the reading by hand trap, and what it reads the codec does not read otherwise`() throws {
        var generator = SeededGenerator(seed: 5)
        let reply = ListenerReply(
            requestID: 77,
            gatewayTime: Timestamp(microseconds: 1),
            body: .refused(Refusal(.tooLate, "Too late."))
        )
        .encoded()
        var agreed = 0
        for round in 0..<5_000 {
            var bytes = reply
            if round % 2 == 0 {
                bytes = (0..<Int.random(in: 0...60, using: &generator))
                    .map { _ in .random(in: 0...255, using: &generator) }
            } else {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &generator)
            }
            _ = NoticeHead(bytes.span)
            let framed = [UInt8(ascii: "r"), 0] + bytes
            _ = NoticeHead(framed.span)
            if let head = ReplyHead(bytes.span), let decoded = try? ListenerReply(decoding: bytes) {
                #expect(head.requestID == decoded.requestID || head.status != StatusCode.ok.rawValue)
                agreed += 1
            }
        }
        #expect(agreed > 100)
    }
}
