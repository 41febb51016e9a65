// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Reads the XML form of a section (the schema of SCTE 35 of 2023).
///
/// The outermost element is `SpliceInfoSection`, `Binary`, or `Signal` around one of them, in a namespace of SCTE 35 or in
/// none. `Ext` and attributes of other schemas are passed over.
struct SpliceSectionXMLReader {
    /// The bytes of the section; those of `Binary` as they are.
    static func bytes(_ document: [UInt8]) throws(SpliceSectionError) -> [UInt8] {
        let element = try self.content(document)
        if element.name == "Binary" { return try self.binary(element) }
        return try self.section(element).encoded()
    }

    /// The section, with the layout that `Binary` has, else without one.
    static func section(_ document: [UInt8]) throws(SpliceSectionError) -> SpliceInfoSection {
        let element = try self.content(document)
        if element.name == "Binary" { return try SpliceInfoSection(bytes: try self.binary(element)) }
        let section = try self.section(element)
        // The encoder refuses values that its fields cannot hold.
        _ = try section.encoded()
        return section
    }

    private static func content(_ document: [UInt8]) throws(SpliceSectionError) -> MarkupElement {
        var limits = AdFormatLimits()
        limits.documentBytesMax = SpliceSectionLimits.textBytesMax
        limits.elementsMax = SpliceSectionLimits.xmlElementsMax
        limits.depthMax = SpliceSectionLimits.xmlDepthMax
        let root: MarkupElement
        do throws(AdFormatError) {
            root = try MarkupReader.read(document, limits: limits)
        } catch {
            if case .malformed(let fault, let line, let column) = error {
                throw SpliceSectionError(.unreadableText, "XML", line: line, "column \(column): \(fault)")
            }
            throw SpliceSectionError(.tooLarge, "XML", "\(error.description.dropLast())")
        }
        let element = root.name == "Signal" ? root.children.first { $0.name != "Ext" } ?? root : root
        guard ["SpliceInfoSection", "Binary"].contains(element.name), self.isOurs(root), self.isOurs(element) else {
            let detail = "\(quoted(element.name)) is no SpliceInfoSection, Binary or Signal of SCTE 35"
            throw SpliceSectionError(.unreadableText, "XML", line: element.line, detail)
        }
        return element
    }

    /// Whether the namespace is one of SCTE 35, or none; undeclared prefixes end with a colon.
    private static func isOurs(_ element: MarkupElement) -> Bool {
        element.namespace.isEmpty || element.namespace.hasSuffix(":")
            || element.namespace.split(separator: "/").starts(with: ["http:", "www.scte.org", "schemas", "35"])
            || element.namespace.split(separator: "/").starts(with: ["https:", "scte.org", "schemas", "35"])
            || element.namespace.hasPrefix("urn:scte:scte35:")
    }

    private static func binary(_ element: MarkupElement) throws(SpliceSectionError) -> [UInt8] {
        let signal = XMLFields(element).text("signalType") ?? "SpliceInfoSection"
        guard signal == "SpliceInfoSection" else {
            throw XMLFields(element).fault("signalType", "\(quoted(signal)) is no SpliceInfoSection")
        }
        guard let bytes = try? Base64Text.bytes(element.text.utf8.filter { !MarkupReader.isSpace($0) }) else {
            throw XMLFields(element).fault("Binary", "\(quoted(element.text)) is no base64")
        }
        return bytes
    }

    private static func section(_ element: MarkupElement) throws(SpliceSectionError) -> SpliceInfoSection {
        let fields = XMLFields(element)
        var children = element.children.filter { $0.name != "Ext" }
        var encryption: XMLFields?
        if children.first?.name == "EncryptedPacket" { encryption = XMLFields(children.removeFirst()) }
        guard let first = children.first else { throw fields.fault("SpliceInfoSection", "it has no command") }
        var section = SpliceInfoSection(command: try self.command(first))
        for child in children.dropFirst() { section.descriptors.append(try XMLDescriptors.descriptor(child)) }
        if try fields.number("protocolVersion", max: UInt8.max) ?? 0 != 0 {
            throw fields.fault("protocolVersion", "it is not known; 0 is")
        }
        let sapType = try fields.number("sapType", max: UInt8(3)) ?? 3
        section.sapType = StreamAccessPointType(rawValue: sapType) ?? .notSpecified
        section.ptsAdjustmentTicks = try fields.number("ptsAdjustment", max: XMLFields.ticksMax) ?? 0
        section.tier = try fields.number("tier", max: UInt16(0xFFF)) ?? 0xFFF
        if let encryption {
            section.controlWordIndex = try encryption.required("cwIndex", max: UInt8.max)
            guard try encryption.required("encryptionAlgorithm", max: UInt8.max) == 0 else {
                let detail = "the section is to be encrypted, and encrypted sections are not read"
                throw SpliceSectionError(.encrypted, "encryptionAlgorithm", line: encryption.element.line, detail)
            }
        }
        return section
    }

    // MARK: Commands

