// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// The parts of an ad that are for others than the player, in the order of the schema of version 4.2.
extension VAST {
    static func writeViewability(of ad: AdContent, to writer: inout MarkupWriter) {
        guard !ad.viewability.isEmpty else { return }
        let elements: KeyValuePairs<StaticString, String> = [
            "Viewable": AdTracker.viewable, "NotViewable": AdTracker.notViewable,
            "ViewUndetermined": AdTracker.viewUndetermined,
        ]
        writer.element("ViewableImpression") { writer in
            for (name, event) in elements {
                for tracker in ad.viewability where tracker.event == event { writer.element(name, tracker.url) }
            }
        }
    }

    /// Without code whose framework is not said: players cannot run it (section 3.17.1, `apiFramework`).
    static func writeVerifications(of ad: AdContent, to writer: inout MarkupWriter) {
        let verifications = ad.verifications.compactMap { verification -> AdVerification? in
            var whole = verification
            whole.resources = verification.resources.filter { $0.apiFramework != nil }
            return whole.resources.isEmpty ? nil : whole
        }
        guard !verifications.isEmpty else { return }
        writer.element("AdVerifications") { writer in
            for verification in verifications { Self.write(verification, to: &writer) }
        }
    }

    private static func write(_ verification: AdVerification, to writer: inout MarkupWriter) {
        writer.element("Verification", ["vendor": verification.vendor]) { writer in
            for resource in verification.resources {
                guard case .executable(let type) = resource.kind else { continue }
                writer.element(
                    "ExecutableResource",
                    resource.url,
                    ["apiFramework": resource.apiFramework, "type": type.isEmpty ? nil : type]
                )
            }
            for resource in verification.resources where resource.kind == .javaScript {
                writer.element(
                    "JavaScriptResource",
                    resource.url,
                    [
                        "apiFramework": resource.apiFramework,
                        "browserOptional": resource.isBrowserOptional ? "true" : "false",
                    ]
                )
            }
            Self.write(verification.notExecuted, to: &writer)
            if let parameters = verification.parameters { writer.element("VerificationParameters", parameters) }
        }
    }

    /// Without the texts of icons, for which the schema has no place.
    static func writeIcons(of ad: AdContent, to writer: inout MarkupWriter) {
        let icons = ad.icons.compactMap { icon -> AdIcon? in
            var whole = icon
            whole.staticFiles = Self.typed(icon.staticFiles)
            let isWhole = !whole.staticFiles.isEmpty && (icon.width ?? 0) > 0 && (icon.height ?? 0) > 0
            return isWhole ? whole : nil
        }
        guard !icons.isEmpty else { return }
        writer.element("Icons") { writer in
            for icon in icons { Self.write(icon, to: &writer) }
        }
    }

    private static func write(_ icon: AdIcon, to writer: inout MarkupWriter) {
        let facts: KeyValuePairs<StaticString, String?> = [
            "program": icon.program, "width": "\(icon.width ?? 0)", "height": "\(icon.height ?? 0)",
            "xPosition": icon.xPosition ?? "left", "yPosition": icon.yPosition ?? "top",
            "duration": icon.durationMilliseconds.map(VASTTime.text),
            "offset": icon.offsetMilliseconds.map(VASTTime.text),
        ]
        writer.element("Icon", facts) { writer in
            for file in icon.staticFiles { writer.element("StaticResource", file.url, ["creativeType": file.type]) }
            if icon.clickThrough != nil || !icon.clickTracking.isEmpty {
                writer.element("IconClicks") { writer in
                    if let url = icon.clickThrough { writer.element("IconClickThrough", url) }
                    for tracker in icon.clickTracking {
                        writer.element("IconClickTracking", tracker.url, ["id": tracker.id])
                    }
                }
            }
            for tracker in icon.trackingEvents { writer.element("IconViewTracking", tracker.url) }
        }
    }

    static func writeCaptions(of ad: AdContent, to writer: inout MarkupWriter) {
        guard !ad.captionFiles.isEmpty else { return }
        writer.element("ClosedCaptionFiles") { writer in
            for file in ad.captionFiles {
                writer.element(
                    "ClosedCaptionFile",
                    file.url,
                    ["type": file.type.isEmpty ? nil : file.type, "language": file.language]
                )
            }
        }
    }
}
