// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CNATS
import CuecastWire
import Foundation
import Gateway
import GatewayCore
import Synchronization
import TestSupport
import Testing

@testable import JetStreamLog

/// What becomes of a log on servers of NATS where something goes wrong with them.
@Suite(.suiteLimit)
struct JetStreamFailureTests {
    @Test
    func `nothing that was confirmed is lost when the leader is killed with appends under way`() async throws {
        let servers = try NATSServers(count: 3, answerWithin: .seconds(5))
        let names = LogNames.random()
        _ = try await makeLog(on: servers, names)
        let log = try await openLog(on: servers, names)
        let writing = try await WriterLog(over: log)
        let outcomes = Mutex<[Int: Result<UInt64, EventLogError>]>([:])
        let count = 600
        let leader = try await eventually {
            try await blocking {
                try log.connection.facts(of: names.stream(of: .breaks), in: names, lane: .breaks).leader
            }
        }
        for number in 0..<count {
            try await until("there are fewer than 64 under way") { number - outcomes.withLock { $0.count } < 64 }
            writing.append(Self.bytes(number), id: nil, to: .breaks) { result in
                outcomes.withLock { $0[number] = result }
            }
            if number == count / 3 { #expect(servers.kill(named: leader) != nil) }
        }
        try await until("all are settled") { outcomes.withLock { $0.count } == count }

        var table = WriterTable()
        var effective: [UInt64: [UInt8]] = [:]
        var offset: UInt64 = 0
        let head = try await log.head(of: .breaks)
        while offset < head {
            for record in try await log.read(.breaks, after: offset, recordsMax: 500, bytesMax: .max) {
                #expect(record.previous == offset)
                offset = record.offset
                if table.take(record.mark), !record.bytes.isEmpty { effective[offset] = record.bytes }
            }
        }
        var durable = 0
        for (number, result) in outcomes.withLock(\.self) {
            switch result {
            case .success(let offset):
                durable += 1
                #expect(effective[offset] == Self.bytes(number))
            // It has no effect, now and later.
            case .failure(.dropped): #expect(!effective.values.contains(Self.bytes(number)))
            // The election took longer than a writer waits: it says that it does not know, and the record is there or not.
            case .failure(.unanswered): if effective.values.contains(Self.bytes(number)) { durable += 1 }
            case .failure(let error): Issue.record("\(number): \(error)")
            }
        }
        // Nothing else has an effect.
        #expect(effective.count == durable)
        #expect(durable >= count / 3)
        await writing.close()
    }

    private static func bytes(_ number: Int) -> [UInt8] {
        Array("record \(number) ".utf8) + [UInt8](repeating: 7, count: 300)
    }

    @Test
    func `a log comes back by itself after all its servers were away`() async throws {
        let servers = try NATSServers(count: 1, answerWithin: .seconds(5))
        let names = LogNames.random()
        _ = try await makeLog(on: servers, names)
        let log = try await openLog(on: servers, names)
        let writing = try await WriterLog(over: log)
        #expect(try await writing.append([1], to: .breaks) == 1)
        servers.kill(0)
        let late = Mutex<Result<UInt64, EventLogError>?>(nil)
        writing.append([2], id: nil, to: .breaks) { result in late.withLock { $0 = result } }
        try await until("the log is silent") { log.silence > .seconds(3) }
        // What is known is served.
        #expect(try await log.read(.breaks, after: 0, recordsMax: 1, bytesMax: 1).map(\.bytes) == [[1]])
        #expect(late.withLock(\.self) == nil)
        await #expect(throws: EventLogError.unanswered) { try await log.head(of: .breaks) }
        try servers.start(0)
        try await until("it is settled") { late.withLock(\.self) != nil }
        try await until("the log answers") { log.silence < .seconds(2) }
        let third = try await writing.append([3], to: .breaks)
        var all: [[UInt8]] = []
        var table = WriterTable()
        for record in try await log.read(.breaks, after: 0, recordsMax: 99, bytesMax: .max)
        where table.take(record.mark) {
            if !record.bytes.isEmpty { all.append(record.bytes) }
            if record.offset == third { break }
        }
        switch late.withLock(\.self) {
        case .success: #expect(all == [[1], [2], [3]])
        case .failure(.dropped): #expect(all == [[1], [3]])
        // The servers were away for longer than a writer waits: it says that it does not know, and both may be.
        case .failure(.unanswered): #expect([[[1], [2], [3]], [[1], [3]]].contains(all))
        case let other: Issue.record("\(String(describing: other))")
        }
        #expect(log.failure == nil)
        await writing.close()
    }

    @Test
    func `a stream that is made anew stops the log`() async throws {
        let servers = try NATSServers.alone.get()
        let names = LogNames.random()
        _ = try await makeLog(on: servers, names)
        let log = try await openLog(on: servers, names)
        #expect(try await log.append([1], to: .breaks) == 1)
        try await blocking {
            try Self.delete(names.stream(of: .breaks), log.connection)
            try Self.delete(names.stream(of: .acknowledgements(0)), log.connection)
            // Orders to forget are of the log that is gone, and no new one is made beside them.
            let cluster = LogCluster(log.connection, names: names)
            #expect(throws: NATSError.self) { _ = try cluster.make(replicas: 1) }
            try Self.delete(names.forgottenStream, log.connection)
            _ = try cluster.make(replicas: 1)
        }
        #expect(await log.stopped()?.isEmpty == false)
        await Self.takesNothing(log)
        await log.close()
    }

    @Test
    func `a log of which records were purged stops`() async throws {
        let servers = try NATSServers.alone.get()
        let names = LogNames.random()
        _ = try await makeLog(on: servers, names)
        let log = try await openLog(on: servers, names)
        for number in 1...20 { _ = try await log.append([UInt8(number)], to: .breaks) }
        try await blocking {
            var code = jsErrCode(0)
            let status = unsafe js_PurgeStream(log.connection.context, names.stream(of: .breaks), nil, &code)
            try NATSCall.check(status, "js_PurgeStream")
        }
        #expect(await log.stopped()?.contains("deleted") == true)
        await Self.takesNothing(log)
        await log.close()
        // And it cannot be opened again as if nothing had happened.
        await #expect(throws: NATSError.self) { try await JetStreamLog.open(servers.access, names: names) }
    }

    @Test
    func `a server that comes back with an older copy of its folder stops the log`() async throws {
        let servers = try NATSServers(count: 1, answerWithin: .seconds(5))
        let names = LogNames.random()
        _ = try await makeLog(on: servers, names)
        let log = try await openLog(on: servers, names, doubtfulFor: .seconds(2))
        for number in 1...10 { _ = try await log.append([UInt8(number)], to: .breaks) }
        let (folder, copy) = (servers.streamFolder(0), servers.streamFolder(0) + "-old")
        servers.kill(0)
        try FileManager.default.copyItem(atPath: folder, toPath: copy)
        try servers.start(0)
        for number in 11...15 {
            try await until("it is stored") { (try? await log.append([UInt8(number)], to: .breaks)) != nil }
        }
        servers.kill(0)
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.moveItem(atPath: copy, toPath: folder)
        try servers.start(0)
        let reason = await log.stopped()
        #expect(reason?.contains("was there before") == true)
        await Self.takesNothing(log)
        await log.close()
    }

    @Test
    func `a server that comes back without its folder stops the log`() async throws {
        let servers = try NATSServers(count: 1, answerWithin: .seconds(5))
        let names = LogNames.random()
        _ = try await makeLog(on: servers, names)
        let log = try await openLog(on: servers, names, doubtfulFor: .seconds(2))
        #expect(try await log.append([1], to: .breaks) == 1)
        servers.kill(0)
        try FileManager.default.removeItem(atPath: servers.streamFolder(0))
        try servers.start(0)
        #expect(await log.stopped()?.contains("no stream") == true)
        await Self.takesNothing(log)
        await log.close()
    }

    @Test
    func `streams that are not as they have to be are refused`() async throws {
        let servers = try NATSServers.alone.get()
        let names = LogNames.random()
        // It may have been started a moment ago.
        _ = try await eventually { try await blocking { try NATSConnection(servers.access) } }
        await #expect(throws: NATSError.noStream(names.stream(of: .breaks))) {
            try await JetStreamLog.open(servers.access, names: names)
        }
        let identity = try await makeLog(on: servers, names)
        #expect(try await openLog(on: servers, names).identity == identity)
        await #expect(throws: NATSError.self) {
            try await blocking { try LogCluster(NATSConnection(servers.access), names: names).make(replicas: 1) }
        }
        // Of two logs.
        let other = LogNames.random()
        _ = try await makeLog(on: servers, other)
        try await blocking {
            let connection = try NATSConnection(servers.access)
            let (stream, lane) = (other.stream(of: .breaks), Lane.breaks)
            try Self.delete(stream, connection)
            try connection.makeStream(stream, subject: other.subject(of: lane), replicas: 1)
            try connection.storeFirst(
                IdentityRecord(LogIdentity(), lane: lane).bytes,
                on: other.subject(of: lane),
                in: stream
            )
        }
        await #expect(throws: NATSError.unusable("the streams of \(other.prefix) are of different logs")) {
            try await JetStreamLog.open(servers.access, names: other)
        }
    }

    @Test
    func `a server that takes no large messages is refused`() async throws {
        let servers = try NATSServers(count: 1, more: "max_payload: \(JetStreamLimits.payloadBytesMin - 1)")
        await #expect(throws: NATSError.self) {
            try await makeLog(on: servers, .random())
        }
        let enough = try NATSServers(count: 1, more: "max_payload: \(JetStreamLimits.payloadBytesMin)")
        let names = LogNames.random()
        _ = try await makeLog(on: enough, names)
        let log = try await openLog(on: enough, names)
        let largest = [UInt8](repeating: 3, count: EventLogLimits.recordBytesMax)
        let id = AppendID(origin: .max, number: .max)
        #expect(try await log.append(largest, id: id, to: .breaks) == 1)
        #expect(try await log.read(.breaks, after: 0, recordsMax: 1, bytesMax: .max).first?.bytes == largest)
        await #expect(throws: EventLogError.self) { try await log.append(largest + [1], to: .breaks) }
        await log.close()
    }

    private static func delete(_ stream: String, _ connection: NATSConnection) throws {
        var code = jsErrCode(0)
        try unsafe NATSCall.check(js_DeleteStream(connection.context, stream, nil, &code), "js_DeleteStream")
    }

    private static func takesNothing(_ log: JetStreamLog) async {
        let reason = log.failure ?? ""
        await #expect(throws: EventLogError.uncertain(reason)) { try await log.append([9], to: .breaks) }
    }
}
#endif
