// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if os(Linux)
import Foundation
import GatewayTestKit
import SystemSupport
import TestSupport
import Testing

/// The kernel's table of descriptors is made large enough before connections come.
@Suite(.suiteLimit)
struct DescriptorRoomTests {
    /// How many descriptors fit without growing (proc_pid_status(5)).
    private func room() throws -> Int {
        let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("FDSize:") })
        return try #require(Int(line.split(whereSeparator: \.isWhitespace)[1]))
    }

    @Test func `there is room for as many as were asked for, within the limit, and nothing stays open`() async throws {
        let limit = ProcessDescriptors.raiseLimit()
        ProcessDescriptors.makeRoom(for: limit)
        #expect(try self.room() >= min(limit, ProcessDescriptors.roomMax))
        let before = try self.room()
        ProcessDescriptors.makeRoom(for: limit + 1)
        ProcessDescriptors.makeRoom(for: 0)
        ProcessDescriptors.makeRoom(for: .max)
        #expect(try self.room() >= before)
        // The last descriptor that may be is not taken, once other tests have made their room.
        let last = Int32(min(limit, ProcessDescriptors.roomMax)) - 1
        try await until("the last descriptor is closed") { fcntl(last, F_GETFD) == -1 }
    }
}
#endif
