// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Listens by TLS, and over WebSocket in networks that let only port 443 through.
import Cuecast
import CuecastNIO

// snippet.address
var configuration = ListenerConfiguration(
    gateway: GatewayAddress(notices: "tls://ads.example.org:7400", requests: "tls://ads.example.org:7401"),
    stream: LiveStream(id: "radio1")
)
configuration.alternativeGateways = [GatewayAddress(url: "wss://ads.example.org/listen")]
// snippet.end

let client = try CuecastClient(configuration: configuration, transport: NIOListenerTransport())
print("a client of \(client.configuration.gateway)")
