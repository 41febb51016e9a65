// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import Foundation

/// The scripts of a web view, and the reading of their results.
///
/// No framework is needed for it, so that it is tested where there is no web view.
enum WebContent {
    /// Where an image leads whose own address may not be opened: nothing opens that, but it is noticed.
    static let refusedLink = "cuecast:refused"

    /// The document that shows `content`: an image becomes one, as wide as the view, and a link where it leads somewhere.
    ///
    /// An address that may not be opened is not in the document, where it could do something by itself.
    static func document(for content: AdContent) -> String {
        guard content.isImage else { return String(decoding: content.bytes, as: UTF8.self) }
        let image = Data(content.bytes).base64EncodedString()
        let text = self.escaped(content.alternativeText ?? "")
        let type = self.escaped(content.mediaType)
        var body = "<img alt=\"\(text)\" style=\"width:100%;display:block\" src=\"data:\(type);base64,\(image)\">"
        if let target = content.targetURL, !target.isEmpty {
            let link = (try? ClickThrough(target)) == nil ? self.refusedLink : target
            body = "<a href=\"\(self.escaped(link))\">\(body)</a>"
        }
        return
            "<!doctype html><meta name=\"viewport\" content=\"width=device-width\"><body style=\"margin:0\">\(body)</body>"
    }

    /// A text as the value of an attribute; by scalars, because a quote with a mark on it is a quote too.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { escaped, scalar in
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
    }

    // MARK: The height

    /// The name under which the document's height is told.
    static let heightMessage = "cuecastHeight"

    /// A script whose value is the height of the document's content in points.
    ///
    /// `scrollHeight` is never less than the height of the view: a view could grow and never shrink. So the boxes of what is
    /// in the document count: the outermost one (in quirks mode, where it is as high as the view, what is in the body), what
    /// is placed absolutely, and what overflows the view.
    static let heightScript = """
        (() => {
            const root = document.documentElement, body = document.body;
            if (!root || !body) { return 0; }
            const top = root.getBoundingClientRect().top;
            let bottom = top;
            if (document.compatMode === "BackCompat") {
                const range = document.createRange();
                range.selectNodeContents(body);
                const content = range.getBoundingClientRect(), style = getComputedStyle(body);
                if (content.height > 0) {
                    bottom = content.bottom + parseFloat(style.paddingBottom) + parseFloat(style.marginBottom);
                }
            } else {
                bottom = root.getBoundingClientRect().bottom;
            }
            for (const element of body.getElementsByTagName("*")) {
                const box = element.getBoundingClientRect();
                if (box.height > 0 && getComputedStyle(element).position === "absolute") {
                    bottom = Math.max(bottom, box.bottom);
                }
            }
            if (root.scrollHeight > window.innerHeight) { bottom = Math.max(bottom, top + root.scrollHeight); }
            return Math.ceil(bottom - top);
        })()
        """

    /// A script that tells the height whenever the document's layout changes.
    static let observingScript = """
        (() => {
            const tell = () => {
                window.webkit.messageHandlers.\(heightMessage).postMessage(\(heightScript));
            };
            const observer = new ResizeObserver(tell);
            observer.observe(document.documentElement);
            if (document.body) { observer.observe(document.body); }
            window.addEventListener("resize", tell);
            // Images that come later: their events do not bubble, but they can be caught on the way down.
            window.addEventListener("load", tell, true);
        })()
        """

    /// The height that a script told; `nil`: none that a view can have.
    static func height(_ value: Double?) -> CGFloat? {
        guard let value, value.isFinite, value >= 0 else { return nil }
        return CGFloat(value)
    }

    // MARK: Where the document wants to go

    /// The address that the user chose, as the content has it; `nil`: the content as a whole.
    static func chosen(_ address: String?) -> String? {
        address == self.refusedLink ? nil : address
    }

    /// The decision about a navigation.
    enum Navigation: Equatable {
        /// It happens within the view.
        case stays
        /// The user chose it: it is a click, and opens outside.
        case click
        /// It does not happen.
        case refused
    }

    /// Decides about a navigation.
    ///
    /// A document may load itself, and frames and pages of the web. A script's own step cannot be told from a user's there.
    ///
    /// - Parameters:
    ///   - isLink: the user followed a link.
    ///   - opensWindow: it is to open in a new window: of scripts only those may that a user has just caused to run.
    ///   - scheme: the scheme of the address; `nil`: it has none.
    /// - Returns: the decision about it.
    static func navigation(isLink: Bool, opensWindow: Bool, scheme: String?) -> Navigation {
        if isLink || opensWindow { return .click }
        return ["http", "https", "about", "data", "blob"].contains(scheme?.lowercased() ?? "") ? .stays : .refused
    }
}
