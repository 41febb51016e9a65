// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(Transports) import Cuecast
import CuecastNIO
import CuecastTesting

/// Shows that the libraries are really there: a client is told of a break by a gateway in memory, and answers.
@main
struct Player {
    static func main() async throws {
        let gateway = try ScriptedGateway()
        let client = try CuecastClient(configuration: gateway.configuration, transport: gateway)
        let events = client.makeEvents()
        try await client.start()
        try gateway.publish(ScriptedBreak("b1", [ScriptedAdvertisement("spot", duration: .seconds(3_000))]))
        for await case .available in events { break }
        client.advertisements.ignoreReceivedAdvertisements()
        let outcome = try await gateway.outcome(of: "spot", in: "b1")
        client.stop()
        await client.stopped()
        let transport: any ListenerTransport = NIOListenerTransport()
        precondition(transport.takesPush, "the transport for phones is another one")
        print("a player of \(gateway.stream.id), without ZeroMQ: \(outcome.adID) is \(outcome.result)")
    }
}
