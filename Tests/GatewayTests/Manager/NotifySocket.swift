// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Gateway
import GatewayTestKit
import TestSupport

#if canImport(Glibc)
import Glibc
#endif

/// A socket as a service manager has it: a real one, at a path or under an abstract name.
final class NotifySocket: Sendable {
    /// The value of `NOTIFY_SOCKET`.
    let name: String
    private let descriptor: Int32
    private let folder: String?

    /// - Parameter isAbstract: whether it has no file.
    /// - Throws: what the system says.
    init(isAbstract: Bool = false) throws {
        let unique = "cuecast-notify-\(UInt64.random(in: 0 ... .max))"
        var path: [UInt8]
        if isAbstract {
            self.name = "@" + unique
            self.folder = nil
            path = [0] + unique.utf8
        } else {
            let folder = NSTemporaryDirectory() + "/" + unique
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            self.folder = folder
            self.name = folder + "/notify.sock"
            path = Array(self.name.utf8)
        }
        self.descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path) }
        let head = MemoryLayout<sockaddr_un>.size - MemoryLayout.size(ofValue: address.sun_path)
        let length = socklen_t(head + path.count + (isAbstract ? 0 : 1))
        let code = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(self.descriptor, $0, length)
            }
        }
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
    }

    deinit {
        close(self.descriptor)
        if let folder { try? FileManager.default.removeItem(atPath: folder) }
    }

    /// The manager as the gateway knows it.
    ///
    /// - Parameters:
    ///   - watchdog: how often it wants a sign of life.
    ///   - warn: takes warnings.
    /// - Returns: the manager.
    func manager(watchdog: Duration? = nil, warn: @escaping @Sendable (String) -> Void = { _ in }) -> ServiceManager {
        var environment = ["NOTIFY_SOCKET": self.name]
        environment["WATCHDOG_USEC"] = watchdog.map { "\($0 / .microseconds(1))".replacing(/\..*/, with: "") }
        return ServiceManager(ManagerEnvironment(environment, process: getpid()), warn: warn)
    }

    /// The datagrams that are there.
    func taken() -> [String] {
        var all: [String] = []
        while let next = self.receive() { all.append(next) }
        return all
    }

    /// The next datagram that a test looks for; others are passed over.
    func next(_ what: String, where condition: (String) -> Bool) async throws -> String {
        var found: String?
        try await until(what) {
            while found == nil, let next = self.receive() { if condition(next) { found = next } }
            return found != nil
        }
        return found ?? ""
    }

    private func receive() -> String? {
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: 65_536) { (buffer, count) in
            count = max(0, unsafe recv(self.descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT)))
        }
        return bytes.isEmpty ? nil : String(decoding: bytes, as: UTF8.self)
    }
}
