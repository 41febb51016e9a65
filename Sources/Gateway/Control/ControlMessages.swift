// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import GatewayCore
import GatewayDocuments

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The bounds of the control socket.
package enum ControlLimits {
    /// The most connections at once; a further one gets this reason and is closed.
    package static let connectionsMax = LimitName.controlConnectionsMax.value
    /// The longest line of a command, in bytes, without its end.
    package static let lineBytesMax = LimitName.controlLineBytesMax.value
    /// The longest line of an answer, in bytes.
    package static let answerBytesMax = LimitName.controlAnswerBytesMax.value
    /// Progress is left out while so many bytes wait for a client that does not read.
    package static let progressBytesWaitingMax = 65_536
    /// How long a client waits for a sign of life of the gateway: many times `ControlTimes.stillRunningInterval`.
    package static let silenceMax: Duration = .seconds(60)
}

/// The times of the control socket.
package struct ControlTimes: Hashable, Sendable {
    /// How long a client may take to send its next command.
    package var idleTimeout: Duration = .milliseconds(LimitName.controlIdleTimeout.value)
    /// How long a client may take to read anything of what waits for it.
    package var readTimeout: Duration = .milliseconds(LimitName.controlReadTimeout.value)
    /// The interval of messages to a client that its command still runs.
    package var stillRunningInterval: Duration = .seconds(5)

    package init() {}
}

/// Why a command was not carried out.
package struct ControlError: Error, Hashable, Sendable, CustomStringConvertible {
    /// For people.
    package let sentence: String
    /// The exit code of the command: 64 usage, 65 bad data, 69 unavailable, 1 a difference was found.
    package let exitCode: Int32

    package init(_ sentence: String, exitCode: Int32 = 69) {
        self.sentence = sentence
        self.exitCode = exitCode
    }

    package var description: String { self.sentence }
}

/// A command as it comes: `{"command": "clock", …}`.
struct ControlRequest: Hashable, Sendable {
    let command: String
    /// Everything beside `command`.
    let arguments: [String: JSONValue]

    init(command: String, arguments: [String: JSONValue]) {
        self.command = command
        self.arguments = arguments
    }

    /// Reads a line.
    ///
    /// - Throws: `ControlError` with what is wrong with it.
    init(line: [UInt8]) throws(ControlError) {
        let value: JSONValue
        do {
            value = try JSONDecoder().decode(JSONValue.self, from: Data(line))
        } catch {
            throw ControlError("the line is not JSON", exitCode: 65)
        }
        guard case .object(var members) = value, let command = members.removeValue(forKey: "command")?.asString else {
            throw ControlError("a line must be an object of JSON with the member \"command\"", exitCode: 65)
        }
        self.init(command: command, arguments: members)
    }

    var line: [UInt8] {
        JSONValue.object(self.arguments.merging(["command": .string(self.command)]) { _, command in command }).line
    }
}

/// The reply to a command.
enum ControlReply: Hashable, Sendable {
    case progress([String: JSONValue])
    case done([String: JSONValue])
    case failed(ControlError)

    /// `nil`: the line is none of these.
    init?(line: [UInt8]) {
        guard let value = try? JSONDecoder().decode(JSONValue.self, from: Data(line)), let members = value.asObject
        else { return nil }
        if let progress = members["progress"]?.asObject {
            self = .progress(progress)
        } else if let done = members["done"]?.asObject {
            self = .done(done)
        } else if let sentence = members["error"]?.asString {
            let exitCode = members["exitCode"]?.asInteger.flatMap { Int32(exactly: $0) } ?? 69
            self = .failed(ControlError(sentence, exitCode: exitCode))
        } else {
            return nil
        }
    }

    var line: [UInt8] {
        switch self {
        case .progress(let members): JSONValue.object(["progress": .object(members)]).line
        case .done(let members): JSONValue.object(["done": .object(members)]).line
        case .failed(let error):
            JSONValue.object(["error": .string(error.sentence), "exitCode": .integer(Int64(error.exitCode))]).line
        }
    }
}

extension JSONValue {
    /// The value as one line, its end included.
    var line: [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Numbers that JSON does not have are null, as in JavaScript.
        return Array((try? encoder.encode(self.finite)) ?? Data("null".utf8)) + [UInt8(ascii: "\n")]
    }

    private var finite: JSONValue {
        switch self {
        case .number(let value) where !value.isFinite: .null
        case .array(let values): .array(values.map(\.finite))
        case .object(let members): .object(members.mapValues(\.finite))
        default: self
        }
    }
}

/// Cuts what comes into lines, however it was cut on the way.
struct ControlLineReader: Equatable, Sendable {
    /// A line was longer than the limit; what follows cannot be told apart any more.
    struct TooLong: Error, Hashable {}

    let lineBytesMax: Int
    private var bytes: [UInt8] = []
    /// How far `bytes` was searched for the end of a line.
    private var searched = 0

    init(lineBytesMax: Int = ControlLimits.lineBytesMax) {
        self.lineBytesMax = lineBytesMax
    }

    /// Whether the beginning of a line is there.
    var isInLine: Bool { !self.bytes.isEmpty }

    /// Whether it holds bytes that were not searched for the end of a line.
    var mayHaveLine: Bool { self.searched < self.bytes.count }

    /// How many bytes are held; never more than the limit and what was appended last.
    var heldBytes: Int { self.bytes.count }

    mutating func append(_ new: some Sequence<UInt8>) {
        self.bytes += new
    }

    /// The next whole line without its end; `nil`: it has not come yet.
    mutating func next() throws(TooLong) -> [UInt8]? {
        guard let end = self.bytes[self.searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            self.searched = self.bytes.count
            guard self.bytes.count <= self.lineBytesMax else { throw TooLong() }
            return nil
        }
        guard end <= self.lineBytesMax else { throw TooLong() }
        let line = Array(self.bytes[..<end])
        self.bytes.removeSubrange(...end)
        self.searched = 0
        return line
    }
}
