// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Synchronization
import Testing

@testable import RadioPlayer

/// One after another: a program whose file is being written while another one starts is inherited by that, and cannot be started
/// meanwhile (ETXTBSY).
@Suite(.suiteLimit, .serialized)
struct PlayerProgramTests {
    /// A folder with programs that do what the shell lines say.
    private func folder(_ programs: [String: String]) throws -> String {
        let folder = FileManager.default.temporaryDirectory.appending(path: "cuecast-programs-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (name, body) in programs {
            let file = folder.appending(path: name)
            try "#!/bin/sh\n\(body)\n".write(to: file, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        }
        return folder.path
    }

    @Test func `the best program of those installed is taken, or the one that is wanted`() throws {
        let folder = try self.folder(["mpg123": "", "ffplay": ""])
        defer { try? FileManager.default.removeItem(atPath: folder) }
        #expect(PlayerProgram.find(in: ["/nowhere", folder])?.path == folder + "/ffplay")
        #expect(PlayerProgram.find("mpg123", in: [folder])?.kind == .mpg123)
        #expect(PlayerProgram.find("mpv", in: [folder]) == nil)
        #expect(PlayerProgram.find("vlc", in: [folder]) == nil)
        #expect(PlayerProgram.find(in: []) == nil)
    }

    @Test func `each program plays what it can`() {
        let addresses = [
            "https://a.example/1.mp3?x=1", "http://a.example/1.mp3", "http://a.example/1.ogg", "file:///tmp/1.mp3",
            "1.wav",
            "rtmp://a.example/1.mp3",
        ]
        let expected: [PlayerProgram.Kind: [Bool]] = [
            .mpv: [true, true, true, true, true, false],
            .ffplay: [true, true, true, true, true, false],
            .mpg123: [false, true, false, true, false, false],
            .play: [false, false, false, true, true, false],
            .afplay: [false, false, false, true, true, false],
            .aplay: [false, false, false, false, true, false],
        ]
        for kind in PlayerProgram.Kind.allCases {
            #expect(addresses.map { PlayerProgram(kind: kind, path: "").canPlay($0) } == expected[kind], "\(kind)")
        }
    }

    @Test func `arguments name the file last, never as an option, and where to begin`() {
        func arguments(_ kind: PlayerProgram.Kind, _ seconds: Int) -> [String] {
            PlayerProgram(kind: kind, path: "").arguments(for: "file:///tmp/a%20b.mp3", from: .seconds(seconds))
        }
        #expect(
            arguments(.mpv, 7) == ["--no-video", "--no-terminal", "--really-quiet", "--start=7", "--", "/tmp/a b.mp3"]
        )
        #expect(
            arguments(.ffplay, 7) == ["-nodisp", "-autoexit", "-loglevel", "quiet", "-ss", "7", "-i", "/tmp/a b.mp3"]
        )
        #expect(arguments(.ffplay, 0) == ["-nodisp", "-autoexit", "-loglevel", "quiet", "-i", "/tmp/a b.mp3"])
        #expect(arguments(.play, 7) == ["-q", "/tmp/a b.mp3", "trim", "7"])
        #expect(arguments(.mpg123, 7) == ["-q", "--", "/tmp/a b.mp3"])
        #expect(arguments(.aplay, 0) == ["-q", "--", "/tmp/a b.mp3"])
        #expect(arguments(.afplay, 0) == ["/tmp/a b.mp3"])
    }

    /// Plays a sound with a program and gives the first end that is told.
    private func end(
        of program: String,
        mode: Int = 0o755,
        loops: Bool = false,
        shortestLoop: Duration = .seconds(1)
    ) async throws -> (sound: Sound, Sound.End?) {
        let folder = try self.folder(["mpv": program])
        let player = PlayerProgram.find(in: [folder])
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder + "/mpv")
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let (runs, run) = AsyncStream.makeStream(of: (Sound.Run, Bool).self, bufferingPolicy: .bufferingOldest(4))
        let sound = Sound(
            number: 1,
            address: "music.mp3",
            program: player,
            loops: loops,
            shortestLoop: shortestLoop
        ) { run.yield(($0, $1)) }
        #expect(sound.isReal)
        sound.setHeard(true)
        var iterator = runs.makeAsyncIterator()
        let (first, isDone) = try #require(await iterator.next())
        return (sound, sound.runEnded(first, isDone: isDone))
    }

    @Test func `a sound is done when its program is, and failed when that fails`() async throws {
        #expect(try await self.end(of: "exit 0").1 == .done)
        #expect(try await self.end(of: "exit 2").1 == .failed)
        #expect(try await self.end(of: "kill -9 $$").1 == .failed)
        // Nor can it be heard where the program does not even start.
        #expect(try await self.end(of: "exit 0", mode: 0o644).1 == .failed)
        // What cannot be played must not begin again and again.
        #expect(try await self.end(of: "exit 0", loops: true, shortestLoop: .seconds(3_600)).1 == .failed)
    }

    @Test func `a loop begins again, and a muted sound is stopped`() async throws {
        let (sound, end) = try await self.end(of: "exit 0", loops: true, shortestLoop: .zero)
        #expect(end == nil)
        sound.setHeard(false)
        #expect(sound.runEnded(Sound.Run(sound: 1, number: 2), isDone: false) == nil)
        #expect(sound.runEnded(Sound.Run(sound: 2, number: 2), isDone: true) == nil)
    }

    @Test func `time stands still in a pause`() throws {
        let sound = Sound(number: 1, address: nil, program: nil, loops: false) { _, _ in }
        sound.setHeard(true)
        #expect(!sound.isReal)
        sound.setPaused(true)
        let paused = sound.elapsed
        let began = ContinuousClock.now
        while began.duration(to: .now) < .milliseconds(5) {}
        #expect(sound.elapsed == paused)
        let pause = sound.setPaused(false)
        #expect(pause >= .milliseconds(5))
        #expect(sound.elapsed < began.duration(to: .now) + paused)
        #expect(sound.setPaused(false) == .zero)
    }
}
