// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

/// The table of field numbers against the contract.
@Suite(.suiteLimit)
struct MessageFieldsTests {
    /// Every message of the table.
    static let messages: [any MessageField.Type] = [
        RequestField.self, JoinField.self, GetBatchField.self, AcknowledgeField.self, OutcomeField.self,
        LeaveField.self, ReplyField.self, JoinedField.self, BatchField.self, AcknowledgedField.self,
        PositionField.self, NoticeField.self, SyncTickField.self, AdvertisementField.self,
        AcknowledgementGroupField.self, AcceptedRequestField.self, DeliveryEntryField.self,
    ]

    /// A field as the contract or the table has it.
    private struct Field: Hashable, CustomStringConvertible {
        let name: String
        let number: Int
        let type: MessageFieldType

        var description: String { "\(self.name) = \(self.number) (\(self.type))" }
    }

    /// The fields of each message in `proto/`.
    private static func contract() throws -> [String: Set<Field>] {
        let files = ["advertisement", "broadcast", "journal", "listener", "log", "notice", "status"]
        let text = try files.map { try RepositoryFile.text("proto/cuecast/v1/\($0).proto") }.joined(separator: "\n")
        let enumerations = Set(text.matches(of: /(?m)^enum (\w+) \{/).map { String($0.1) })
        var messages: [String: Set<Field>] = [:]
        for message in text.matches(of: /(?ms)^message (\w+) \{(\}|.*?^\})/) {
            let fields = message.2.matches(of: /(?m)^ +(?:optional |repeated )?([\w.]+|map<\w+, \w+>) (\w+) = (\d+);/)
            // Whatever looks like a field must have been read as one.
            #expect(fields.count == message.2.matches(of: /= \d+;/).count, "\(message.1)")
            messages[String(message.1)] = try Set(
                fields.map { field in
                    let type: MessageFieldType =
                        switch String(field.1) {
                        case "bool": .bool
                        case "uint32": .uint32
                        case "uint64": .uint64
                        case "int64": .int64
                        case "fixed64": .fixed64
                        case "string": .text
                        case "bytes": .bytes
                        case let name where enumerations.contains(name): .enumeration
                        default: .message
                        }
                    return Field(name: String(field.2), number: try #require(Int(field.3)), type: type)
                }
            )
        }
        return messages
    }

    private static func fields<Message: MessageField>(of message: Message.Type) -> Set<Field> {
        Set(
            message.allCases.map { field in
                // `advertisementID` is `advertisement_id`.
                let name = "\(field)".replacing(/([a-z])([A-Z]+)/) { "\($0.1)_\($0.2)" }.lowercased()
                return Field(name: name, number: field.rawValue, type: field.type)
            }
        )
    }

    private static func name(_ message: any MessageField.Type) -> String { String("\(message)".dropLast(5)) }

    @Test(arguments: MessageFieldsTests.messages.indices)
    func `a message has the fields that the contract says, all of them`(index: Int) throws {
        let message = Self.messages[index]
        let expected = try #require(try Self.contract()[Self.name(message)])
        #expect(Self.fields(of: message) == expected)
    }

    @Test func `no message of the table is left out here`() throws {
        let source = try RepositoryFile.text("Sources/CuecastWire/InPlace/MessageFields.swift")
        let names = Set(source.matches(of: /enum (\w+)Field: Int, MessageField/).map { String($0.1) })
        #expect(names == Set(Self.messages.map { Self.name($0) }))
    }

    @Test func `the shared fields of both sockets' messages have the same numbers`() throws {
        let contract = try Self.contract()
        let request = try #require(contract["BroadcastRequest"])
        #expect(request.contains(Field(name: "request_id", number: RequestField.requestID.rawValue, type: .uint64)))
        let reply = try #require(contract["BroadcastReply"])
        #expect(reply.contains(Field(name: "request_id", number: ReplyField.requestID.rawValue, type: .uint64)))
        #expect(reply.contains(Field(name: "status", number: ReplyField.status.rawValue, type: .enumeration)))
    }
}
