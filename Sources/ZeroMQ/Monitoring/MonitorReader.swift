// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

/// Takes a monitor's events out of their socket and hands them to the handler.
///
/// Its end is the monitor's end: the last reference to it goes after the last event, or when its thread stops.
final class MonitorReader {
    private let events: Socket
    private let monitor: SocketMonitor
    private let handler: (SocketEvent) -> Void
    private var frames = FrameBuffer(framesMax: 2)
    /// The monitored socket, where it lives on the reader's thread.
    private let monitored: SocketCore?
    /// The number of this monitor there: a later one of the same socket is none of its business.
    private let number: UInt64?

    /// The most events that are handled before the other sockets of a polling thread get their turn.
    private static let eventsPerPassMax = 256

    init(
        _ events: consuming Socket,
        of monitored: SocketCore?,
        for monitor: SocketMonitor,
        handler: @escaping (SocketEvent) -> Void
    ) {
        self.events = events
        self.monitor = monitor
        self.handler = handler
        self.monitored = monitored
        self.number = monitored?.monitorNumber
    }

    deinit {
        // When the polling thread ends first: a monitor that is not read would block the I/O thread.
        if let monitored, monitored.monitorNumber == self.number { monitored.stopMonitor() }
        self.monitor.end()
    }

    /// Reads until the last event, blocking this thread.
    func readToEnd() {
        do throws(ZeroMQError) {
            repeat {
                _ = try self.events.waitUntilReadable(for: .seconds(3600))
            } while try self.readSome() == .more
        } catch {
            self.failed(error)
        }
    }

    /// Reads on a polling thread until the last event.
    func attach(to thread: PollingThread) {
        thread.attach(self.events) {
            do throws(ZeroMQError) {
                guard try self.readSome() == .end else { return }
                // Drops this handler, and with it the reader.
                thread.detach(self.events)
            } catch {
                self.failed(error)
            }
        }
    }

    private enum Progress {
        case more
        case end
    }

    private func readSome() throws(ZeroMQError) -> Progress {
        for _ in 0..<Self.eventsPerPassMax {
            guard try self.events.receive(into: &self.frames) == .message else { return .more }
            guard self.frames.count == 2, let event = self.decode() else { continue }
            self.handler(event)
            if event.change == .monitorStopped { return .end }
        }
        return .more
    }

    private func decode() -> SocketEvent? {
        let address = String(decoding: self.frames.bytes(at: 1), as: UTF8.self)
        return self.frames.withBytes(at: 0) { SocketEvent(number: $0, address: address) }
    }

    private func failed(_ error: ZeroMQError) -> Never {
        // Only a bug of ours: the socket keeps its context alive. Going on would block the I/O thread before long.
        fatalError("the events of a socket monitor cannot be read: \(error)")
    }
}
