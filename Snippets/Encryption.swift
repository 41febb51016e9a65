// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Believes a gateway whose certificate is good and has one of two keys: the second one is for the day on which the first goes.
import Cuecast
import CuecastNIO

// snippet.trust
let pins = [
    "sha256/9n0izTnSRF+W4W4JTq51avSXkWhQB8duS2bxVLfzXsY=", "sha256/47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
]
let trust = GatewayTrust(pins: Set(try pins.map { try PublicKeyPin($0) }))
let transport = NIOListenerTransport(trust: trust)
let gateway = GatewayAddress(notices: "tls://ads.example.org:7400", requests: "tls://ads.example.org:7401")
// snippet.end

let client = try CuecastClient(
    configuration: ListenerConfiguration(gateway: gateway, stream: LiveStream(id: "radio1")),
    transport: transport
)
print("a client of \(client.configuration.gateway)")
