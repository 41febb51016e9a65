// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Takes values from VAST elements and remembers what it could not take.
struct VASTGleaner {
    /// The parts that were left out so far.
    private(set) var leftOut: [LeftOut] = []
    /// The bounds of what is taken.
    let limits: AdFormatLimits

    init(limits: AdFormatLimits) {
        self.limits = limits
    }

    /// Remembers that something was not taken.
    mutating func leave(_ element: MarkupElement, attribute: String? = nil, because reason: LeftOut.Reason) {
        let part = attribute.map { "\(element.name)@\($0)" } ?? element.name
        self.leftOut.append(LeftOut(part: part, line: element.line, reason: reason))
    }

    /// The URL that is the text of an element.
    mutating func url(of element: MarkupElement) -> String? {
        switch WebAddress(element.text, bytesMax: self.limits.urlBytesMax) {
        case .usable(let url): return url
        case .placeholder: return nil
        case .empty: self.leave(element, because: .noURL)
        case .unusable(let text): self.leave(element, because: .unusableURL(text))
        case .tooLong: self.leave(element, because: .urlTooLong(maximum: self.limits.urlBytesMax))
        }
        return nil
    }

    /// The URLs that are the texts of elements.
    mutating func urls(of elements: [MarkupElement]) -> [String] {
        elements.compactMap { self.url(of: $0) }
    }

    /// The URL of the first of some elements; further ones are left out.
    mutating func onlyURL(of elements: [MarkupElement]) -> String? {
        for further in elements.dropFirst() { self.leave(further, because: .anotherCameFirst) }
        return elements.first.flatMap { self.url(of: $0) }
    }

    /// Trackers of one event.
    mutating func trackers(_ event: String, of elements: [MarkupElement]) -> [AdTracker] {
        elements.compactMap { element in
            self.url(of: element).map { AdTracker(event: event, url: $0, id: self.identifier(element, "id")) }
        }
    }

    /// The trackers in the `TrackingEvents` of an element; nil for the duration where there is no playing time.
    mutating func trackingEvents(of parent: MarkupElement, durationMilliseconds: Int?) -> [AdTracker] {
        parent.children(named: "TrackingEvents").flatMap { $0.children(named: "Tracking") }
            .compactMap { element in
                guard let event = self.identifier(element, "event") else {
                    self.leave(element, attribute: "event", because: .unusableValue(element.attribute("event") ?? ""))
                    return nil
                }
                var tracker = AdTracker(event: event, url: "")
                // Only progress has an offset (VAST 4.3 section 3.14.1).
                if let durationMilliseconds, event == "progress" {
                    let text = element.attribute("offset") ?? ""
                    guard let offset = VASTTime.offset(text, durationMilliseconds: durationMilliseconds) else {
                        self.leave(element, because: .unusableOffset(text))
                        return nil
                    }
                    tracker.offsetMilliseconds = offset
                }
                guard let url = self.url(of: element) else { return nil }
                tracker.url = url
                return tracker
            }
    }

    /// The files in the `StaticResource` elements of an element.
    mutating func staticFiles(of parent: MarkupElement) -> [AdStaticFile] {
        parent.children(named: "StaticResource")
            .compactMap { element in
                let type = self.mediaType(element, "creativeType")
                return self.url(of: element).map { AdStaticFile(url: $0, type: type) }
            }
    }

    /// Text for people; nil where there is none.
    mutating func text(of element: MarkupElement?) -> String? {
        guard let element else { return nil }
        // A sign that a terminal would obey has no place in it, and is no reason to do without the rest.
        let readable = element.text.unicodeScalars.filter { !$0.isControl || $0 == "\n" || $0 == "\t" }
        let text = String(String.UnicodeScalarView(readable)).trimmed
        if text.utf8.count > self.limits.textBytesMax {
            self.leave(element, because: .shortened(maximum: self.limits.textBytesMax))
        }
        return text.isEmpty ? nil : text.prefix(bytesMax: self.limits.textBytesMax)
    }

    /// An attribute that counts something; nil where it is absent.
    ///
    /// Text that is not a number is left out.
    mutating func number(_ element: MarkupElement, _ attribute: String) -> Int? {
        self.number(element, attribute, text: element.attribute(attribute))
    }

    /// A size in pixels, with the unit `px` or without one; nil where it is absent.
    ///
    /// Other units, such as `%`, are left out.
    mutating func pixels(_ element: MarkupElement, _ attribute: String) -> Int? {
        let text = element.attribute(attribute)
        let hasUnit = text?.lowercased().hasSuffix("px") ?? false
        return self.number(element, attribute, text: hasUnit ? text?.dropLast(2).trimmed : text)
    }

    private mutating func number(_ element: MarkupElement, _ attribute: String, text: String?) -> Int? {
        guard let text else { return nil }
        let number = MarkupElement.number(text)
        if number == nil {
            self.leave(element, attribute: attribute, because: .unusableValue(element.attribute(attribute) ?? ""))
        }
        return number
    }

    /// An attribute with a MIME type; empty where it is absent.
    ///
    /// The end of a file's name, such as `jpg`, is read as its type.
    mutating func mediaType(_ element: MarkupElement, _ attribute: String) -> String {
        guard let text = element.attribute(attribute) else { return "" }
        if text.contains("/"), let type = self.identifier(element, attribute) {
            return VAST.misspelledTypes[type.lowercased()] ?? type
        }
        if let type = VAST.typesByEnding[text.lowercased()] { return type }
        self.leave(element, attribute: attribute, because: .unusableValue(text))
        return ""
    }

    /// An attribute that identifies something; nil where it is absent, too long to, or has control characters.
    func identifier(_ element: MarkupElement, _ attribute: String) -> String? {
        element.attribute(attribute).flatMap { self.isIdentifier($0) ? $0 : nil }
    }

    /// A text that identifies something; nil where it is absent, too long to, or has control characters.
    func identifier(_ element: MarkupElement?) -> String? {
        let text = element?.text.trimmed ?? ""
        return !text.isEmpty && self.isIdentifier(text) ? text : nil
    }

    private func isIdentifier(_ text: String) -> Bool {
        text.utf8.count <= self.limits.identifierBytesMax && !text.unicodeScalars.contains(where: \.isControl)
    }
}
