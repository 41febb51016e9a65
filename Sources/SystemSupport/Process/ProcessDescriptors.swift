// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// How many files and connections this process may have open, and has.
package enum ProcessDescriptors {
    /// Raises the limit on descriptors to what the system allows.
    ///
    /// - Returns: the limit as it is then.
    package static func raiseLimit() -> Int {
        var limit = rlimit()
        #if canImport(Glibc)
        let which = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let which = RLIMIT_NOFILE
        #endif
        // Safety: the kernel reads and writes the one value during the calls.
        guard unsafe getrlimit(which, &limit) == 0 else { return 1_024 }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            raised.rlim_cur = limit.rlim_max
            if unsafe setrlimit(which, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }

    /// The most descriptors that room is made for ahead: a MiB of the kernel's memory.
    package static let roomMax = 131_072

    /// Has the kernel make its table of descriptors large enough at once.
    ///
    /// It doubles the table whenever one more does not fit, and where a process has several threads `accept` and `socket` wait meanwhile
    /// until all processors have let go of the old one (Linux, `expand_fdtable` in fs/file.c): 10 to 20 ms, in which a thread that serves
    /// connections serves none.
    ///
    /// - Parameter count: how many descriptors may be open at once; more than ``roomMax`` counts as that, and more than the limit does nothing.
    package static func makeRoom(for count: Int) {
        #if os(Linux)
        let newest = Int32(min(count, self.roomMax)) - 1
        // Safety: the path is a literal, read during the call.
        let descriptor = unsafe open("/dev/null", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        // It gets the lowest number from there on that is free, whatever is open already.
        let last = fcntl(descriptor, F_DUPFD_CLOEXEC, max(0, newest))
        if last >= 0 { _ = close(last) }
        _ = close(descriptor)
        #endif
    }

    /// How many are open; 0 where the system does not tell.
    package static func openCount() -> Int {
        var open = 0
        #if os(Linux)
        let path = "/proc/self/fd"
        #else
        let path = "/dev/fd"
        #endif
        // Safety: the directory is read by this thread only, and closed once.
        guard let directory = unsafe opendir(path) else { return 0 }
        while unsafe readdir(directory) != nil { open += 1 }
        _ = unsafe closedir(directory)
        // Itself, its parent, and the folder that was just open are not.
        return max(0, open - 3)
    }
}
