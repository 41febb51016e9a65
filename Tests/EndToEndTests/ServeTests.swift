// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayHTTP
import GatewayTestKit
import Testing
import ZeroMQ

/// The gateway as a process: how it starts, stops, and stands what comes over its sockets.
@Suite(.timeLimit(.minutes(5)))
struct ServeTests {
    @Test(arguments: [SIGTERM, SIGINT])
    func `a signal right after the ready line stops it with exit code 0`(signal: Int32) async throws {
        try await withTemporaryFolder { folder in
            for http in ["127.0.0.1:0", "none"] {
                let gateway = try await ServedGateway(dataFolder: folder, arguments: ["--http", http])
                gateway.process.signal(signal)
                #expect(try await gateway.process.end() == .exited(0), "\(gateway.process.standardError)")
            }
        }
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func `what was accepted before a signal is answered, and what was confirmed is in the books`(
        signal: Int32
    ) async throws {
        try await withTemporaryFolder { folder in
            let network = try PeerNetwork()
            let gateway = try await ServedGateway(dataFolder: folder)
            try await gateway.broadcaster(in: network).publish("b", duration: .seconds(300))
            var sent: [(RawListener, [UInt64])] = []
            for _ in 0..<20 {
                let listener = try await gateway.listener(in: network)
                let batch = try await listener.batch(of: "b")
                let acknowledgement = try listener.acknowledgement(of: batch, of: "b")
                sent.append((listener, []))
                for _ in 0..<25 { sent[sent.count - 1].1.append(try await listener.send(acknowledgement)) }
            }
            gateway.process.signal(signal)
            #expect(try await gateway.process.end() == .exited(0))
            var confirmed: Set<SessionID> = []
            var recorded = 0
            for (listener, ids) in sent {
                for frames in await listener.requests.peer.takeAll() {
                    let reply = try ListenerReply(decoding: frames[1])
                    #expect(ids.contains(reply.requestID))
                    switch reply.body {
                    case .acknowledged(recorded: 2):
                        confirmed.insert(listener.session)
                        recorded += 2
                    case .refused(let refusal): #expect(refusal.status == .draining)
                    default: Issue.record("\(reply)")
                    }
                }
            }
            let again = try await ServedGateway(dataFolder: folder)
            let played = Int64(confirmed.count * 2)
            let books = try await again.books("what was confirmed") {
                $0.total.played >= played && $0.total.played + $0.total.repeats >= Int64(recorded)
            }
            #expect(books.total.delivered == 40)
            #expect(books.total.contradictions == 0)
            try await again.stop()
            await network.stop()
        }
    }

    @Test func `an address in use or a folder in use is exit code 69, and says which`() async throws {
        try await withTemporaryFolder { folder in
            let gateway = try await ServedGateway(dataFolder: folder.appending(path: "one"))
            let free = "tcp://127.0.0.1:*"
            func serve(_ data: String, _ notices: String, http: String = "none") async throws -> CuecastProgram.Finished
            {
                try await CuecastProgram.run([
                    "serve", "--data-dir", folder.appending(path: data).path, "--notices", notices, "--requests", free,
                    "--broadcast", free, "--http", http,
                ])
            }
            let address = try await serve("two", gateway.endpoints.notices)
            #expect(address.code == 69)
            #expect(address.error.contains(gateway.endpoints.notices))
            let data = try await serve("one", free)
            #expect(data.code == 69)
            #expect(data.error.contains(folder.appending(path: "one").path))
            let http = try await serve("three", free, http: gateway.http)
            #expect(http.code == 69)
            #expect(http.error.contains(gateway.http))
            // The first one is not disturbed.
            #expect(try await gateway.books().breaks.isEmpty)
            try await gateway.stop()
        }
    }

    @Test func `bad input of each kind on each socket disturbs nobody`() async throws {
        try await withTemporaryFolder { folder in
            let network = try PeerNetwork()
            let gateway = try await ServedGateway(dataFolder: folder)
            let listener = try await gateway.listener(in: network)
            _ = try await listener.join()
            let endpoints = gateway.endpoints
            for (number, endpoint) in [endpoints.notices, endpoints.requests, endpoints.broadcast].enumerated() {
                let peer = try RawPeer(number == 0 ? .xsub : .dealer, in: network)
                try await peer.connect(endpoint)
                let large = [UInt8](repeating: 7, count: WireLimits.broadcastFrameBytesMax + 1)
                let messages: [RawPeer.Frames] = [
                    [[]], [[1]], [[2, 3]], [[], [0xFF, 0xFF]], [[], []], [[0], [1], [2]],
                    RawPeer.Frames(repeating: [9], count: 64), [[1] + [UInt8](repeating: 0x41, count: 300)],
                    [[], large],
                ]
                for message in messages { try await peer.send(message) }
                let tcp = try TCPPeer(connectedTo: endpoint)
                try tcp.send(Array("HELLO\r\n".utf8) + [0, 1, 2, 255])
                let dishonest = try TCPPeer(connectedTo: endpoint)
                try dishonest.send(TCPPeer.handshake + [0x02, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF])

                let id = "break-\(number)"
                try await gateway.broadcaster(in: network).publish(id, start: nil)
                let notice = try await listener.notice()
                #expect(notice.breakID?.description == id)
                #expect(try await listener.batch(of: id).advertisements.count == 2)
            }
            try await gateway.stop()
            #expect(!gateway.process.standardError.contains("error"))
            await network.stop()
        }
    }
}
