// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import SwiftProtobuf

/// Values of all streams whose ids lie in a range: a stream of the range that is not named has none.
///
/// Many streams go out in several portions. Each tells a range whole, so that one that is lost takes nothing with it but its own news.
package struct StreamPortion: Hashable, Sendable {
    package struct Value: Hashable, Sendable {
        package let stream: StreamID
        package let value: UInt64

        package init(stream: StreamID, value: UInt64) {
            self.stream = stream
            self.value = value
        }
    }

    /// The range begins behind this id; `nil`: with the first.
    package let after: StreamID?
    /// And ends with this one; `nil`: with the last.
    package let through: StreamID?
    /// In the order of their ids.
    package let values: [Value]
    /// Of which record of the lane `breaks` they are; 0: of now.
    package let offset: UInt64

    package init(after: StreamID?, through: StreamID?, values: [Value], offset: UInt64 = 0) {
        self.after = after
        self.through = through
        self.values = values
        self.offset = offset
    }

    /// Whether an id lies in the range.
    package func covers(_ stream: StreamID) -> Bool {
        (self.after.map { $0 < stream } ?? true) && (self.through.map { stream <= $0 } ?? true)
    }

    init(wire: Cuecast_V1_StreamPortion) throws(WireError) {
        let after = wire.after.isEmpty ? nil : try StreamID(wire.after)
        let through = wire.through.isEmpty ? nil : try StreamID(wire.through)
        var values: [Value] = []
        for each in wire.values { values.append(Value(stream: try StreamID(each.stream), value: each.value)) }
        self.init(after: after, through: through, values: values, offset: wire.offset)
        guard zip(values, values.dropFirst()).allSatisfy({ $0.stream < $1.stream }) else {
            throw .invalid(field: "values", rule: "streams stand in the order of their ids, each once")
        }
        guard values.allSatisfy({ self.covers($0.stream) }) else {
            throw .invalid(field: "values", rule: "every stream lies in the range")
        }
    }

    var wire: Cuecast_V1_StreamPortion {
        .with {
            $0.after = self.after?.description ?? ""
            $0.through = self.through?.description ?? ""
            $0.values = self.values.map { each in
                .with {
                    $0.stream = each.stream.description
                    $0.value = each.value
                }
            }
            $0.offset = self.offset
        }
    }
}
