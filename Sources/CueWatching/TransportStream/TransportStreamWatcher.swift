// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

internal import NIOCore

/// Watches a transport stream: reads it, and gives the signals of its cues to a ``SignalSender``.
///
/// ```swift
/// let opened = try await TransportStreamWatcher.open(input) { print($0) }
/// let watcher = TransportStreamWatcher(input: input, sender: sender) { print($0) }
/// await watcher.run(TransportStreamWatch(stream: "sport1", source: "encoder"), of: opened)
/// ```
package struct TransportStreamWatcher: Sendable {
    /// An input that is open.
    package struct Opened: Sendable {
        fileprivate enum Kind: Sendable {
            case regular(CInt)
            case pipe(NIOAsyncChannel<Arrival, Never>)
            case datagrams(NIOAsyncChannel<Arrival, Never>)
        }

        fileprivate let kind: Kind
        /// Whether its bytes are all there already: a regular file.
        package var isRecorded: Bool { if case .regular = self.kind { true } else { false } }
    }

    /// The state of a watch.
    private struct Course {
        var watch: TransportStreamWatch
        /// The version of the rules that its signals are made by.
        var rulesVersion: Int?
    }

    /// The most bytes that are read of a file at a time: 344 packets.
    private static let fileBytesAtATime = 344 * 188
    /// The same at the speed of the clock: 50 packets are 76 ms of 1 Mbit/s.
    private static let pacedBytesAtATime = 50 * 188
    /// How long nothing may come until this is told.
    package static let silenceMax: Duration = .seconds(10)

    private let input: TransportStreamInput
    private let isPaced: Bool
    private let sender: SignalSender
    private let say: @Sendable (String) -> Void
    private let watched: WatchedSource?
    private let clock: WatchClock

    /// A watcher that does nothing yet.
    ///
    /// - Parameters:
    ///   - input: Where the stream comes from.
    ///   - isPaced: Whether a recorded stream is read at the speed of its clock.
    ///   - sender: Takes what is seen.
    ///   - say: Takes sentences about the stream.
    ///   - watched: Is told what comes, and says which segments open a break; `nil`: the watch alone says it.
    ///   - clock: The time.
    package init(
        input: TransportStreamInput,
        isPaced: Bool = false,
        sender: SignalSender,
        say: @escaping @Sendable (String) -> Void,
        watched: WatchedSource? = nil,
        clock: WatchClock = .system
    ) {
        self.input = input
        self.isPaced = isPaced
        self.sender = sender
        self.say = say
        self.watched = watched
        self.clock = clock
    }

    /// Opens the input.
    ///
    /// - Parameters:
    ///   - input: Where the stream comes from.
    ///   - interface: The name or an address of the interface for multicast; `nil`: the system chooses.
    ///   - clock: The time.
    ///   - say: Is told the address where datagrams are listened for, with the port that the system chose.
    /// - Returns: The open input, for ``run(_:of:)``.
    /// - Throws: ``CueRefusal`` where it cannot be read.
    package static func open(
        _ input: TransportStreamInput,
        interface: String? = nil,
        clock: WatchClock = .system,
        say: @Sendable (String) -> Void
    ) async throws(CueRefusal) -> Opened {
        let file: ByteFile
        switch input {
        case .standardInput: file = try ByteFile.opened(nil)
        case .file(let path): file = try ByteFile.opened(path)
        case .datagrams(let address):
            let receiver = try await DatagramReceiver(
                address,
                interface: interface,
                silenceMax: Self.silenceMax,
                now: clock.now
            )
            say("Listens for datagrams at \(receiver.address).")
            return Opened(kind: .datagrams(receiver.channel))
        }
        switch file {
        case .regular(let descriptor): return Opened(kind: .regular(descriptor))
        case .pipe(let descriptor):
            let channel = try await ByteFile.receive(
                descriptor,
                silenceMax: Self.silenceMax,
                name: input.description,
                now: clock.now
            )
            return Opened(kind: .pipe(channel))
        }
    }

    /// Watches until the stream ends, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - watch: Knows which cues count.
    ///   - opened: The input.
    package func run(_ watch: TransportStreamWatch, of opened: Opened) async {
        var course = Course(watch: watch)
        do {
            switch opened.kind {
            case .regular(let descriptor): try await self.read(descriptor, &course)
            case .pipe(let channel): try await self.read(channel, areDatagrams: false, &course)
            case .datagrams(let channel): try await self.read(channel, areDatagrams: true, &course)
            }
        } catch {
            if !Task.isCancelled { self.say("\(self.input) cannot be read any more: \(error)") }
        }
        if !course.watch.hasCues { self.say("At the end of the watch no program that counts had SCTE-35 cues.") }
        if let faults = course.watch.faults.text { self.say("Faults of the stream: \(faults).") }
    }

    private func read(_ descriptor: CInt, _ course: inout Course) async throws {
        defer { ByteFile.closeFile(descriptor) }
        let count = self.isPaced ? Self.pacedBytesAtATime : Self.fileBytesAtATime
        while !Task.isCancelled {
            let bytes = try await ByteFile.read(descriptor, count, name: self.input.description)
            guard !bytes.isEmpty else { return }
            await self.take(.bytes(bytes, atMilliseconds: self.clock.now()), areDatagrams: false, &course)
        }
    }

    private func read(
        _ channel: NIOAsyncChannel<Arrival, Never>,
        areDatagrams: Bool,
        _ course: inout Course
    ) async throws {
        try await channel.executeThenClose { inbound in
            for try await arrival in inbound { await self.take(arrival, areDatagrams: areDatagrams, &course) }
        }
    }

    /// Something came: the watch goes on by the rules that the gateway tells.
    private func heard(_ moment: Int, _ course: inout Course) {
        guard let watched = self.watched, watched.heard(atMilliseconds: moment) != course.rulesVersion else { return }
        let rules = watched.rules
        course.rulesVersion = rules.version
        course.watch.use(rules.segmentation)
    }

    private func take(_ arrival: Arrival, areDatagrams: Bool, _ course: inout Course) async {
        let seen: TransportStreamWatch.Seen
        switch arrival {
        case .bytes(let bytes, let moment):
            self.heard(moment, &course)
            seen =
                areDatagrams
                ? course.watch.readDatagram(bytes, atMilliseconds: moment)
                : course.watch.read(bytes, atMilliseconds: moment)
        case .silence:
            seen = course.watch.silence(seconds: Int(Self.silenceMax.components.seconds))
            self.watched?
                .trouble(
                    "Nothing has come for \(Self.silenceMax.components.seconds) s.",
                    atMilliseconds: self.clock.now()
                )
        }
        for message in seen.messages { self.say(message) }
        for observation in seen.observations { await self.sender.take(observation) }
        guard self.isPaced, let place = course.watch.recordedMilliseconds else { return }
        let ahead = place - self.clock.now()
        if ahead > 0 { try? await self.clock.sleep(.milliseconds(ahead)) }
    }
}
