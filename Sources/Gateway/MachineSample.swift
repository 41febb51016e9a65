// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The machine's figures about this process and its disk; `nil` if the platform has none.
struct MachineSample {
    var diskFreeBytes: Int?
    var openDescriptors: Int?
    var descriptorsMax: Int?
    var residentBytes: Int?

    /// - Parameter folder: where the data directory is.
    init(folder: String) {
        self.diskFreeBytes = Self.freeBytes(of: folder)
        self.descriptorsMax = Self.descriptorLimit()
        #if os(Linux)
        self.openDescriptors = Self.countDescriptors()
        self.residentBytes = Self.residentPages().map { $0 * sysconf(Int32(_SC_PAGESIZE)) }
        #endif
    }

    /// The bytes that an ordinary user may still write to the file system of a folder.
    private static func freeBytes(of folder: String) -> Int? {
        var status = statvfs()
        guard unsafe statvfs(folder, &status) == 0 else { return nil }
        return Int(
            clamping: UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize)).partialValue
        )
    }

    private static func descriptorLimit() -> Int? {
        var limit = rlimit()
        #if canImport(Glibc)
        guard unsafe getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return nil }
        #else
        guard unsafe getrlimit(RLIMIT_NOFILE, &limit) == 0 else { return nil }
        #endif
        return Int(clamping: limit.rlim_cur)
    }

    #if os(Linux)
    private static func countDescriptors() -> Int? {
        var status = stat()
        guard unsafe stat("/proc/self/fd", &status) == 0 else { return nil }
        // Since Linux 6.2 the folder's size is their number; before it they have to be counted.
        if status.st_size > 0 { return Int(status.st_size) }
        guard let folder = unsafe opendir("/proc/self/fd") else { return nil }
        defer { unsafe closedir(folder) }
        var count = 0
        while unsafe readdir(folder) != nil { count += 1 }
        // Without ".", ".." and the one that reads the folder.
        return max(0, count - 3)
    }

    /// The second number of /proc/self/statm (proc_pid_statm(5)).
    private static func residentPages() -> Int? {
        guard let file = unsafe fopen("/proc/self/statm", "re") else { return nil }
        defer { unsafe fclose(file) }
        var bytes = [CChar](repeating: 0, count: 256)
        let count = bytes.count
        let isRead = unsafe bytes.withUnsafeMutableBufferPointer {
            unsafe fgets($0.baseAddress, Int32(count), file) != nil
        }
        guard isRead else { return nil }
        let text = String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let fields = text.split(separator: " ")
        return fields.count > 1 ? Int(fields[1]) : nil
    }
    #endif
}
