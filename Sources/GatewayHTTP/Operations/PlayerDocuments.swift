// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import BreakDocuments
import CuecastWire
import GatewayCore
import GatewayDocuments

/// The ads of a break as a player gets them, with the URLs by which it reports their outcomes.
struct PlayerBreak: Sendable {
    let key: BreakKey
    /// Those that a player hears from the break's beginning, and that are over where it is.
    let over: [AdvertisementContent]
    /// The ordinal of the first that was handed out.
    let first: Int
    /// Those that were handed out, but for what would begin after the break's end.
    let advertisements: [AdvertisementContent]
    let delivery: DeliveryToken
    /// The keys that signed the delivery.
    let keys: MessageKeys
    /// Where the gateway is asked: `https://HOST:PORT`.
    let gateway: String

    /// The ordinal of an advertisement that was handed out.
    func ordinal(_ index: Int) -> Int { self.first + index }

    /// The URL to call after an event of an advertisement.
    ///
    /// - Parameters:
    ///   - kind: the event.
    ///   - index: among those that were handed out.
    /// - Returns: the URL.
    /// - Throws: where the key that signed the delivery is gone.
    func trackingURL(_ kind: TrackingKind, _ index: Int) throws(Problem) -> String {
        guard let token = self.keys.tracking(kind, ordinal: self.ordinal(index), of: self.delivery) else {
            throw .unexpected
        }
        let text = TrackingText(token).text
        let url = "\(self.gateway)/v1/streams/\(self.key.stream)/breaks/\(self.key.id)/track/\(text)"
        // Players put the number in its place (VAST 4.3 section 2.3.6.2).
        return kind == .error ? url + "?code=[ERRORCODE]" : url
    }
}

extension AssetListDocument {
    /// - Parameters:
    ///   - served: the ads; `nil`: none.
    ///   - withThoseBefore: whether what is over at the player's place has its place in the list, so that the list begins where the break does.
    /// - Throws: where no URL can be signed.
    init(_ served: PlayerBreak?, withThoseBefore: Bool) throws(Problem) {
        self.init(assets: [])
        guard let served else { return }
        if withThoseBefore {
            for advertisement in served.over { self.assets.append(Asset(advertisement)) }
        }
        for (index, advertisement) in served.advertisements.enumerated() {
            var asset = Asset(advertisement)
            var tracking: [Tracking] = []
            for kind in TrackingKind.allCases {
                tracking.append(Tracking(type: kind.event, urls: [try served.trackingURL(kind, index)]))
            }
            asset.signaling = Signaling(payload: [Slot(advertisement, tracking)])
            self.assets.append(asset)
        }
    }
}

extension AssetListDocument.Asset {
    /// The media for an HLS player: the first that is HLS, else the first that is not DASH, else the first.
    fileprivate init(_ advertisement: AdvertisementContent) {
        let media = advertisement.media
        let file = media.first(where: \.isHLS) ?? media.first { !$0.isDASH } ?? media.first
        self.init(uri: file?.url ?? "", duration: advertisement.duration.seconds)
    }
}

extension AssetListDocument.Slot {
    /// Its own trackers stand behind the gateway's, each event once.
    fileprivate init(_ advertisement: AdvertisementContent, _ own: [AssetListDocument.Tracking]) {
        var tracking = own
        for tracker in advertisement.trackers where !tracker.isOfBanner {
            let offset = tracker.offset?.seconds
            if let place = tracking.firstIndex(where: { $0.type == tracker.event && $0.offset == offset }) {
                tracking[place].urls.append(tracker.url)
            } else {
                tracking.append(AssetListDocument.Tracking(type: tracker.event, offset: offset, urls: [tracker.url]))
            }
        }
        self.init(
            duration: advertisement.duration.seconds,
            identifiers: [AssetListDocument.Identifier(value: advertisement.id.description)]
        )
        self.skipOffset = advertisement.skipOffset?.seconds
        self.clickThrough = advertisement.clickThroughURL.orNil
        self.tracking = tracking
    }
}

extension AdvertisementContent.MediaFile {
    private func isOf(type: String, suffix: String) -> Bool {
        let path = self.url.prefix { $0 != "?" && $0 != "#" }.lowercased()
        return self.type.lowercased().contains(type) || self.type.isEmpty && path.hasSuffix(suffix)
    }

    fileprivate var isHLS: Bool { self.isOf(type: "mpegurl", suffix: ".m3u8") }
    fileprivate var isDASH: Bool { self.isOf(type: "dash+xml", suffix: ".mpd") }
}

extension AdvertisementContent.Tracker {
    /// Whether it belongs to the banner.
    fileprivate var isOfBanner: Bool { [AdTracker.bannerView, AdTracker.bannerClick].contains(self.event) }
}

extension Duration {
    /// In seconds, as exact as the wire has it.
    fileprivate var seconds: Double { Double(self.inMilliseconds) / 1_000 }
}

// MARK: - VAST

extension PlayerBreak {
    /// A VAST document without an ad.
    static let noVAST = VAST.document([])

    /// The ads as a VAST document: a pod in their order.
    ///
    /// - Throws: where no URL can be signed.
    func vast() throws(Problem) -> [UInt8] {
        var ads: [AdContent] = []
        for (index, advertisement) in self.advertisements.enumerated() {
            var ad = AdContent(advertisement)
            // Ads with a sequence are a pod (VAST 4.2 section 3.3.1), which a wrapper that allows one ad does not take.
            ad.sequence = self.advertisements.count > 1 ? index + 1 : nil
            ad.adSystem = "Cuecast"
            // The ad server's own one is the one that its logs have (VAST 4.2 section 3.4.3).
            ad.adServingID = ad.adServingID ?? self.keys.servingID(of: self.delivery, ordinal: self.ordinal(index))
            var events: [AdTracker] = []
            for kind in TrackingKind.allCases {
                let url = try self.trackingURL(kind, index)
                let tracker = AdTracker(event: kind.event, url: url)
                switch kind {
                case .impression: ad.impressions.insert(tracker, at: 0)
                case .error: ad.errorURLs.insert(url, at: 0)
                case .click: ad.clickTracking.insert(tracker, at: 0)
                case .start, .firstQuartile, .midpoint, .thirdQuartile, .complete, .skip, .mute, .unmute, .pause,
                    .resume:
                    events.append(tracker)
                }
            }
            ad.trackingEvents = events + ad.trackingEvents
            ads.append(ad)
        }
        return VAST.document(ads)
    }
}