    private static func command(_ element: MarkupElement) throws(SpliceSectionError) -> SpliceCommand {
        let fields = XMLFields(element)
        switch element.name {
        case "SpliceNull": return .spliceNull
        case "BandwidthReservation": return .bandwidthReservation
        case "TimeSignal": return .timeSignal(ptsTicks: try self.time(in: element))
        case "SpliceInsert": return .spliceInsert(try self.spliceInsert(fields))
        case "PrivateCommand":
            let identifier = try fields.required("identifier", max: UInt32.max)
            return .privateCommand(PrivateCommand(identifier: identifier, bytes: try fields.privateBytes()))
        case "SpliceSchedule":
            let detail = "it is not read: its events have a wall clock time and no place in the stream"
            throw SpliceSectionError(.unsupportedCommand(4), "SpliceSchedule", line: element.line, detail)
        default: throw fields.fault(element.name, "it is no command that is known")
        }
    }

    /// The time in an element; `nil`: there is none.
    private static func time(in element: MarkupElement) throws(SpliceSectionError) -> UInt64? {
        guard let time = element.children.first(where: { $0.name == "SpliceTime" }) else { return nil }
        return try XMLFields(time).number("ptsTime", max: XMLFields.ticksMax)
    }

    private static func spliceInsert(_ fields: XMLFields) throws(SpliceSectionError) -> SpliceInsert {
        let eventID = try fields.required("spliceEventId", max: UInt32.max)
        if try fields.flag("spliceEventCancelIndicator") ?? false { return SpliceInsert(eventID: eventID, event: nil) }
        let isOut = try fields.flag("outOfNetworkIndicator") ?? false
        let point = try self.splicePoint(fields, isImmediate: try fields.flag("spliceImmediateFlag") ?? false)
        var event = SpliceInsert.Event(isOutOfNetwork: isOut, splicePoint: point)
        if let duration = fields.child("BreakDuration") {
            let ticks = try duration.required("duration", max: XMLFields.ticksMax)
            event.breakDuration = BreakDuration(autoReturn: try duration.flag("autoReturn") ?? false, ticks: ticks)
        }
        event.eventIDIsCompliant = !(try fields.flag("eventIdComplianceFlag") ?? true)
        event.uniqueProgramID = try fields.number("uniqueProgramId", max: UInt16.max) ?? 0
        event.availNumber = try fields.number("availNum", max: UInt8.max) ?? 0
        event.availsExpected = try fields.number("availsExpected", max: UInt8.max) ?? 0
        return SpliceInsert(eventID: eventID, event: event)
    }

    private static func splicePoint(
        _ fields: XMLFields,
        isImmediate: Bool
    ) throws(SpliceSectionError) -> SpliceInsert.SplicePoint {
        let components = fields.element.children.filter { $0.name == "Component" }
        guard components.isEmpty else {
            var found: [SpliceInsert.Component] = []
            for component in components {
                let tag = try XMLFields(component).required("componentTag", max: UInt8.max)
                found.append(SpliceInsert.Component(tag: tag, ptsTicks: try self.time(in: component)))
            }
            return isImmediate ? .componentsImmediate(tags: found.map(\.tag)) : .components(found)
        }
        guard let program = fields.child("Program") else {
            throw fields.fault("SpliceInsert", "it has neither Program nor Component")
        }
        return isImmediate ? .programImmediate : .program(ptsTicks: try self.time(in: program.element))
    }
}

/// The attributes and children of an element of the XML form.
struct XMLFields {
    /// The largest time, in ticks of the 90 kHz clock.
    static let ticksMax: UInt64 = 0x1_FFFF_FFFF

    let element: MarkupElement

    init(_ element: MarkupElement) { self.element = element }

    func fault(_ field: String, _ detail: String) -> SpliceSectionError {
        SpliceSectionError(.unreadableText, field, line: self.element.line, detail)
    }

    func child(_ name: String) -> XMLFields? { self.element.children.first { $0.name == name }.map(XMLFields.init) }

    func text(_ name: String) -> String? { self.element.attributes.first { $0.name == name }?.value }

    /// A number; `nil`: the attribute is not there.
    func number<Number: FixedWidthInteger>(_ name: String, max: Number) throws(SpliceSectionError) -> Number? {
        guard let text = self.text(name) else { return nil }
        let digits = text.utf8.filter { !MarkupReader.isSpace($0) }
        let number = Number(String(decoding: digits, as: UTF8.self))
        guard digits.first != UInt8(ascii: "+"), let number, number >= 0, number <= max else {
            throw self.fault(name, "\(quoted(text)) is no number from 0 to \(max)")
        }
        return number
    }

    func required<Number: FixedWidthInteger>(_ name: String, max: Number) throws(SpliceSectionError) -> Number {
        guard let number = try self.number(name, max: max) else { throw self.fault(name, "it is missing") }
        return number
    }

    /// A flag; `nil`: the attribute is not there.
    func flag(_ name: String) throws(SpliceSectionError) -> Bool? {
        guard let text = self.text(name) else { return nil }
        switch String(decoding: text.utf8.filter { !MarkupReader.isSpace($0) }, as: UTF8.self) {
        case "1", "true": return true
        case "0", "false": return false
        default: throw self.fault(name, "\(quoted(text)) is neither true nor false")
        }
    }

    /// The bytes of the child `PrivateBytes`; of the element itself where it has no children.
    func privateBytes() throws(SpliceSectionError) -> [UInt8] {
        let text = self.child("PrivateBytes")?.element.text ?? (self.element.children.isEmpty ? self.element.text : "")
        guard let bytes = HexText.bytes(text.utf8.filter { !MarkupReader.isSpace($0) }) else {
            throw self.fault("PrivateBytes", "\(quoted(text)) are no hexadecimal digits of whole bytes")
        }
        return bytes
    }
}
