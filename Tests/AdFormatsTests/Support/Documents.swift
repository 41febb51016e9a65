// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats

/// Small VAST documents, made of pieces.
enum Documents {
    /// One media file that can be played.
    static let media = """
        <MediaFile delivery="progressive" type="audio/mpeg" bitrate="128"><![CDATA[https://cdn.example.com/a.mp3]]></MediaFile>
        """

    /// A document of these ads.
    static func vast(_ ads: String..., version: String = "4.2", before: String = "") -> [UInt8] {
        Array("<VAST version=\"\(version)\">\n\(before)\(ads.joined(separator: "\n"))\n</VAST>".utf8)
    }

    /// An ad that can be played, unless a piece given says otherwise.
    static func ad(
        _ attributes: String = "",
        title: String = "An ad",
        duration: String? = "00:00:15",
        linearAttributes: String = "",
        media: String = Self.media,
        inLinear: String = "",
        inInLine: String = "",
        inCreatives: String = ""
    ) -> String {
        let durationElement = duration.map { "<Duration>\($0)</Duration>" } ?? ""
        return """
            <Ad \(attributes)><InLine><AdSystem>Tests</AdSystem><AdTitle>\(title)</AdTitle>
            <Impression><![CDATA[https://track.example.com/impression]]></Impression>\(inInLine)
            <Creatives><Creative><Linear \(linearAttributes)>\(durationElement)
            <MediaFiles>\(media)</MediaFiles>\(inLinear)</Linear></Creative>\(inCreatives)</Creatives></InLine></Ad>
            """
    }

    /// An ad that no player can play without VPAID.
    static func vpaid(_ attributes: String = "", title: String = "An interactive ad") -> String {
        self.ad(
            attributes,
            title: title,
            media: """
                <MediaFile apiFramework="VPAID" type="application/javascript">https://cdn.example.com/a.js</MediaFile>
                """
        )
    }

    /// A wrapper around an address.
    static func wrapper(_ attributes: String = "", uri: String = "https://ads.example.com/next") -> String {
        """
        <Ad \(attributes)><Wrapper><AdSystem>Tests</AdSystem><VASTAdTagURI><![CDATA[\(uri)]]></VASTAdTagURI>
        <Error>https://track.example.com/wrapper-error</Error>
        <Impression>https://track.example.com/wrapper</Impression></Wrapper></Ad>
        """
    }

    /// The one ad of a document.
    static func onlyAd(_ ad: String, options: VASTReadingOptions = VASTReadingOptions()) throws -> AdContent {
        let batch = try VAST.read(self.vast(ad), options: options)
        return batch.ads[0]
    }
}

/// The error that reading ends with; nil if it ends with a batch.
func readingError(_ document: some Sequence<UInt8>, options: VASTReadingOptions = VASTReadingOptions())
    -> AdFormatError?
{
    do throws(AdFormatError) {
        _ = try VAST.read(document, options: options)
        return nil
    } catch {
        return error
    }
}

/// The reasons of the ads that are not in the batch, whether or not there is one.
func skipReasons(_ document: [UInt8], options: VASTReadingOptions = VASTReadingOptions()) -> [SkipReason] {
    do throws(AdFormatError) {
        return try VAST.read(document, options: options).skipped.map(\.reason)
    } catch {
        guard case .nothingPlayable(let skipped) = error else { return [] }
        return skipped.map(\.reason)
    }
}
