// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The parts that make a linear creative playable: its media and its duration.
struct VASTLinear {
    /// The `Linear` element.
    let element: MarkupElement
    /// The media that can be played without running code; at least one.
    let mediaFiles: [AdMediaFile]
    /// How long it plays, in milliseconds; at least 1.
    let durationMilliseconds: Int

    /// Reads a `Linear` element, or says why it cannot be played.
    init(
        _ element: MarkupElement,
        creative: MarkupElement,
        options: VASTReadingOptions,
        gleaner: inout VASTGleaner
    ) throws(SkipReason) {
        self.element = element
        self.mediaFiles = try Self.mediaFiles(of: element, creative: creative, gleaner: &gleaner)
        self.durationMilliseconds = try Self.duration(of: element, options: options)
    }

    private static func duration(of linear: MarkupElement, options: VASTReadingOptions) throws(SkipReason) -> Int {
        guard let element = linear.child("Duration"), !element.text.trimmed.isEmpty else { throw .noDuration }
        let text = element.text.trimmed
        guard let duration = VASTTime.duration(text), duration > 0 else {
            throw .unusableDuration(text, line: element.line)
        }
        guard duration <= options.durationMillisecondsMax else {
            throw .tooLong(milliseconds: duration, maximum: options.durationMillisecondsMax)
        }
        return duration
    }

    // MARK: Media

    private static func mediaFiles(
        of linear: MarkupElement,
        creative: MarkupElement,
        gleaner: inout VASTGleaner
    ) throws(SkipReason) -> [AdMediaFile] {
        let before = gleaner.leftOut.count
        var files: [AdMediaFile] = []
        // Mezzanine, InteractiveCreativeFile and ClosedCaptionFiles are there too; players need other things from them.
        let elements = linear.children(named: "MediaFiles").flatMap { $0.children(named: "MediaFile") }
        for element in elements {
            guard let file = self.mediaFile(element, creative: creative, gleaner: &gleaner) else { continue }
            guard files.count < gleaner.limits.mediaFilesPerAdMax else {
                let maximum = gleaner.limits.mediaFilesPerAdMax
                gleaner.leave(
                    element,
                    because: .pastLimit(.mediaFilesPerAdMax, maximum: maximum)
                )
                continue
            }
            files.append(file)
        }
        guard files.isEmpty else { return files }
        let leftOut = Array(gleaner.leftOut[before...])
        let frameworks = leftOut.compactMap { self.framework($0.reason) }
        guard !elements.isEmpty else {
            let interactive = linear.child("MediaFiles")?.child("InteractiveCreativeFile")
            throw interactive.map { .needsFramework($0.attribute("apiFramework") ?? "SIMID") } ?? .noMediaFile
        }
        if let name = frameworks.first, frameworks.count == leftOut.count { throw .needsFramework(name) }
        throw .noUsableMediaFile(leftOut)
    }

    private static func framework(_ reason: LeftOut.Reason) -> String? {
        switch reason {
        case .needsFramework(let name): name
        case .executable(let type): type
        default: nil
        }
    }

    private static func mediaFile(
        _ element: MarkupElement,
        creative: MarkupElement,
        gleaner: inout VASTGleaner
    ) -> AdMediaFile? {
        let type = gleaner.mediaType(element, "type")
        if let framework = self.codeFramework(of: element, type: type, creative: creative) {
            gleaner.leave(element, because: .needsFramework(framework))
            return nil
        }
        if self.isExecutable(type) {
            gleaner.leave(element, because: .executable(type: type))
            return nil
        }
        return self.plainFile(element, type: type, gleaner: &gleaner)
    }

    /// A file, whatever its type.
    static func plainFile(_ element: MarkupElement, type: String, gleaner: inout VASTGleaner) -> AdMediaFile? {
        guard let url = gleaner.url(of: element) else { return nil }
        var file = AdMediaFile(url: url, type: type, delivery: self.delivery(element.attribute("delivery"), type: type))
        file.id = gleaner.identifier(element, "id")
        file.codec = gleaner.identifier(element, "codec")
        file.bitrate = gleaner.number(element, "bitrate")
        file.bitrateMin = gleaner.number(element, "minBitrate")
        file.bitrateMax = gleaner.number(element, "maxBitrate")
        file.width = gleaner.pixels(element, "width")
        file.height = gleaner.pixels(element, "height")
        return file
    }

    /// The framework without which a media file is of no use because it runs the file's code; `nil`: it is plain media.
    ///
    /// Other names say nothing of code: in the samples of the IAB plain MP4 files have `apiFramework="VAST"`. What a
    /// creative names concerns those of its files that neither name one themselves nor are of a type that plays as it is.
    private static func codeFramework(
        of element: MarkupElement,
        type: String,
        creative: MarkupElement
    ) -> String? {
        if let own = self.framework(named: element) { return self.runsCode(own) ? own : nil }
        guard let general = self.framework(named: creative), self.runsCode(general) else { return nil }
        return self.isPlainMedia(type) ? nil : general
    }

    private static func framework(named element: MarkupElement) -> String? {
        element.attribute("apiFramework").flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Also with a version behind the name, as in `VPAID 2.0`.
    private static func runsCode(_ framework: String) -> Bool {
        let framework = framework.lowercased()
        return ["vpaid", "simid", "javascript", "flash"].contains { framework.hasPrefix($0) }
    }

    private static func isPlainMedia(_ type: String) -> Bool {
        let type = type.lowercased()
        return type.hasPrefix("audio/") || type.hasPrefix("video/") || self.isPlaylist(type)
    }

    /// Whether a type, in small letters, is that of a stream in segments.
    private static func isPlaylist(_ type: String) -> Bool {
        type.contains("mpegurl") || type.contains("dash+xml")
    }

    /// Whether a file of a MIME type is a program: scripts, pages and Flash, with which VPAID came before it was named.
    private static func isExecutable(_ type: String) -> Bool {
        let type = type.lowercased()
        return type.contains("javascript") || type.contains("ecmascript") || type.contains("html")
            || type.contains("shockwave")
    }

    private static func delivery(_ text: String?, type: String) -> AdMediaFile.Delivery {
        if let delivery = text.flatMap({ AdMediaFile.Delivery(rawValue: $0.lowercased()) }) { return delivery }
        return self.isPlaylist(type.lowercased()) ? .streaming : .progressive
    }
}
