// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import CuecastWire

/// Breaks, sessions and advertisements that a load test makes up.
enum TestContent {
    /// A stream that no other run uses: `load-`, eight hexadecimal digits, a number.
    static func stream(run: UInt32, _ number: Int) throws(LoadError) -> StreamID {
        do throws(WireError) {
            return try StreamID("load-\(hexadecimal(run))-\(padded(number, 4))")
        } catch {
            throw .usage("\(error)")
        }
    }

    /// The break of this number in its stream.
    static func key(_ stream: StreamID, _ number: Int) throws(LoadError) -> BreakKey {
        do throws(WireError) {
            return BreakKey(stream: stream, id: try BreakID("break-\(self.padded(number, 4))"))
        } catch {
            throw .usage("\(error)")
        }
    }

    static func advertisementID(_ number: Int) throws(LoadError) -> AdvertisementID {
        do throws(WireError) {
            return try AdvertisementID("ad-\(self.padded(number, 3))")
        } catch {
            throw .usage("\(error)")
        }
    }

    /// The attribute that chooses the variant of a listener.
    static let attribute = "variant"

    /// The name of the variant with this number, from 1 on, and the value of its listeners' attribute; that of 0 fits none.
    static func variant(_ number: Int) -> String { "v\(self.padded(number, 2))" }

    /// The variants of a break beside `default`, each with as many advertisements of its own.
    static func variants(_ count: Int, advertisements: Int) throws(LoadError) -> [AudienceVariant] {
        var list: [AudienceVariant] = []
        for number in 1..<max(1, count) {
            let name = self.variant(number)
            list.append(
                AudienceVariant(
                    name: name,
                    conditions: [AudienceVariant.Condition(key: self.attribute, values: [name])],
                    advertisements: try self.advertisements(advertisements, from: number * advertisements)
                )
            )
        }
        return list
    }

    /// Advertisements of 15 s with one media file each.
    static func advertisements(_ count: Int, from first: Int = 0) throws(LoadError) -> [AdvertisementContent] {
        var list: [AdvertisementContent] = []
        for number in first..<first + count {
            list.append(
                AdvertisementContent(
                    id: try self.advertisementID(number),
                    title: "Load test advertisement \(self.padded(number, 3))",
                    duration: .seconds(15),
                    media: [
                        AdvertisementContent.MediaFile(
                            url: "https://media.example/load/\(self.padded(number, 3)).mp3",
                            type: "audio/mpeg"
                        )
                    ]
                )
            )
        }
        return list
    }

    /// A cued break: announced at once, open for an hour, its advertisements the same all the time.
    static func cuedBreak(
        _ key: BreakKey,
        advertisements: [AdvertisementContent],
        variants: [AudienceVariant] = []
    ) -> BroadcastRequest.Kind {
        var publish = BroadcastRequest.Publish(
            key: key,
            start: nil,
            duration: .seconds(15 * advertisements.count),
            advertisements: advertisements,
            hold: .seconds(3_600)
        )
        publish.variants = variants
        return .publish(publish)
    }

    /// A session id that looks random and is the same each time.
    static func session(seed: UInt64, connection: Int, number: Int) -> SessionID {
        let low = self.mix(seed &+ UInt64(connection) << 24 &+ UInt64(number))
        return SessionID(high: self.mix(low &+ seed), low: low)
    }

    /// SplitMix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators").
    private static func mix(_ value: UInt64) -> UInt64 { StableHash.mixed(value &+ 0x9E37_79B9_7F4A_7C15) }

    private static func hexadecimal(_ number: UInt32) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
