// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The connection to the system's journal that a service manager gave a process for its messages.
package struct JournalStream: Hashable, Sendable {
    private let device: UInt64
    private let inode: UInt64

    /// Reads `JOURNAL_STREAM`: the numbers of device and inode, with a colon between (`man 5 systemd.exec`, "Environment
    /// Variables in Spawned Processes"); `nil` where it is not there or not that.
    package init?(_ environment: [String: String]) {
        let parts = environment["JOURNAL_STREAM"]?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        guard parts.count == 2, let device = UInt64(parts[0]), let inode = UInt64(parts[1]) else { return nil }
        self.device = device
        self.inode = inode
    }

    /// Whether a descriptor is that connection; the messages may have been redirected meanwhile.
    package func isDescriptor(_ descriptor: Int32) -> Bool {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return false }
        return UInt64(status.st_dev) == self.device && UInt64(status.st_ino) == self.inode
    }

    /// Whether the journal reads what this process writes to standard error.
    package static func isStandardError(_ environment: [String: String]) -> Bool {
        JournalStream(environment)?.isDescriptor(STDERR_FILENO) ?? false
    }
}
