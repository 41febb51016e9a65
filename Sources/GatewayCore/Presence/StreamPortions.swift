// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire

/// Sends the values of streams out in portions, one after the other and then from the first again.
package struct StreamPortions: Sendable {
    /// The streams of this round that were not sent yet, in their order.
    private var rest: ArraySlice<StreamID> = []
    /// The last one that was sent; `nil`: the next portion is the first of a round.
    private var after: StreamID?

    package init() {}

    /// The next portion.
    ///
    /// - Parameters:
    ///   - offset: of which record the values are; 0: of now.
    ///   - bytesMax: about the most bytes that it may have.
    ///   - streams: all that have values now; asked for once a round.
    ///   - value: of a stream; `nil`: it has none any more.
    /// - Returns: the portion.
    package mutating func next(
        of offset: UInt64 = 0,
        bytesMax: Int = GatewayBeat.portionBytesMax,
        streams: () -> [StreamID],
        value: (StreamID) -> UInt64?
    ) -> StreamPortion {
        if self.rest.isEmpty {
            self.after = nil
            self.rest = streams().sorted()[...]
        }
        var values: [StreamPortion.Value] = []
        var bytes = 0
        let begin = self.after
        while let stream = self.rest.first {
            // Of an id, a number and what protobuf puts around them.
            bytes += stream.description.utf8.count + 16
            guard bytes <= bytesMax || values.isEmpty else { break }
            self.rest.removeFirst()
            self.after = stream
            if let value = value(stream) { values.append(StreamPortion.Value(stream: stream, value: value)) }
        }
        let through = self.rest.isEmpty ? nil : self.after
        return StreamPortion(after: begin, through: through, values: values, offset: offset)
    }

    /// The next portion is the first of a new round.
    package mutating func restart() {
        self.rest = []
        self.after = nil
    }
}

/// How many listen to each stream at the other gateways: their portions put together.
package struct StreamSums: Sendable {
    /// The most counts that are kept, of all gateways together.
    package static let remoteCountsMax = LimitName.remoteCountsMax.value

    private let countsMax: Int
    /// Of each gateway, in the order of the streams.
    private var gateways: [UInt64: [StreamPortion.Value]] = [:]
    private var count = 0
    /// Of each stream, over all gateways.
    package private(set) var sums: [StreamID: Int] = [:]
    /// How often a stream won its first listener at the other gateways or lost its last: while that stays, the same streams have some.
    package private(set) var version: UInt64 = 0

    /// - Parameter countsMax: the most counts that are kept.
    package init(countsMax: Int = Self.remoteCountsMax) { self.countsMax = countsMax }

    /// How many counts are kept.
    package var keptCount: Int { self.count }

    /// Takes a portion of a gateway.
    ///
    /// - Parameters:
    ///   - portion: the newest one of its range.
    ///   - gateway: which one.
    /// - Returns: whether there was room for all of it.
    package mutating func take(_ portion: StreamPortion, of gateway: UInt64) -> Bool {
        var values = self.gateways[gateway] ?? []
        let begin = portion.after.map { after in values.place { $0.stream > after } } ?? 0
        let end = portion.through.map { through in values.place { $0.stream > through } } ?? values.count
        let range = begin..<max(begin, end)
        let room = self.countsMax - self.count + range.count
        let taken = portion.values.prefix(max(0, room))
        for each in values[range] { self.add(each.stream, -each.count) }
        for each in taken { self.add(each.stream, each.count) }
        self.count += taken.count - range.count
        values.replaceSubrange(range, with: taken)
        self.gateways[gateway] = values
        return taken.count == portion.values.count
    }

    /// A gateway has gone: its listeners come back at others.
    package mutating func drop(_ gateway: UInt64) {
        guard let values = self.gateways.removeValue(forKey: gateway) else { return }
        for each in values { self.add(each.stream, -each.count) }
        self.count -= values.count
    }

    /// The gateways of which counts are kept.
    package var known: [UInt64] { Array(self.gateways.keys) }

    private mutating func add(_ stream: StreamID, _ change: Int) {
        let before = self.sums[stream] ?? 0
        let sum = before + change
        self.sums[stream] = sum == 0 ? nil : sum
        if (before == 0) != (sum == 0) { self.version += 1 }
    }
}

extension StreamPortion.Value {
    /// As it is added up: it comes from outside, and no sum of as many as are kept may trap.
    fileprivate var count: Int { Int(min(self.value, UInt64(UInt32.max))) }
}

extension Array {
    /// The first place whose element, and all behind it, are as asked.
    fileprivate func place(where isBehind: (Element) -> Bool) -> Int {
        var (low, high) = (0, self.count)
        while low < high {
            let middle = (low + high) / 2
            if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
