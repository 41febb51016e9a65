// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import ArgumentParser
import CommandSupport
import Foundation
import LiveTerminal

/// The cue that an argument means: text, the name of a file, or `-` for standard input.
enum CueInput {
    /// The most bytes of a file: many lines, and still little memory.
    private static let inputBytesMax = 64 * 1_048_576

    /// Complains, and ends the command with the exit code of wrong data.
    static func refused(_ sentence: String) -> ExitCode {
        complain(TextWidth.shown(sentence))
        return CommandExit.badData
    }

    /// Whether the argument itself is the cue.
    static func isText(_ cue: String) -> Bool { cue != "-" && !FileManager.default.fileExists(atPath: cue) }

    /// The bytes that the argument means: of a file, of standard input, or its own.
    static func bytes(of cue: String) throws -> [UInt8] {
        if cue == "-" { return try Self.read(FileHandle.standardInput, "standard input") }
        guard FileManager.default.fileExists(atPath: cue) else { return Array(cue.utf8) }
        guard let file = FileHandle(forReadingAtPath: cue) else {
            throw Self.refused("the file \(cue) cannot be read")
        }
        return try Self.read(file, "the file \(cue)")
    }

    /// The bytes of a section, from its bytes or from a text.
    static func section(of input: [UInt8]) throws(SpliceSectionError) -> [UInt8] {
        // No text begins with this byte, and every section does.
        guard input.first != SpliceInfoSection.tableID else { return input }
        // One byte more than is read, so that a longer text is noticed.
        let text = input.prefix(SpliceSectionLimits.textBytesMax + 1)
        return try SpliceSectionText.bytes(of: String(decoding: text, as: UTF8.self))
    }

    private static func read(_ file: FileHandle, _ name: String) throws -> [UInt8] {
        var bytes: [UInt8] = []
        do {
            while let more = try file.read(upToCount: 1_048_576), !more.isEmpty {
                bytes += more
                guard bytes.count <= Self.inputBytesMax else {
                    throw Self.refused("\(name) has more than \(Self.inputBytesMax) bytes")
                }
            }
        } catch let code as ExitCode {
            throw code
        } catch {
            throw Self.refused("\(name) cannot be read: \(error.localizedDescription)")
        }
        return bytes
    }
}
