// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire

/// The breaks of a run: when each is published, and what is in it; every process knows without asking.
struct RunPlan {
    let settings: RunSettings
    let streams: [StreamID]

    init(_ settings: RunSettings) throws(LoadError) {
        self.settings = settings
        do throws(WireError) {
            self.streams = try settings.streams.map { (text) throws(WireError) in try StreamID(text) }
        } catch {
            throw .usage("\(error)")
        }
        guard !self.streams.isEmpty else { throw .usage("a run needs at least one stream") }
    }

    /// How many breaks there are on all streams.
    var count: Int { (self.settings.breakCount ?? 0) * self.streams.count }

    /// The stream of the break with this number: they take turns.
    func stream(of number: Int) -> Int { number % self.streams.count }

    /// When a break is to be published, after the beginning: the streams' breaks are spread evenly.
    func planned(_ number: Int) -> Microseconds {
        let round = Microseconds(number / self.streams.count)
        let turn = Microseconds(number % self.streams.count)
        return round * self.settings.every + turn * self.settings.every / Microseconds(self.streams.count)
    }

    func id(of number: Int) throws(LoadError) -> BreakID {
        do throws(WireError) {
            return try BreakID("load-\(self.settings.runName)-\(number / self.streams.count + 1)")
        } catch {
            throw .usage("\(error)")
        }
    }

    /// Advertisements as broadcasters have them: two media files, a banner, trackers.
    func advertisements(of number: Int) throws(LoadError) -> [AdvertisementContent] {
        let length = max(1, self.settings.duration / 1_000 / Microseconds(self.settings.advertisements))
        var list: [AdvertisementContent] = []
        for ordinal in 0..<self.settings.advertisements {
            // Which spots a break has is drawn from the seed, so that no two breaks have the same content.
            var source = SeededSource(seed: self.settings.seed ^ UInt64(number) << 8 ^ UInt64(ordinal))
            let spot = String(source.next(), radix: 36)
            let place = "https://cdn.example.com/spots/\(spot)"
            do throws(WireError) {
                list.append(
                    AdvertisementContent(
                        id: try AdvertisementID("spot-\(ordinal + 1)-\(spot)"),
                        title: "Spot \(ordinal + 1) of break \(number + 1)",
                        text: "An advertisement of a load test.",
                        advertiser: "Example Ltd",
                        duration: .milliseconds(length),
                        media: [
                            .init(url: place + ".mp3", type: "audio/mpeg", bitrateKilobitsPerSecond: 128),
                            .init(url: place + ".ogg", type: "audio/ogg", bitrateKilobitsPerSecond: 96),
                        ],
                        clickThroughURL: "https://www.example.com/offers/\(spot)",
                        banner: .init(imageURL: place + ".png", width: 300, height: 300),
                        trackers: [
                            .init(event: "impression", url: "https://track.example.com/i/\(spot)"),
                            .init(event: "complete", url: "https://track.example.com/c/\(spot)"),
                        ]
                    )
                )
            } catch {
                throw .usage("\(error)")
            }
        }
        return list
    }

    /// The request that publishes a break; where it has lead, its start is said by the gateway's clock, so that one that
    /// is published late does not run into the next.
    func publication(_ number: Int, at planned: Timestamp?) throws(LoadError) -> BroadcastRequest.Publish {
        let lead = Duration.microseconds(self.settings.lead)
        let start: BreakStart
        if self.settings.lead == 0 {
            start = .now
        } else if let planned {
            start = .at(planned + lead)
        } else {
            start = .after(lead)
        }
        return BroadcastRequest.Publish(
            key: BreakKey(stream: self.streams[self.stream(of: number)], id: try self.id(of: number)),
            start: start,
            duration: .microseconds(self.settings.duration),
            advertisements: try self.advertisements(of: number)
        )
    }
}
