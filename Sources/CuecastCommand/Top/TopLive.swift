// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CommandSupport
import LiveTerminal
import Synchronization
import UnixSignals

/// Shows a feed on a terminal until the user quits.
final class TopLive: Sendable {
    /// The signals that are handled from before the terminal is taken until it is given back.
    static let signals: [UnixSignal] = [.sigterm, .sigint, .sighup, .sigquit, .sigwinch, .sigcont]

    private let feed: TopFeed
    private let terminal: Terminal
    private let screen: Mutex<Screen>
    private let keys = Mutex<KeyReader?>(nil)

    init(_ feed: TopFeed, _ terminal: Terminal, hasColor: Bool) {
        self.feed = feed
        self.terminal = terminal
        self.screen = Mutex(Screen(hasColor: hasColor))
    }

    /// Takes the terminal.
    ///
    /// - Throws: where it cannot be had; it is told by then.
    func begin() throws {
        do {
            try self.terminal.begin()
        } catch {
            complain("\(error)")
            throw CommandExit.cannotWrite
        }
        let reader = KeyReader { [weak self] keys in self?.take(keys) }
        self.keys.withLock { $0 = reader }
    }

    /// Gives it back.
    func end() {
        self.keys.withLock { reader in
            reader?.stop()
            reader = nil
        }
        self.terminal.end()
    }

    /// Draws what changes.
    func draw() async {
        for await _ in self.feed.news {
            let state = self.feed.state
            let lines = TopScreen(state).lines(at: self.feed.now, address: self.feed.address)
            let bytes = self.screen.withLock { $0.draw(lines, in: state.size) }
            guard bytes.isEmpty || self.terminal.write(bytes) else { return }
        }
    }

    /// Ends on the signals that end a program, and follows the size of the window.
    func take(_ signals: UnixSignalsSequence) async {
        for await signal in signals {
            switch signal {
            case .sigwinch: self.feed.apply(.resized(self.terminal.size))
            case .sigcont: self.resume()
            default: self.feed.finish()
            }
        }
    }

    private func take(_ keys: [Key]?) {
        // The terminal is gone.
        guard let keys else { return self.feed.finish() }
        for key in keys {
            switch self.feed.apply(.pressed(key)) {
            case .quit: self.feed.finish()
            case .redraw: self.redraw()
            case .suspend:
                do throws(Terminal.Fault) {
                    try self.terminal.suspend()
                    self.redraw()
                } catch {
                    self.feed.finish()
                }
            case .load, nil: break
            }
        }
    }

    /// The shell had the terminal meanwhile.
    private func resume() {
        // Not where it was given back for good.
        guard self.keys.withLock({ $0 != nil }) else { return }
        do throws(Terminal.Fault) {
            try self.terminal.begin()
            self.redraw()
        } catch {
            self.feed.finish()
        }
    }

    private func redraw() {
        self.screen.withLock { $0.forget() }
        self.feed.apply(.resized(self.terminal.size))
    }
}
