// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
import Foundation
import Gateway

/// A file that a person names.
enum InputFile {
    /// Why it cannot be read: words that follow its name.
    struct Fault: Error {
        let reason: String
    }

    /// The bytes of a file.
    ///
    /// - Parameters:
    ///   - path: of the file.
    ///   - bytesMax: the limit of its reader, which says so itself; of a longer file one byte more is read. `nil`: all of it.
    /// - Returns: the bytes.
    /// - Throws: where it cannot be read.
    static func bytes(of path: String, upTo bytesMax: Int? = nil) throws(Fault) -> [UInt8] {
        do {
            let file = URL(fileURLWithPath: path)
            guard let bytesMax else { return [UInt8](try Data(contentsOf: file)) }
            let handle = try FileHandle(forReadingFrom: file)
            defer { try? handle.close() }
            return [UInt8](try handle.read(upToCount: bytesMax + 1) ?? Data())
        } catch {
            throw Fault(reason: ConfigurationFault.reason(notReading: error))
        }
    }

    /// The same for a command that ends where the file cannot be read, and says why.
    static func told(_ path: String, upTo bytesMax: Int? = nil) throws -> [UInt8] {
        do throws(Fault) {
            return try self.bytes(of: path, upTo: bytesMax)
        } catch {
            complain("\(path): \(error.reason)")
            throw CommandExit.badData
        }
    }
}
