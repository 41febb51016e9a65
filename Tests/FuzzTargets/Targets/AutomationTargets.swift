// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import BreakDocuments
import TestSupport

extension FuzzTarget {
    /// Messages of automation systems: the first byte says the form.
    static let automation = FuzzTarget(
        name: "automation",
        sample: { generator in
            let form = UInt8.random(in: 0...3, using: &generator)
            let fields = generator.list(0...5) { ($0.pick(fieldNames), $0.pick(fieldValues)) }
            let text =
                switch form {
                case 0, 3: fields.map { "\($0)=\($1)" }.joined(separator: "&")
                case 1: "<now>" + fields.map { "<\($0)>\($1)</\($0)>" }.joined() + "</now>"
                default: "{" + fields.map { "\"\($0)\":\"\($1)\"" }.joined(separator: ",") + "}"
                }
            return [form] + Array(text.utf8)
        },
        change: { input, generator in changed(input, pieces: pieces, &generator) },
        fault: { input in
            firstBroken { () throws(Broken) in
                guard let form = input.first, let fields = read(Array(input.dropFirst()), as: form) else { return }
                try insist(fields.count <= AutomationLimits.fieldsMax, "\(fields.count) fields")
                for mapping in AutomationMapping.ready {
                    guard let element = try? mapping.element(fields) else { continue }
                    let again = try? mapping.element(fields)
                    try insist(
                        again == element,
                        "read twice it is \(element) and \(again.map { "\($0)" } ?? "nothing")"
                    )
                    let duration = element.durationMilliseconds
                    try insist(
                        duration.map { (1...AutomationLimits.durationMillisecondsMax).contains($0) } ?? true,
                        "a duration of \(duration ?? 0) ms"
                    )
                    for running in [nil, AutomationSignal.Running(startMilliseconds: 0, endMilliseconds: 1_000)] {
                        let signal = AutomationSignal(element, running: running, atMilliseconds: 500)
                        try insist((signal.kind == .out) == element.isAd, "\(element) became \(signal)")
                        let said = signal.durationMilliseconds ?? 1
                        try insist((1...AutomationLimits.durationMillisecondsMax).contains(said), "it lasts \(said) ms")
                    }
                }
            }
        }
    )
}

private func read(_ bytes: [UInt8], as form: UInt8) -> AutomationFields? {
    switch form % 4 {
    case 0: return try? AutomationFields(form: bytes)
    case 1: return try? AutomationFields(xml: bytes)
    case 2: return try? AutomationFields(json: bytes)
    default: return try? AutomationFields(line: bytes, pattern: nil)
    }
}

private let fieldNames = [
    "type", "songtype", "assetType", "Type", "duration", "songseconds", "Duration", "id", "songid", "song", "title",
]
private let fieldValues = [
    "ad", "4", "0", "Advertising", "SPOT", "music", "30", "29,5", "1:05", "01:00:00.5", "21600", "99999999999999",
    "a b",
]
private let pieces = [
    "&", "=", "%41", "%", "+", ":", "<", ">", "/", "@", "\"", "{", "}", "[", "]", ",", "<![CDATA[", "]]>", "&amp;",
    "<!DOCTYPE", "é", "type=ad", "-",
]
