// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import FaultyDisk
import GatewayCore
import SQLiteStore

/// How a step of the disk fails.
enum DiskFault: Int32, CaseIterable, Sendable {
    case full = 0
    case fullHalfway = 1
    case quota = 2
    case error = 3
    case errorHalfway = 4
    case errorAfter = 5

    /// Whether a write that fails so tells that there is no room, and nothing worse.
    var isLackOfRoom: Bool { self.rawValue < Self.error.rawValue }
}

/// The steps of the disk.
enum DiskStep: Int32, Sendable {
    case none = 0
    case write = 1
    case sync = 2
    case truncate = 3
}

/// A folder on a disk that fails when a test says so.
final class FaultyFolder: Sendable {
    let path: String
    private let plan: Int32
    private let parent: TemporaryDirectory

    init() throws {
        self.parent = try TemporaryDirectory()
        self.path = self.parent.fresh("faulty")
        guard faulty_disk_install() == 0 else { throw FaultyDiskError() }
        self.plan = unsafe faulty_disk_watch(self.path)
        guard self.plan >= 0 else { throw FaultyDiskError() }
    }

    deinit { faulty_disk_forget(self.plan) }

    /// Lets a step fail: 1 is the next one; with `every`, all that follow too.
    func fail(at step: Int, _ fault: DiskFault, every: Bool = false) {
        faulty_disk_fail(self.plan, step, fault.rawValue, every ? 1 : 0)
    }

    func heal() { faulty_disk_heal(self.plan) }

    /// How many steps there were.
    var steps: Int { faulty_disk_steps(self.plan) }

    /// The first step that failed.
    var failed: DiskStep { DiskStep(rawValue: faulty_disk_failed(self.plan)) ?? .none }
}

struct FaultyDiskError: Error {}
