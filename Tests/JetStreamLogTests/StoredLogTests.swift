// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if JetStream
import CNATS
import CuecastWire
import Foundation
import GatewayCore
import TestSupport
import Testing

@testable import JetStreamLog

/// A log is read as its servers have it, also where records are missing.
@Suite(.suiteLimit)
struct StoredLogTests {
    /// Everything that a log has of a lane, read in portions.
    private func everything(_ log: StoredLog, _ lane: Lane) async throws -> InspectedPortion {
        var all = InspectedPortion()
        let head = try await log.head(of: lane)
        while case let last = all.end ?? 0, last < head {
            let portion = try await log.portion(of: lane, after: last, recordsMax: 7, bytesMax: 1 << 20)
            #expect(portion.end ?? 0 > last)
            guard portion.end ?? 0 > last else { break }
            all.records += portion.records
            all.faults += portion.faults
        }
        return all
    }

    private func open(_ servers: NATSServers, _ names: LogNames) async throws -> StoredLog {
        let access = servers.access
        return try await eventually { try await StoredLog.open(access, names: names) }
    }

    @Test(arguments: LogKind.allCases)
    func `all records come as they were appended, up to the newest when it was opened`(_ kind: LogKind) async throws {
        let servers = try (kind == .alone ? NATSServers.alone : NATSServers.three).get()
        let names = LogNames.random()
        let identity = try await makeLog(on: servers, names)
        let log = try await openLog(on: servers, names)
        for number in 1...40 as ClosedRange<UInt64> {
            _ = try await log.append([UInt8(number)], id: AppendID(origin: 9, number: number), to: .breaks)
        }
        let stored = try await self.open(servers, names)
        #expect(stored.identity == identity)
        _ = try await log.append([0], to: .breaks)
        let all = try await self.everything(stored, .breaks)
        #expect(all.faults.isEmpty && all.records.map(\.bytes) == (1...40).map { [UInt8($0)] })
        #expect(all.records.map(\.mark?.id.number) == (1...40).map { UInt64($0) })
        #expect(try await self.everything(stored, .acknowledgements(0)) == InspectedPortion())
        await log.close()
    }

    @Test func `records that were deleted, first, last and between, are told of`() async throws {
        let servers = try NATSServers.alone.get()
        let names = LogNames.random()
        _ = try await makeLog(on: servers, names)
        let log = try await openLog(on: servers, names)
        for number in 1...30 { _ = try await log.append([UInt8(number)], to: .breaks) }
        await log.close()
        let access = servers.access
        try await blocking {
            let connection = try NATSConnection(access)
            for offset in [1, 2, 13, 30] as [UInt64] {
                var code = jsErrCode(0)
                let status = unsafe js_DeleteMsg(connection.context, names.stream(of: .breaks), offset + 1, nil, &code)
                try NATSCall.check(status, "js_DeleteMsg")
            }
        }
        let all = try await self.everything(try await self.open(servers, names), .breaks)
        #expect(all.faults.flatMap { Array($0.offsets) } == [1, 2, 13, 30])
        #expect(all.faults.allSatisfy { $0.reason == nil })
        #expect(all.records.map(\.offset) == (1...30).filter { ![1, 2, 13, 30].contains($0) })
    }

    @Test func `a writer that cannot be read is told of`() async throws {
        let servers = try NATSServers.alone.get()
        let names = LogNames.random()
        _ = try await makeLog(on: servers, names)
        let access = servers.access
        try await blocking {
            let connection = try NATSConnection(access)
            var message: OpaquePointer?
            try unsafe NATSCall.check(
                natsMsg_Create(&message, names.subject(of: .breaks), nil, nil, 0),
                "natsMsg_Create"
            )
            defer { unsafe natsMsg_Destroy(message) }
            try unsafe NATSCall.check(natsMsgHeader_Set(message, AppendHeader.name, "nobody"), "natsMsgHeader_Set")
            var code = jsErrCode(0)
            try unsafe NATSCall.check(
                js_PublishMsg(nil, connection.context, message, nil, &code),
                "js_PublishMsg"
            )
        }
        let all = try await self.everything(try await self.open(servers, names), .breaks)
        #expect(all.records.isEmpty)
        #expect(all.faults.map(\.offsets) == [1...1])
        #expect(all.faults.first?.reason?.contains("writer") == true)
    }

    @Test func `where there is no log there is none to inspect`() async throws {
        let servers = try NATSServers.alone.get()
        // So that the server is ready.
        _ = try await makeLog(on: servers, .random())
        let access = servers.access
        let error = await #expect(throws: NATSError.self) {
            try await StoredLog.open(access, names: LogNames.random())
        }
        guard case .noStream = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
#endif
