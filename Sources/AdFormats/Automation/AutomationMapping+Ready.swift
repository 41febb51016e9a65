// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

// docs/broadcasters/from-your-automation.md says where each shape comes from.
extension AutomationMapping {
    /// The mappings for systems that are in use, by their names.
    package static let ready: [AutomationMapping] = [.liquidsoap, .mairlist, .radiodj, .nowPlayingXML]

    /// Liquidsoap: metadata as JSON; ads are annotated with `type="ad"`, and music has no type.
    package static let liquidsoap: AutomationMapping = {
        var mapping = AutomationMapping(name: "liquidsoap", type: ["cuecast_type", "type"], ads: .values(Self.adWords))
        mapping.isTypeOptional = true
        mapping.id = ["cuecast_id", "filename"]
        mapping.duration = ["cuecast_duration", "duration"]
        return mapping
    }()

    /// mAirList: an address of HTTP logging with `%I`, `%l` and `%g` in it.
    package static let mairlist: AutomationMapping = {
        var mapping = AutomationMapping(
            name: "mairlist",
            type: ["type", "assetType"],
            ads: .values(Self.adWords + ["werbung"])
        )
        mapping.id = ["id", "playoutId"]
        mapping.duration = ["duration"]
        return mapping
    }()

    /// RadioDJ: the custom data of the plugin Now Playing Info; track type 4 is a commercial.
    package static let radiodj: AutomationMapping = {
        var mapping = AutomationMapping(
            name: "radiodj",
            type: ["songtype", "tracktype", "track-type", "assetType"],
            ads: .values(["4", "commercial"])
        )
        mapping.id = ["songid", "trackid", "track_id", "playoutId"]
        mapping.duration = ["songseconds", "durationSeconds", "durationinSeconds", "duration"]
        return mapping
    }()

    /// "Now playing" documents in XML, as exporters of many systems have them.
    package static let nowPlayingXML: AutomationMapping = {
        var mapping = AutomationMapping(
            name: "now-playing-xml",
            type: ["Type", "assetType", "category", "@type", "song@type", "item/type", "song/type"],
            ads: .values(Self.adWords)
        )
        mapping.id = ["PlayoutId", "externalId", "id", "@id", "song@id", "item/id", "song/id"]
        mapping.duration = ["Duration", "@duration", "song@duration", "item/duration", "song/duration"]
        return mapping
    }()

    private static let adWords = ["ad", "ads", "advert", "advertisement", "advertising", "commercial", "spot"]
}
