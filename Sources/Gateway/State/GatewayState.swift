// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import CuecastWire
import GatewayCore

/// The state that one run of a gateway leaves for the next, beside the books: its clock, and the number of listeners.
///
/// Nothing here is needed to be right: what is missing, damaged or old is ignored.
package struct GatewayState: Hashable, Sendable {
    /// The gateway time when this was written: the next run does not show an earlier one.
    package var time: Timestamp
    /// The newest time of the books that an operator has called wrong (`--accept-clock`); `nil`: none.
    package var acceptedNewest: Timestamp?
    /// How many listened to each stream.
    package var listeners: [StreamID: Int]

    package init(time: Timestamp, acceptedNewest: Timestamp? = nil, listeners: [StreamID: Int] = [:]) {
        self.time = time
        self.acceptedNewest = acceptedNewest
        self.listeners = listeners
    }
}

/// The bounds of what is left for the next run.
package enum GatewayStateLimits {
    /// The longest file that is read.
    package static let bytesMax = 1_048_576
    /// Listeners are forgotten after so long: many of them have gone meanwhile.
    package static let listenersAgeMax: Duration = .seconds(3_600)
    /// The most listeners of one stream that are believed.
    package static let listenersMax = 10_000_000
}

/// Where a gateway leaves its state.
package protocol GatewayStateStore: Sendable {
    /// The state of the run before; `nil`: none that can be used.
    func load() -> GatewayState?
    /// Keeps it; returns whether that worked.
    func save(_ state: GatewayState) -> Bool
    /// Keeps another time with what was kept last; returns whether that worked.
    func save(time: Timestamp) -> Bool
}

/// The file `gateway.state` in the data directory.
///
/// Lines of text: what it is, then `time`, `accepted` and one `listeners STREAM NUMBER` for each stream, and `end` with how
/// many lines there are, so that half a file is known as one.
package struct GatewayStateFile: GatewayStateStore {
    package static let fileName = "gateway.state"
    private static let title = "cuecast gateway state 1"

    private let file: StateFile

    package init(directory: String) {
        self.file = StateFile(directory: directory, name: Self.fileName, bytesMax: GatewayStateLimits.bytesMax)
    }

    package func load() -> GatewayState? {
        guard let bytes = self.file.read(), let text = String(validating: bytes, as: UTF8.self) else { return nil }
        return Self.state(of: text)
    }

    package func save(_ state: GatewayState) -> Bool { self.file.write(Array(Self.text(of: state).utf8)) }

    package func save(time: Timestamp) -> Bool {
        self.file.overwrite(Array(Self.text(of: time).utf8), at: Self.title.utf8.count + "\ntime ".utf8.count)
    }

    /// Always as long, so that it can be written over.
    private static func text(of time: Timestamp) -> String {
        let digits = String(time.microseconds.magnitude)
        let zeros = String(repeating: "0", count: max(0, Self.timeDigits - digits.count))
        return (time.microseconds < 0 ? "-" : "+") + zeros + digits
    }

    /// As many as the largest number of 64 bits has.
    private static let timeDigits = 19

    static func text(of state: GatewayState) -> String {
        var lines = [Self.title, "time \(Self.text(of: state.time))"]
        if let accepted = state.acceptedNewest { lines.append("accepted \(accepted.microseconds)") }
        for (stream, count) in state.listeners.sorted(by: { $0.key < $1.key }).prefix(BoardLimits.streamsMax) {
            lines.append("listeners \(stream) \(count)")
        }
        return lines.joined(separator: "\n") + "\nend \(lines.count)\n"
    }

    static func state(of text: String) -> GatewayState? {
        guard text.hasSuffix("\n") else { return nil }
        var lines = text.dropLast().split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.popLast().map({ $0 == "end \(lines.count)" }) ?? false,
            lines.first.map({ $0 == Self.title }) ?? false
        else { return nil }
        var state = GatewayState(time: Timestamp(microseconds: .min))
        for line in lines.dropFirst() {
            let words = line.split(separator: " ", omittingEmptySubsequences: false)
            switch words.first {
            case "time" where words.count == 2:
                guard let time = Int64(words[1]) else { return nil }
                state.time = Timestamp(microseconds: time)
            case "accepted" where words.count == 2:
                guard let time = Int64(words[1]) else { return nil }
                state.acceptedNewest = Timestamp(microseconds: time)
            case "listeners" where words.count == 3:
                guard let stream = try? StreamID(String(words[1])), let count = Int(words[2]),
                    (0...GatewayStateLimits.listenersMax).contains(count)
                else { return nil }
                state.listeners[stream] = count
            // A later version may say more.
            default: continue
            }
        }
        return state.time.microseconds == .min ? nil : state
    }
}
