// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Keeps the session and what the gateway has not confirmed over the end of the app.
@_spi(Diagnostics) import Cuecast
import CuecastNIO

// snippet.storage
var configuration = ListenerConfiguration(stream: LiveStream(id: "radio1"))
configuration.storage = .file(path: "/var/lib/player/cuecast.journal")
// snippet.end

// snippet.token
configuration.tokenProvider = { try await currentToken() }
// snippet.end

// snippet.premium
configuration.fetchPolicy = { _ in await !isPremium() }
// snippet.end

/// Stand for the app's own log-in.
@Sendable func currentToken() async throws -> String { "token" }
@Sendable func isPremium() async -> Bool { false }
/// Stands for where the app keeps what a listener may ask about.
func remember(_ sessionID: String) {}

let client = try CuecastClient(configuration: configuration, transport: NIOListenerTransport())
// snippet.outbox
let events = client.makeEvents()
try await client.start()
for await event in events {
    switch event {
    case .outcome(let outcome): print(outcome.advertisement, outcome.result, outcome.evidence)
    case .acknowledged(let breakID, let adIDs): print("confirmed:", breakID, adIDs)
    case .acknowledgementGivenUp(let breakID, let adIDs, let reason): print("given up:", breakID, adIDs, reason)
    default: break
    }
}
for status in client.acknowledgements where status.state == .pending {
    print("is told at the next start:", status.breakID, status.adID)
}
// snippet.end

// snippet.session
if let sessionID = client.sessionID { remember(sessionID) }
// snippet.end
