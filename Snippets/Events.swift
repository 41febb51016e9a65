// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Shows where the connection stands, and what is coming; goes to the background and comes back.
import Cuecast
import CuecastNIO

// snippet.addresses
var configuration = ListenerConfiguration(
    gateway: GatewayAddress(host: "ads1.example.org"),
    stream: LiveStream(id: "radio1")
)
configuration.alternativeGateways = [GatewayAddress(host: "ads2.example.org")]
// snippet.end
let client = try CuecastClient(configuration: configuration, transport: NIOListenerTransport())
// snippet.events
let events = client.makeEvents()  // Before the start, to see everything.
try await client.start()
for await event in events {
    switch event {
    case .connectionChanged(let state): print("connection:", state)
    case .announced(let each): print("break", each.id, "in", each.countdown.map { "\($0)" } ?? "a while")
    case .ready(_, let advertisements): print("load", advertisements.map(\.audioFileURL))
    case .available(let each, let advertisements): print("play", advertisements.count, "of", each.id)
    case .missed(let each, let reason): print("nothing of", each.id, "because", reason)
    default: break
    }
}
// snippet.end

// snippet.background
func phoneCallBegan() { client.suspend() }
func phoneCallEnded() { client.resume() }
// snippet.end
