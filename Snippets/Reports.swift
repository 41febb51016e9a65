// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Tells what happens to each advertisement while it plays, so that nothing has to be inferred.
import Cuecast
import CuecastNIO

// snippet.report
/// Plays one advertisement and reports what happens to it.
func play(_ advertisement: Advertisement, of advertisements: any Advertisements) async {
    advertisements.report(.started, for: advertisement)
    do {
        for quarter in 1...4 {
            try await playQuarter(quarter, of: advertisement)
            advertisements.report(.quartile(quarter), for: advertisement)
        }
        advertisements.report(.completed, for: advertisement)
    } catch {
        // 405: the media file cannot be displayed (VAST 4.3 section 2.3.6.3).
        advertisements.report(.failed(vastError: 405), for: advertisement)
    }
}
// snippet.end

/// Stands for the app's own audio player.
func playQuarter(_ quarter: Int, of advertisement: Advertisement) async throws {
    try await Task.sleep(for: advertisement.exactDuration / 4)
}

// snippet.manual
var configuration = ListenerConfiguration(stream: LiveStream(id: "radio1"))
configuration.handOut = .manual
let client = try CuecastClient(configuration: configuration, transport: NIOListenerTransport())
let events = client.makeEvents()
try await client.start()
for await case .available in events {
    var playlist: [Advertisement] = []
    while let advertisement = client.advertisements.getAdvertisement() { playlist.append(advertisement) }
    for advertisement in playlist { await play(advertisement, of: client.advertisements) }
}
// snippet.end
