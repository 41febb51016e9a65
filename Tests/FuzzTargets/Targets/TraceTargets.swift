// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import TestSupport

extension FuzzTarget {
    /// The header that says which trace a request belongs to.
    static let traceParent = FuzzTarget(
        name: "trace-parent",
        sample: { generator in
            let version = generator.pick(["00", "00", "01", "cc", "ff"])
            let more = version == "00" ? "" : generator.pick(["", "-", "-more"])
            return Array((version + generator.trace().header.dropFirst(2) + more).utf8)
        },
        change: { input, generator in
            var bytes = input
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &generator)))
            case 1: bytes += generator.list(0...4) { generator in generator.pick(Array("-0a,A ".utf8)) }
            default:
                guard !bytes.isEmpty else { break }
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                bytes[place] = generator.pick(Array("0123456789abcdefABCDEFg- \u{0}\u{7F}".utf8))
            }
            return bytes
        },
        fault: { input in
            firstBroken { () throws(Broken) in
                let text = String(decoding: input, as: UTF8.self)
                guard let parent = TraceParent(text) else { return }
                // What is taken is as section 3.2 of Trace Context writes it.
                let context = parent.context
                try insist(text.dropFirst(2).hasPrefix(context.header.dropFirst(2).dropLast(3)), "the ids are others")
                try insist(context.traceHigh | context.traceLow != 0 && context.span != 0, "an id is zero")
                try insist(!text.hasPrefix("ff"), "there is no version ff")
                try insist(text.utf8.count == TraceParent.byteCount || !text.hasPrefix("00"), "it is too long")
                try insist(TraceParent(context.header)?.context == context, "it is not written as it is read")
            }
        }
    )
}
