// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// Finds what to call when something happens to an advertisement.
import Cuecast

// snippet.trackers
/// The addresses to call for an event of VAST, in the order in which the broadcaster gave them.
func addresses(for event: String, of advertisement: Advertisement) -> [String] {
    advertisement.trackers.filter { $0.event == event }.map(\.url)
}
// snippet.end

if let advertisement = Mycrocast.shared.advertisements.getAdvertisement() {
    print(addresses(for: "impression", of: advertisement))
}
