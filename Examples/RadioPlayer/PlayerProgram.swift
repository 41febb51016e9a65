// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation

/// A program of this system that plays audio.
struct PlayerProgram: Equatable, Sendable {
    /// The programs that are known, the best first.
    enum Kind: String, CaseIterable, Sendable {
        case mpv
        case ffplay
        case mpg123
        /// Of SoX.
        case play
        case afplay
        case aplay
    }

    let kind: Kind
    let path: String

    /// The program to use.
    ///
    /// - Parameters:
    ///   - name: the one that is wanted; `nil`: the best one.
    ///   - folders: where to look.
    /// - Returns: The program; `nil` where it is not installed.
    static func find(_ name: String? = nil, in folders: [String] = Self.searchFolders) -> PlayerProgram? {
        for kind in Kind.allCases where name.map({ $0 == kind.rawValue }) ?? true {
            for folder in folders {
                let path = folder + "/" + kind.rawValue
                if FileManager.default.isExecutableFile(atPath: path) { return PlayerProgram(kind: kind, path: path) }
            }
        }
        return nil
    }

    /// The folders of `PATH`.
    static var searchFolders: [String] {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map(String.init)
    }

    /// Whether it can play media at this address: a URL, or the path of a file.
    func canPlay(_ address: String) -> Bool {
        let isFile = Self.filePath(address) != nil
        let isWeb = address.hasPrefix("http://") || address.hasPrefix("https://")
        let end = address.split(separator: "?").first.map { $0.lowercased() } ?? ""
        return switch self.kind {
        case .mpv, .ffplay: isFile || isWeb
        case .mpg123: (isFile || address.hasPrefix("http://")) && end.hasSuffix(".mp3")
        case .play, .afplay: isFile
        case .aplay: isFile && end.hasSuffix(".wav")
        }
    }

    /// Its arguments to play an address without a window or a word, from a position on where it can do that.
    func arguments(for address: String, from position: Duration = .zero) -> [String] {
        let address = Self.filePath(address) ?? address
        let seconds = String(max(0, position.components.seconds))
        let seeks = position >= .seconds(1)
        return switch self.kind {
        case .mpv:
            ["--no-video", "--no-terminal", "--really-quiet"] + (seeks ? ["--start=\(seconds)"] : []) + ["--", address]
        case .ffplay:
            ["-nodisp", "-autoexit", "-loglevel", "quiet"] + (seeks ? ["-ss", seconds] : []) + ["-i", address]
        case .mpg123: ["-q", "--", address]
        case .play: ["-q", address] + (seeks ? ["trim", seconds] : [])
        case .afplay: [address]
        case .aplay: ["-q", "--", address]
        }
    }

    /// The path of a file, where an address names one.
    private static func filePath(_ address: String) -> String? {
        if address.hasPrefix("file:") { return URL(string: address)?.path }
        return address.contains("://") ? nil : address
    }
}

/// A program that plays.
final class RunningProgram {
    private let process = Process()
    private var isPaused = false

    /// Starts it; it hears nothing of the terminal.
    ///
    /// - Parameters:
    ///   - program: the program.
    ///   - address: what to play.
    ///   - position: from where on.
    ///   - ended: is told once whether it played to the end.
    /// - Throws: What the system says where it cannot be started.
    init(
        _ program: PlayerProgram,
        playing address: String,
        from position: Duration = .zero,
        ended: @escaping @Sendable (_ isDone: Bool) -> Void
    ) throws {
        self.process.executableURL = URL(fileURLWithPath: program.path)
        self.process.arguments = program.arguments(for: address, from: position)
        self.process.standardInput = FileHandle.nullDevice
        self.process.standardOutput = FileHandle.nullDevice
        self.process.standardError = FileHandle.nullDevice
        self.process.terminationHandler = { process in
            ended(process.terminationReason == .exit && process.terminationStatus == 0)
        }
        try self.process.run()
    }

    deinit { self.stop() }

    /// Stops it for good.
    func stop() {
        guard self.process.isRunning else { return }
        self.setPaused(false)
        self.process.terminate()
    }

    /// Holds it, or lets it go on.
    func setPaused(_ paused: Bool) {
        guard paused != self.isPaused, self.process.isRunning else { return }
        self.isPaused = paused
        _ = paused ? self.process.suspend() : self.process.resume()
    }
}
