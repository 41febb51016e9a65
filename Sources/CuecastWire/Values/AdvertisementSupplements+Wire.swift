// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

// MARK: - Protobuf

extension AdvertisementContent.Supplements {
    /// As they were sent; the rules are not looked at.
    init(wire: Cuecast_V1_Advertisement) {
        self.universalIDs = wire.universalIds.map { .init(registry: $0.registry, value: $0.value) }
        self.adServingID = wire.adServingID
        self.verifications = wire.verifications.map { .init(wire: $0) }
        self.icons = wire.icons.map { .init(wire: $0) }
        self.captions = wire.captions.map { .init(url: $0.url, type: $0.type, language: $0.language) }
        self.mezzanines = wire.mezzanines.map { .init(wire: $0) }
    }

    func put(into wire: inout Cuecast_V1_Advertisement) {
        guard self != Self() else { return }
        wire.universalIds = self.universalIDs.map { id in
            .with { ($0.registry, $0.value) = (id.registry, id.value) }
        }
        wire.adServingID = self.adServingID
        wire.verifications = self.verifications.map(\.wire)
        wire.icons = self.icons.map(\.wire)
        wire.captions = self.captions.map { file in
            .with { ($0.url, $0.type, $0.language) = (file.url, file.type, file.language) }
        }
        wire.mezzanines = self.mezzanines.map(\.wire)
    }
}

extension AdvertisementContent.Verification {
    fileprivate init(wire: Cuecast_V1_Verification) {
        self.init(
            resources: wire.resources.map { resource in
                var read = Resource(url: resource.url)
                read.apiFramework = resource.apiFramework
                read.isExecutable = resource.executable
                read.type = resource.type
                read.isBrowserOptional = resource.browserOptional
                return read
            }
        )
        self.vendor = wire.vendor
        self.parameters = wire.parameters
        self.trackers = wire.trackers.map { .init(wire: $0) }
    }

    fileprivate var wire: Cuecast_V1_Verification {
        .with {
            $0.vendor = self.vendor
            $0.resources = self.resources.map { resource in
                .with {
                    $0.url = resource.url
                    $0.apiFramework = resource.apiFramework
                    $0.executable = resource.isExecutable
                    $0.type = resource.type
                    $0.browserOptional = resource.isBrowserOptional
                }
            }
            $0.parameters = self.parameters
            $0.trackers = self.trackers.map(\.wire)
        }
    }
}

extension AdvertisementContent.Icon {
    fileprivate init(wire: Cuecast_V1_Icon) {
        self.init(imageURL: wire.imageURL)
        self.program = wire.program
        self.type = wire.type
        (self.width, self.height) = (wire.width, wire.height)
        (self.xPosition, self.yPosition) = (wire.xPosition, wire.yPosition)
        self.offset = wire.hasOffsetMs ? .milliseconds(wire.offsetMs) : nil
        self.duration = wire.hasDurationMs ? .milliseconds(wire.durationMs) : nil
        self.alternativeText = wire.alternativeText
        self.targetURL = wire.targetURL
        self.trackers = wire.trackers.map { .init(wire: $0) }
    }

    fileprivate var wire: Cuecast_V1_Icon {
        .with {
            $0.program = self.program
            $0.imageURL = self.imageURL
            $0.type = self.type
            ($0.width, $0.height) = (self.width, self.height)
            ($0.xPosition, $0.yPosition) = (self.xPosition, self.yPosition)
            if let offset = self.offset { $0.offsetMs = offset.inMilliseconds }
            if let duration = self.duration { $0.durationMs = duration.inMilliseconds }
            $0.alternativeText = self.alternativeText
            $0.targetURL = self.targetURL
            $0.trackers = self.trackers.map(\.wire)
        }
    }
}

// MARK: - Size

extension AdvertisementContent.Supplements {
    /// About what they take in memory: their texts, and the values that hold them.
    package var memoryBytes: Int {
        guard self != Self() else { return 0 }
        let resources = self.verifications.reduce(0) { $0 + $1.resources.count }
        let values = self.universalIDs.count + self.verifications.count + resources + self.icons.count
        return self.encodedByteCount + 192 * (values + self.captions.count + self.mezzanines.count + self.trackerCount)
    }

    /// How many bytes their fields have.
    var encodedByteCount: Int {
        guard self != Self() else { return 0 }
        var count = EncodedSize.text(self.adServingID)
        for id in self.universalIDs {
            count += EncodedSize.message(EncodedSize.text(id.registry) + EncodedSize.text(id.value))
        }
        for each in self.verifications { count += EncodedSize.message(each.encodedByteCount) }
        for icon in self.icons { count += EncodedSize.message(icon.encodedByteCount) }
        for file in self.captions {
            let size = EncodedSize.text(file.url) + EncodedSize.text(file.type) + EncodedSize.text(file.language)
            count += EncodedSize.message(size)
        }
        // The number of their field has a second byte.
        for file in self.mezzanines { count += 1 + EncodedSize.message(file.encodedByteCount) }
        return count
    }
}

extension AdvertisementContent.Verification {
    fileprivate var encodedByteCount: Int {
        var count = EncodedSize.text(self.vendor) + EncodedSize.text(self.parameters)
        for resource in self.resources {
            count += EncodedSize.message(
                EncodedSize.text(resource.url) + EncodedSize.text(resource.apiFramework)
                    + EncodedSize.flag(resource.isExecutable) + EncodedSize.text(resource.type)
                    + EncodedSize.flag(resource.isBrowserOptional)
            )
        }
        for tracker in self.trackers { count += EncodedSize.message(tracker.encodedByteCount) }
        return count
    }
}

extension AdvertisementContent.Icon {
    fileprivate var encodedByteCount: Int {
        var count = EncodedSize.text(self.program) + EncodedSize.text(self.imageURL) + EncodedSize.text(self.type)
        count += EncodedSize.number(self.width) + EncodedSize.number(self.height)
        count += EncodedSize.text(self.xPosition) + EncodedSize.text(self.yPosition)
        count += EncodedSize.text(self.alternativeText) + EncodedSize.text(self.targetURL)
        if let offset { count += EncodedSize.present(offset.inMilliseconds) }
        if let duration { count += EncodedSize.present(duration.inMilliseconds) }
        for tracker in self.trackers { count += EncodedSize.message(tracker.encodedByteCount) }
        return count
    }
}
