// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CuecastWire
import Foundation
import GatewayCore
import JetStreamLog
import TestSupport
import Testing

@Suite(.suiteLimit)
struct JetStreamSharingTests {
    @Test(arguments: LogKind.allCases)
    func `what one gateway appends another one reads, with its writer and the servers' time`(_ kind: LogKind)
        async throws
    {
        let servers = try (kind == .alone ? NATSServers.alone : NATSServers.three).get()
        let names = LogNames.random()
        _ = try await makeLog(on: servers, names)
        let one = try await openLog(on: servers, names)
        let other = try await openLog(on: servers, names)
        #expect(one.identity == other.identity)
        var read: [LoggedRecord] = []
        for number in 1...50 as ClosedRange<UInt64> {
            let log = number % 2 == 0 ? one : other
            let id = AppendID(origin: number % 2 + 1, number: number)
            #expect(try await log.append([UInt8(number)], id: id, to: .breaks) == number)
        }
        while read.count < 50 {
            read += try await other.read(.breaks, after: UInt64(read.count), recordsMax: 9, bytesMax: 99)
        }
        #expect(read.map(\.bytes) == (1...50).map { [UInt8($0)] })
        #expect(read.map { $0.mark?.id } == (1...50).map { AppendID(origin: UInt64($0) % 2 + 1, number: UInt64($0)) })
        #expect(
            try await one.read(.breaks, after: 0, recordsMax: 50, bytesMax: .max).map(\.mark?.at)
                == read.map(\.mark?.at)
        )
        await one.close()
        await other.close()
    }

    @Test
    func `a reader that begins long after finds everything, also what is not in memory`() async throws {
        let servers = try NATSServers.alone.get()
        let names = LogNames.random()
        _ = try await makeLog(on: servers, names)
        let one = try await openLog(on: servers, names)
        let count = JetStreamLimits.recordsPerQuestionMax * 3
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<count { group.addTask { _ = try? await one.append([1, 2, 3], to: .breaks) } }
        }
        let other = try await openLog(on: servers, names)
        var offsets: [UInt64] = []
        while offsets.count < count {
            offsets += try await other.read(.breaks, after: offsets.last ?? 0, recordsMax: .max, bytesMax: .max)
                .map(\.offset)
        }
        #expect(offsets == (1...UInt64(count)).map(\.self))
        await one.close()
        await other.close()
    }

    @Test
    func `messages of the bus come to all who listen under the prefix, and to no one else`() async throws {
        let servers = try NATSServers.alone.get()
        let (names, strange) = (LogNames.random(), LogNames.random())
        func bus(_ names: LogNames) async throws -> NATSBus {
            let access = servers.access
            return NATSBus(
                try await eventually { try await blocking { try NATSConnection(access) } },
                names: names
            )
        }
        let (one, other, stranger) = (try await bus(names), try await bus(names), try await bus(strange))
        let (atOne, atOther) = (await one.messages(on: "a.b"), await other.messages(on: "a.b"))
        let (elsewhere, strangers) = (await other.messages(on: "a.c"), await stranger.messages(on: "a.b"))
        let largest = [UInt8](repeating: 5, count: GatewayBeat.beatBytesMax)
        for bytes in [[], [1], largest] { await one.publish(bytes, on: "a.b") }
        await one.publish([2], on: "a.c")
        await stranger.publish([3], on: "a.b")
        for messages in [atOne, atOther] {
            var got: [[UInt8]] = []
            for await message in messages {
                #expect(message.subject == "a.b")
                got.append(message.bytes)
                if got.count == 3 { break }
            }
            #expect(got == [[], [1], largest])
        }
        for await message in elsewhere {
            #expect(message.bytes == [2])
            break
        }
        for await message in strangers {
            #expect(message.bytes == [3])
            break
        }
        for each in [one, other, stranger] { await each.close() }
        // Closed: the streams end, and nothing is published.
        for await message in await one.messages(on: "a.b") { Issue.record("\(message)") }
        await one.publish([4], on: "a.b")
    }

    @Test
    func `a key of NATS lets a gateway in, and without it no one comes in`() async throws {
        let key = "UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4"
        let seed = "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY"
        let servers = try NATSServers(count: 1, more: "authorization { timeout: 600, users: [ { nkey: \(key) } ] }")
        let folder = try TemporaryDirectory()
        let file = folder.fresh()
        try seed.write(toFile: file, atomically: true, encoding: .utf8)
        var access = servers.access
        access.key = NATSAccess.Key(publicKey: key, seedFile: file)
        let names = LogNames.random()
        _ = try await makeLog(on: servers, names, access: access)
        let log = try await JetStreamLog.open(access, names: names)
        #expect(try await log.append([1], to: .breaks) == 1)
        await log.close()
        await #expect(throws: NATSError.self) { try await JetStreamLog.open(servers.access, names: names) }
    }

    @Test
    func `over TLS a server is believed by its authority only`() async throws {
        let (own, strange) = (try TestCertificate("localhost"), try TestCertificate("localhost"))
        let servers = try NATSServers(
            count: 1,
            more: "tls { cert_file: \"\(own.certificateFile)\", key_file: \"\(own.keyFile)\", timeout: 600 }"
        )
        var access = servers.access
        access.servers = servers.addresses.map { $0.replacing("nats://127.0.0.1", with: "tls://localhost") }
        access.tls = NATSAccess.TLS(authorityFile: own.certificateFile)
        let names = LogNames.random()
        _ = try await makeLog(on: servers, names, access: access)
        let log = try await JetStreamLog.open(access, names: names)
        #expect(try await log.append([1], to: .breaks) == 1)
        await log.close()
        access.tls = NATSAccess.TLS(authorityFile: strange.certificateFile)
        await #expect(throws: NATSError.self) { try await JetStreamLog.open(access, names: names) }
        access.tls = NATSAccess.TLS(authorityFile: own.certificateFile + ".not")
        await #expect(throws: NATSError.self) { try await JetStreamLog.open(access, names: names) }
    }
}
#endif
