// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

package import GatewayDocuments

/// Asks a running gateway through the control socket of its data directory; for the command line.
///
/// ```swift
/// let done = try ControlClient(directory: "/var/lib/cuecast").ask("backup", ["to": "/mnt/backup"]) { progress in … }
/// ```
package struct ControlClient: Sendable {
    private let directory: String
    private let silenceMax: Duration

    /// - Parameters:
    ///   - directory: the data directory of the gateway.
    ///   - silenceMax: how long to wait for a sign of life; a gateway gives one every five seconds while it works.
    package init(directory: String, silenceMax: Duration = ControlLimits.silenceMax) {
        self.directory = directory
        self.silenceMax = silenceMax
    }

    /// Asks for a command and waits until it is done.
    ///
    /// Blocks the calling thread.
    ///
    /// - Parameters:
    ///   - command: its name.
    ///   - arguments: the command's arguments.
    ///   - progress: gets the progress.
    /// - Returns: the gateway's answer.
    /// - Throws: `ControlError` with a sentence and an exit code.
    package func ask(
        _ command: String,
        _ arguments: [String: JSONValue] = [:],
        progress: ([String: JSONValue]) -> Void = { _ in }
    ) throws(ControlError) -> [String: JSONValue] {
        let socket: UnixSocket
        do throws(UnixSocketError) {
            socket = try UnixSocket.connected(to: ControlService.fileName, in: self.directory)
        } catch {
            throw ControlError("no gateway answers in the data directory \(self.directory) (\(error))")
        }
        try self.send(ControlRequest(command: command, arguments: arguments).line, over: socket)
        var reader = ControlLineReader(lineBytesMax: ControlLimits.answerBytesMax)
        while true {
            switch ControlReply(line: try self.nextLine(of: socket, &reader)) {
            case .progress(let members):
                // An empty one only says that the gateway lives.
                if !members.isEmpty { progress(members) }
            case .done(let members): return members
            case .failed(let error): throw error
            case nil: throw ControlError("the gateway's answer cannot be understood", exitCode: 65)
            }
        }
    }

    private func send(_ line: [UInt8], over socket: UnixSocket) throws(ControlError) {
        guard line.count <= ControlLimits.lineBytesMax + 1 else {
            throw ControlError(
                "the command is too long: the limit is \(ControlLimits.lineBytesMax) bytes",
                exitCode: 64
            )
        }
        var left = line[...]
        while !left.isEmpty {
            switch socket.send(left) {
            case .bytes(let count): left.removeFirst(count)
            case .wouldBlock:
                guard socket.wait(toWrite: true, for: self.silenceMax) else { throw self.silence }
            // It refused and closed before it had read all: what it said stands in our buffer.
            case .ended: return
            }
        }
    }

    private func nextLine(of socket: UnixSocket, _ reader: inout ControlLineReader) throws(ControlError) -> [UInt8] {
        while true {
            do throws(ControlLineReader.TooLong) {
                if let line = try reader.next() { return line }
            } catch {
                throw ControlError("the gateway's answer is too long", exitCode: 65)
            }
            switch socket.receive(into: &reader) {
            case .bytes: continue
            case .wouldBlock: guard socket.wait(for: self.silenceMax) else { throw self.silence }
            case .ended: throw ControlError("the gateway ended before it had answered")
            }
        }
    }

    private var silence: ControlError {
        ControlError("the gateway has said nothing for \(self.silenceMax.components.seconds) s; it is given up")
    }
}
