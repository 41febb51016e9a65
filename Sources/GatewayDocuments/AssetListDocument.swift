// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// A list of the assets of an HLS interstitial (RFC 8216bis appendix D.2, `X-ASSET-LIST`), with creative signaling (SVTA 2053-2) for what
/// is to be called.
package struct AssetListDocument: GatewayDocument {
    package struct Asset: GatewayDocument {
        package var uri: String
        package var duration: Double
        package var signaling: Signaling?

        package init(uri: String, duration: Double, signaling: Signaling? = nil) {
            self.uri = uri
            self.duration = duration
            self.signaling = signaling
        }

        private enum CodingKeys: String, CodingKey {
            case uri = "URI"
            case duration = "DURATION"
            case signaling = "X-AD-CREATIVE-SIGNALING"
        }

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("URI", .text, "The media: HLS where the ad has it."),
            DocumentField("DURATION", .number),
            .optional("X-AD-CREATIVE-SIGNALING", .document(Signaling.self)),
        ])
    }

    package struct Signaling: GatewayDocument {
        package var version = 2
        package var type = "slot"
        package var payload: [Slot]

        package init(payload: [Slot]) {
            self.payload = payload
        }

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("version", .integer(2...2)), DocumentField("type", .oneOf(["slot"])),
            DocumentField("payload", .array(of: .document(Slot.self))),
        ])
    }

    package struct Slot: GatewayDocument {
        package var type = "linear"
        package var start = 0
        package var duration: Double
        package var identifiers: [Identifier]
        package var skipOffset: Double?
        package var clickThrough: String?
        package var tracking: [Tracking]

        package init(
            duration: Double,
            identifiers: [Identifier],
            skipOffset: Double? = nil,
            clickThrough: String? = nil,
            tracking: [Tracking] = []
        ) {
            self.duration = duration
            self.identifiers = identifiers
            self.skipOffset = skipOffset
            self.clickThrough = clickThrough
            self.tracking = tracking
        }

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("type", .oneOf(["linear"])), DocumentField("start", .number),
            DocumentField("duration", .number),
            DocumentField("identifiers", .array(of: .document(Identifier.self))),
            .optional("skipOffset", .number), .optional("clickThrough", .text),
            DocumentField("tracking", .array(of: .document(Tracking.self))),
        ])
    }

    package struct Identifier: GatewayDocument {
        package var scheme = "urn:cuecast:advertisement"
        package var value: String

        package init(value: String) {
            self.value = value
        }

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("scheme", .text), DocumentField("value", .text),
        ])
    }

    package struct Tracking: GatewayDocument {
        package var type: String
        package var offset: Double?
        package var urls: [String]

        package init(type: String, offset: Double? = nil, urls: [String]) {
            self.type = type
            self.offset = offset
            self.urls = urls
        }

        package static let documentDescription = DocumentDescription(fields: [
            DocumentField("type", .text), .optional("offset", .number), DocumentField("urls", .array(of: .text)),
        ])
    }

    package var assets: [Asset]

    package init(assets: [Asset]) {
        self.assets = assets
    }

    private enum CodingKeys: String, CodingKey {
        case assets = "ASSETS"
    }

    package static let documentDescription = DocumentDescription(
        name: "AssetList",
        fields: [DocumentField("ASSETS", .array(of: .document(Asset.self)))]
    )

    package static let example = AssetListDocument(assets: [
        Asset(
            uri: "https://cdn.example.com/spring/main.m3u8",
            duration: 30,
            signaling: Signaling(payload: [
                Slot(
                    duration: 30,
                    identifiers: [Identifier(value: "spring-sale-30")],
                    skipOffset: 5,
                    clickThrough: "https://shop.example.com/spring",
                    tracking: [
                        Tracking(
                            type: "complete",
                            urls: ["https://gateway.example.com/v1/streams/radio1/breaks/noon-1/track/AQYA…"]
                        )
                    ]
                )
            ])
        )
    ])
}
