// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// A listener who hears the stream behind live, and moves back and forth in it.
import Cuecast
import CuecastNIO
import Foundation

// snippet.configure
var configuration = ListenerConfiguration(stream: LiveStream(id: "radio1"))
configuration.delay = .seconds(30)  // What the player buffers to begin with.
configuration.delayMax = .seconds(1_800)  // How far the listener may go back.
let client = try CuecastClient(configuration: configuration, transport: NIOListenerTransport())
// snippet.end
try await client.start()

// snippet.seek
// The listener goes back by a minute, and later returns to live.
client.setDelay(.seconds(90))
client.setDelay(.zero)
// snippet.end

// snippet.programme
// Or the player knows the instant of the programme that is heard, for instance from the stream's playlist.
client.setProgrammeTime(Date(timeIntervalSinceNow: -30))
// snippet.end

// snippet.pause
client.pauseProgramme()  // The listener presses pause: the delay grows
client.resumeProgramme()  // until the stream goes on where it stopped.
// snippet.end
client.stop()
