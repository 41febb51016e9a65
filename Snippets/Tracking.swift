// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Has the tracking URLs of advertisements called, with what the listener agreed to.
@_spi(Tracking) import Cuecast
import CuecastNIO
import Synchronization

// snippet.configure
var configuration = ListenerConfiguration(stream: LiveStream(id: "radio1"))
configuration.tracking = TrackingConfiguration(userAgent: "player/3.1", appBundle: "com.example.player")
configuration.consent = ListenerConsent(gdprConsent: "CPc7TgAPc7TgAAGABCENBZ", regulations: ["gdpr"])
// snippet.end

// snippet.consent
/// The state of the app's consent dialogue; the user may change it at any time.
let dialogue = Mutex(ListenerConsent(deniesTracking: true))

configuration.consentProvider = { dialogue.withLock { $0 } }
// snippet.end

// snippet.sender
/// Sends through the app's own network stack; here it only says what it would send.
struct PrintingSender: TrackingSender {
    func send(_ request: TrackingRequest) async -> TrackingResult {
        print("GET", request.url, "for", request.event)
        return .answered(status: 204)
    }
}

configuration.tracking?.sender = PrintingSender()
// snippet.end

let client = try CuecastClient(configuration: configuration, transport: NIOListenerTransport())
// snippet.follow
let events = client.makeEvents()
try await client.start()
for await case .trackingChanged(let call) in events {
    switch call.state {
    case .sent(let status): print(call.event, "was taken with status", status)
    case .failed(let failure): print(call.event, "failed:", failure)
    case .uncertain(let reason): print(call.event, "may have been taken:", reason)
    default: break
    }
}
// snippet.end
