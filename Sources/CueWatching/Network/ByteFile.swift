// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import NIOCore
internal import NIOPosix

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A file, a pipe or standard input from which bytes are read.
enum ByteFile: Sendable {
    /// The system waits for bytes: a pipe, a named pipe or a socket.
    case pipe(CInt)
    /// The bytes are there: a regular file, for instance.
    case regular(CInt)

    /// Opens a file.
    ///
    /// A named pipe is opened so that it never ends: a writer may go, and another one may come.
    ///
    /// - Parameter path: The path; `nil`: standard input.
    /// - Returns: The file, open.
    /// - Throws: ``CueRefusal`` where it cannot be opened.
    static func opened(_ path: String?) throws(CueRefusal) -> ByteFile {
        guard let path else {
            let descriptor = dup(STDIN_FILENO)
            guard descriptor >= 0 else { throw Self.refusal("standard input", errno) }
            return try self.file(descriptor, "standard input")
        }
        // Without waiting: a named pipe has no writer yet.
        let flags = O_CLOEXEC | O_NONBLOCK
        var descriptor = openFile(path, O_RDONLY | flags)
        guard descriptor >= 0 else { throw Self.refusal(path, errno) }
        if Self.kind(of: descriptor) == S_IFIFO {
            let both = openFile(path, O_RDWR | flags)
            close(descriptor)
            guard both >= 0 else { throw Self.refusal(path, errno) }
            descriptor = both
        }
        return try self.file(descriptor, path)
    }

    private static func file(_ descriptor: CInt, _ name: String) throws(CueRefusal) -> ByteFile {
        switch self.kind(of: descriptor) {
        case S_IFIFO, S_IFSOCK: return .pipe(descriptor)
        case S_IFDIR:
            close(descriptor)
            throw CueRefusal(.unreachable, "\(name) is a folder.")
        default: return .regular(descriptor)
        }
    }

    private static func kind(of descriptor: CInt) -> mode_t {
        var status = stat()
        return unsafe fstat(descriptor, &status) == 0 ? status.st_mode & S_IFMT : 0
    }

    private static func refusal(_ name: String, _ code: CInt) -> CueRefusal {
        // Safety: the C library answers with a text that ends with zero, whatever the number.
        let text = unsafe strerror(code).map { unsafe String(cString: $0) } ?? "error \(code)"
        return CueRefusal(.unreachable, "\(name) cannot be read: \(text).")
    }

    // MARK: - Reading

    /// Reads from a regular file, and waits for the disk on another thread.
    ///
    /// - Parameters:
    ///   - descriptor: The file.
    ///   - count: The most bytes.
    ///   - name: The name for people.
    /// - Returns: The bytes; empty: the file ends.
    /// - Throws: ``CueRefusal`` where it cannot be read.
    static func read(_ descriptor: CInt, _ count: Int, name: String) async throws(CueRefusal) -> [UInt8] {
        let result: Result<[UInt8], CueRefusal>
        do {
            result = try await NIOThreadPool.singleton.runIfActive { Self.readNow(descriptor, count, name: name) }
        } catch {
            throw CueRefusal(.unreachable, "\(name) was not read: \(error).")
        }
        return try result.get()
    }

    private static func readNow(_ descriptor: CInt, _ count: Int, name: String) -> Result<[UInt8], CueRefusal> {
        while true {
            var code: CInt = 0
            let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { (buffer, filled) in
                let result = unsafe readFile(descriptor, buffer.baseAddress, buffer.count)
                code = result < 0 ? errno : 0
                filled = max(result, 0)
            }
            switch code {
            case 0: return .success(bytes)
            case EINTR: continue
            default: return .failure(Self.refusal(name, code))
            }
        }
    }

    /// Closes a regular file.
    static func closeFile(_ descriptor: CInt) { close(descriptor) }

    /// Reads from a pipe as bytes come.
    ///
    /// - Parameters:
    ///   - descriptor: The pipe; it is closed at the end.
    ///   - silenceMax: How long nothing may come until this is said.
    ///   - name: The name for people.
    ///   - now: The time, in milliseconds since 1970.
    /// - Returns: What comes.
    /// - Throws: ``CueRefusal`` where it cannot be read.
    static func receive(
        _ descriptor: CInt,
        silenceMax: Duration,
        name: String,
        now: @escaping @Sendable () -> Int
    ) async throws(CueRefusal) -> NIOAsyncChannel<Arrival, Never> {
        do {
            return try await NIOPipeBootstrap(group: MultiThreadedEventLoopGroup.singleton)
                .takingOwnershipOfDescriptor(input: descriptor) { channel in
                    channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandlers([
                            IdleStateHandler(readTimeout: TimeAmount(silenceMax)), ArrivalHandler(now: now),
                        ])
                        return try NIOAsyncChannel<Arrival, Never>(wrappingChannelSynchronously: channel)
                    }
                }
        } catch {
            throw CueRefusal(.unreachable, "\(name) cannot be read: \(error).")
        }
    }
}

// The functions of the system, by names that the type has not.

private func openFile(_ path: String, _ flags: CInt) -> CInt { unsafe open(path, flags) }

private func readFile(_ descriptor: CInt, _ buffer: UnsafeMutablePointer<UInt8>?, _ count: Int) -> Int {
    unsafe read(descriptor, buffer, count)
}
