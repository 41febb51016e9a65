// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

@_spi(Diagnostics) @_spi(Transports) @_spi(Tuning) import Cuecast
import CuecastWire
import CuecastZeroMQ
import Foundation
import Testing
import ZeroMQ

/// A client of `gateway`.
func makeClient(
    _ gateway: RawGateway,
    _ rig: TransportRig,
    _ configure: (inout ListenerConfiguration) -> Void = { _ in }
) throws -> CuecastClient {
    var configuration = ListenerConfiguration(
        gateway: GatewayAddress(notices: gateway.notices, requests: gateway.requests),
        stream: LiveStream(id: "radio1")
    )
    configuration.timings.retryDelayMax = .milliseconds(250)
    // However slow the machine is, no timeout expires; and a start that has come back has come through.
    configuration.timings.connectTimeout = .seconds(3_600)
    configuration.timings.subscriptionTimeout = .seconds(3_600)
    configuration.timings.requestTimeout = .seconds(3_600)
    configuration.timings.preStreamWait = .seconds(3_600)
    configure(&configuration)
    return try CuecastClient(configuration: configuration, transport: rig.transport)
}

extension ListenerEvents {
    /// Reads events until one matches.
    func first<Value>(_ match: (ListenerEvent) -> Value?) async -> Value? {
        for await event in self {
            if let value = match(event) { return value }
        }
        return nil
    }

    func untilListening() async {
        _ = await self.first { if case .connectionChanged(.listening) = $0 { () } else { nil } }
    }

    func untilWaiting() async -> String? {
        await self.first { if case .connectionChanged(.waiting(let reason)) = $0 { reason } else { nil } }
    }
}

/// A break that lasts longer than any test: its advertisement fits in whenever it is asked for.
func breakNotice(_ sequence: UInt64, in delay: Duration) throws -> Notice {
    Notice(
        position: Position(epoch: 1, sequence: sequence),
        kind: .available,
        breakID: try BreakID("b\(sequence)"),
        start: wallClock() + delay,
        duration: .seconds(7_200),
        expires: wallClock() + delay + .seconds(7_200),
        advertisementCount: 1,
        sent: wallClock()
    )
}

func spot() throws -> AdvertisementContent {
    AdvertisementContent(
        id: try AdvertisementID("spot"),
        duration: .seconds(10),
        media: [.init(url: "https://media.example/spot.mp3", type: "audio/mpeg")]
    )
}

@Suite(.suiteLimit)
struct ListenerTransportTests {
    /// How notices come to a client.
    enum NoticePath: CaseIterable, Sendable {
        case pushed
        case subscribed
        /// The gateway is an older one.
        case fellBack

        var push: RawGateway.Push { self == .fellBack ? .ignores : .pushes }

        func set(_ configuration: inout ListenerConfiguration) {
            configuration.connections = self == .subscribed ? .two : .one
        }
    }

    /// The actions of a client that was started and stopped.
    private func seen(_ carrier: Carrier, push: RawGateway.Push, connections: ListenerConnections) async throws
        -> [String]
    {
        let gateway = try await RawGateway(push: push)
        let rig = carrier.makeRig()
        let client = try makeClient(gateway, rig) { $0.connections = connections }
        try await client.start()
        #expect(client.connectionState == .listening)
        client.stop()
        await client.stopped()
        await gateway.die()
        await rig.shutDown()
        var seen: [String] = []
        for await sight in gateway.seen {
            switch sight {
            case .subscribed(let topic): seen.append("+\(topic)")
            case .unsubscribed(let topic): seen.append("-\(topic)")
            case .asked(.join(let join)):
                seen.append(join.push ? "join with push" : "join")
                #expect((join.instance != 0) == !join.push)
            case .asked: break
            }
        }
        return seen
    }

    @Test(arguments: Carrier.allCases)
    func `the stream is subscribed before the proof, and the join comes after it`(carrier: Carrier) async throws {
        let seen = try await self.seen(carrier, push: .pushes, connections: .two)
        #expect(seen.prefix(2) == ["+radio1", "+~sync"])
        let join = try #require(seen.firstIndex(of: "join"))
        #expect(join >= 2)
        #expect(seen.contains("-~sync"))
        #expect(!seen.contains("join with push"))
    }

    @Test(arguments: Carrier.allCases)
    func `one connection joins at once and subscribes to nothing`(carrier: Carrier) async throws {
        #expect(try await self.seen(carrier, push: .pushes, connections: .one) == ["join with push"])
    }

    @Test(arguments: [RawGateway.Push.ignores, .refuses], Carrier.allCases)
    func `a gateway that does not push is subscribed to, then joined again`(push: RawGateway.Push, carrier: Carrier)
        async throws
    {
        let seen = try await self.seen(carrier, push: push, connections: .one)
        #expect(seen.prefix(3) == ["join with push", "+radio1", "+~sync"])
        #expect(seen.count { $0 == "join" } == 1 && seen.count { $0 == "join with push" } == 1)
    }

    @Test(arguments: NoticePath.allCases, Carrier.allCases)
    func `an advertisement goes from the notice to the acknowledgement`(path: NoticePath, carrier: Carrier) async throws
    {
        let gateway = try await RawGateway(ads: [try spot()], push: path.push)
        let rig = carrier.makeRig()
        let client = try makeClient(gateway, rig, path.set)
        let events = client.makeEvents()
        try await client.start()
        await events.untilListening()
        await gateway.publish(try breakNotice(1, in: .milliseconds(50)))
        let available = await events.first { if case .available(_, let ads) = $0 { ads } else { nil } }
        #expect(available?.map(\.adID) == ["spot"])
        let advertisement = try #require(client.advertisements.getAdvertisement())
        client.advertisements.report(.completed, for: advertisement)
        let acknowledged = await events.first { if case .acknowledged(_, let adIDs) = $0 { adIDs } else { nil } }
        #expect(acknowledged == ["spot"])
        client.stop()
        await client.stopped()
        await gateway.die()
        await rig.shutDown()
    }

    @Test(arguments: Carrier.allCases)
    func `a thousand notices at once come by the connection of the join, in order`(carrier: Carrier) async throws {
        let gateway = try await RawGateway()
        let rig = carrier.makeRig()
        let (frames, heard) = AsyncStream.makeStream(of: ListenerConnectionEvent.self)
        let connection = rig.transport
            .connect(to: GatewayAddress(notices: gateway.notices, requests: gateway.requests)) { heard.yield($0) }
        let join = ListenerRequest.Join(stream: testStream, instance: 0, push: true)
        let request = ListenerRequest(id: 1, session: .random(), kind: .join(join))
        var sequences: [UInt64] = []
        for await event in frames {
            switch event {
            case .connected: connection.send(request.encoded())
            case .reply:
                for number in 1...1_000 as ClosedRange<UInt64> {
                    await gateway.publish(try breakNotice(number, in: .zero))
                }
            case .notice(let frame):
                guard case .notice(let notice, _) = try NoticeFrame(decoding: frame) else { break }
                sequences.append(notice.position.sequence)
                if sequences.count == 1_000 { connection.close() }
            case .closed: heard.finish()
            default: break
            }
        }
        #expect(sequences == Array(1...1_000))
        await gateway.die()
        await rig.shutDown()
    }

    @Test(arguments: NoticePath.allCases, Carrier.allCases)
    func `a gateway that dies and returns on the same ports is found again`(path: NoticePath, carrier: Carrier)
        async throws
    {
        let (notices, requests) = (try HeldPort(), try HeldPort())
        let first = try await RawGateway(notices: notices, requests: requests, ads: [try spot()], push: path.push)
        let rig = carrier.makeRig()
        let client = try makeClient(first, rig, path.set)
        let events = client.makeEvents()
        try await client.start()
        await events.untilListening()
        await first.die()
        #expect(await events.untilWaiting() != nil)
        let second = try await RawGateway(notices: notices, requests: requests, ads: [try spot()], push: path.push)
        await events.untilListening()
        await second.publish(try breakNotice(1, in: .zero))
        let available = await events.first { if case .available(_, let ads) = $0 { ads } else { nil } }
        #expect(available?.count == 1)
        client.stop()
        await client.stopped()
        await second.die()
        await rig.shutDown()
    }

    @Test(arguments: NoticePath.allCases, Carrier.allCases)
    func `a gateway that dies is left for another address, and the break comes from there`(
        path: NoticePath,
        carrier: Carrier
    )
        async throws
    {
        let first = try await RawGateway(ads: [try spot()], push: path.push)
        let second = try await RawGateway(ads: [try spot()], push: path.push)
        let rig = carrier.makeRig()
        let client = try makeClient(first, rig) {
            path.set(&$0)
            $0.alternativeGateways = [GatewayAddress(notices: second.notices, requests: second.requests)]
        }
        let events = client.makeEvents()
        try await client.start()
        await events.untilListening()
        await first.die()
        #expect(await events.untilWaiting() != nil)
        await events.untilListening()
        await second.publish(try breakNotice(1, in: .zero))
        let available = await events.first { if case .available(_, let ads) = $0 { ads } else { nil } }
        #expect(available?.count == 1)
        client.stop()
        await client.stopped()
        await second.die()
        await rig.shutDown()
    }

    @Test(arguments: Carrier.allCases)
    func `a crowd that loses its gateway comes back whole, each in its own moment`(carrier: Carrier) async throws {
        let (notices, requests) = (try HeldPort(), try HeldPort())
        let first = try await RawGateway(notices: notices, requests: requests)
        let rig = carrier.makeRig()
        let clients = try (0..<40).map { _ in try makeClient(first, rig) }
        let readers = clients.map { $0.makeEvents() }
        for client in clients { try await client.start() }
        for events in readers { await events.untilListening() }
        await first.die()
        for events in readers { #expect(await events.untilWaiting() != nil) }
        let second = try await RawGateway(notices: notices, requests: requests)
        for events in readers { await events.untilListening() }
        for client in clients { client.stop() }
        for client in clients { await client.stopped() }
        await second.die()
        await rig.shutDown()
    }

    @Test(arguments: Carrier.allCases)
    func `news of the network ends a wait that would last an hour`(carrier: Carrier) async throws {
        let (notices, requests) = (try HeldPort(), try HeldPort())
        let first = try await RawGateway(notices: notices, requests: requests)
        let rig = carrier.makeRig()
        let client = try makeClient(first, rig) { $0.timings.retryDelayMax = .seconds(7_200) }
        let events = client.makeEvents()
        try await client.start()
        await events.untilListening()
        await first.die()
        // The first retries come soon: without a network they do not.
        client.networkChanged(isAvailable: false)
        #expect(await events.untilWaiting() != nil)
        let second = try await RawGateway(notices: notices, requests: requests)
        client.networkChanged(isAvailable: true)
        await events.untilListening()
        client.stop()
        await client.stopped()
        await second.die()
        await rig.shutDown()
    }

    @Test(arguments: Carrier.allCases)
    func `a gateway that is not there is said to be unreachable`(carrier: Carrier) async throws {
        let (notices, requests) = (try HeldPort(), try HeldPort())
        let gone = try await RawGateway(notices: notices, requests: requests)
        await gone.die()
        let rig = carrier.makeRig()
        let client = try makeClient(gone, rig) { $0.timings.preStreamWait = .zero }
        let events = client.makeEvents()
        try await client.start()
        let reason = await events.untilWaiting()
        #expect(reason?.contains("127.0.0.1") == true)
        client.stop()
        await client.stopped()
        await rig.shutDown()
    }

    @Test(arguments: Carrier.allCases)
    func `an address that is none, and a runtime that is shut down, are said to be so`(carrier: Carrier) async throws {
        let rig = carrier.makeRig()
        let reason = await withCheckedContinuation { continuation in
            let gateway = GatewayAddress(notices: "nonsense", requests: "nonsense")
            _ = rig.transport.connect(to: gateway) { event in
                if case .closed(let reason) = event { continuation.resume(returning: reason) }
            }
        }
        #expect(reason.contains("nonsense"))
        await rig.shutDown()
        let refused = await withCheckedContinuation { continuation in
            _ = rig.transport.connect(to: GatewayAddress(host: "127.0.0.1")) { event in
                if case .closed(let reason) = event { continuation.resume(returning: reason) }
            }
        }
        #expect(refused.contains("shut down"))
    }

    @Test(arguments: Carrier.allCases)
    func `a connection that is dropped says that it is closed`(carrier: Carrier) async throws {
        let gateway = try await RawGateway()
        let rig = carrier.makeRig()
        let reason = await withCheckedContinuation { continuation in
            let address = GatewayAddress(notices: gateway.notices, requests: gateway.requests)
            _ = rig.transport.connect(to: address) { event in
                if case .closed(let reason) = event { continuation.resume(returning: reason) }
            }
        }
        #expect(!reason.isEmpty)
        await gateway.die()
        await rig.shutDown()
    }

    @Test(arguments: Carrier.allCases)
    func `stopping does not wait for a gateway that does not answer`(carrier: Carrier) async throws {
        let gateway = try await RawGateway(answers: false)
        let rig = carrier.makeRig()
        let client = try makeClient(gateway, rig) { $0.timings.preStreamWait = .zero }
        let events = client.makeEvents()
        try await client.start()
        _ = await events.first { if case .connectionChanged(.joining) = $0 { () } else { nil } }
        // Who waits for an answer waits for an hour.
        client.stop()
        await client.stopped()
        await gateway.die()
        await rig.shutDown()
    }

    @Test(arguments: NoticePath.allCases, Carrier.allCases)
    func `messages of another shape are dropped and told, and the next notice arrives`(
        path: NoticePath,
        carrier: Carrier
    ) async throws {
        let gateway = try await RawGateway(ads: [try spot()], push: path.push)
        let rig = carrier.makeRig()
        let client = try makeClient(gateway, rig, path.set)
        let events = client.makeEvents()
        try await client.start()
        await events.untilListening()
        let topic = NoticeFrame.topic(of: testStream)
        await gateway.publish([topic, [1]])
        await gateway.publish([topic, [1], [2]])
        await gateway.publish(try breakNotice(1, in: .zero))
        var (told, isAvailable) = (0, false)
        // What was dropped is counted, and may be told after what came behind it.
        let both: Void? = await events.first { event in
            switch event {
            case .available: isAvailable = true
            case .notUnderstood(let what): told += what.split(separator: " ").last.flatMap { Int($0) } ?? 0
            default: break
            }
            return isAvailable && told >= 2 ? () : nil
        }
        #expect(both != nil && told == 2)
        #expect(client.connectionState == .listening)
        client.stop()
        await client.stopped()
        await gateway.die()
        await rig.shutDown()
    }

    /// A notice with this many bytes, which has no meaning.
    private func notice(bytes: Int) -> [[UInt8]] {
        let topic = NoticeFrame.topic(of: testStream)
        return [topic + [UInt8](repeating: 0xFF, count: bytes - topic.count)]
    }

    @Test(arguments: Carrier.allCases)
    func `a subscribed notice of 1024 bytes is received, and one of 1025 ends the connection`(carrier: Carrier)
        async throws
    {
        let gateway = try await RawGateway()
        let rig = carrier.makeRig()
        let client = try makeClient(gateway, rig, NoticePath.subscribed.set)
        let events = client.makeEvents()
        try await client.start()
        await events.untilListening()
        await gateway.publish(self.notice(bytes: 1_024))
        let understood = await events.first { if case .notUnderstood = $0 { true } else { nil } }
        #expect(understood == true)
        await gateway.publish(self.notice(bytes: 1_025))
        #expect(await events.untilWaiting() != nil)
        await events.untilListening()
        client.stop()
        await client.stopped()
        await gateway.die()
        await rig.shutDown()
    }

    @Test(arguments: Carrier.allCases)
    func `a pushed notice of 1024 bytes is received, and one of 1025 is dropped and told`(carrier: Carrier) async throws
    {
        let gateway = try await RawGateway(ads: [try spot()])
        let rig = carrier.makeRig()
        let client = try makeClient(gateway, rig)
        let events = client.makeEvents()
        try await client.start()
        await events.untilListening()
        for (bytes, beginning) in [(1_024, "a notice: "), (1_025, "messages of the gateway")] {
            await gateway.publish(self.notice(bytes: bytes))
            let told = await events.first { if case .notUnderstood(let what) = $0 { what } else { nil } }
            #expect(told?.hasPrefix(beginning) == true, "\(bytes) bytes: \(told ?? "nothing")")
        }
        await gateway.publish(try breakNotice(1, in: .zero))
        _ = await events.first { if case .available = $0 { () } else { nil } }
        client.stop()
        await client.stopped()
        await gateway.die()
        await rig.shutDown()
    }
}

#if os(Linux)
/// In processes of their own, where no other test opens descriptors or starts threads.
@Suite(.suiteLimit)
struct ResourceTests {
    struct Use: Hashable {
        let descriptors: Int
        let threads: Int

        static func now() -> Use {
            func count(_ path: String) -> Int {
                (try? FileManager.default.contentsOfDirectory(atPath: path).count) ?? -1
            }
            return Use(descriptors: count("/proc/self/fd"), threads: count("/proc/self/task"))
        }

        /// Whether a cycle leaves nothing behind.
        ///
        /// Fifty more of them use no more than before, soon if not at once, because libzmq closes descriptors on a thread of
        /// its own. Swift's own threads come when the machine likes, so not the
        /// first fifty need to be those; what stays behind in each cycle, or in some of them, stays behind every time.
        static func isKept(over cycle: () async throws -> Void) async throws -> Bool {
            var uses: [Use] = []
            for _ in 0..<6 {
                for _ in 0..<50 { try await cycle() }
                let use = try await Self.settled()
                if let before = uses.last, use.descriptors <= before.descriptors, use.threads <= before.threads {
                    return true
                }
                uses.append(use)
            }
            print("uses more each time: \(uses)")
            return false
        }

        /// The resources in use, once they have not changed for a while.
        private static func settled() async throws -> Use {
            var (use, looks) = (Use.now(), 0)
            while looks < 20 {
                try await Task.sleep(for: .milliseconds(25))
                let next = Use.now()
                looks = next == use ? looks + 1 : 0
                use = next
            }
            return use
        }

        /// How many threads bear a name.
        static func threads(named name: String) -> Int { self.threads { $0 == name + "\n" } }

        /// How many threads bear a name that begins so.
        static func threads(of prefix: String) -> Int { self.threads { $0.hasPrefix(prefix) } }

        private static func threads(where isMeant: (String) -> Bool) -> Int {
            let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
            return tasks.count { task in
                (try? String(contentsOfFile: "/proc/self/task/\(task)/comm", encoding: .utf8)).map(isMeant) ?? false
            }
        }
    }

    @Test(arguments: Carrier.allCases)
    func `fifty times starting and stopping leaves no descriptor and no thread behind`(carrier: Carrier) async {
        await #expect(processExitsWith: .success) { [carrier] in
            let gateway = try await RawGateway()
            let rig = carrier.makeRig()
            func cycle() async throws {
                let client = try makeClient(gateway, rig)
                try await client.start()
                client.stop()
                await client.stopped()
            }
            guard try await Use.isKept(over: cycle) else { exit(1) }
            await rig.shutDown()
            await gateway.die()
        }
    }

    @Test(arguments: Carrier.allCases)
    func `nor where each of them makes two connections`(carrier: Carrier) async {
        await #expect(processExitsWith: .success) { [carrier] in
            let gateway = try await RawGateway()
            let rig = carrier.makeRig()
            func cycle() async throws {
                let client = try makeClient(gateway, rig) { $0.connections = .two }
                try await client.start()
                client.stop()
                await client.stopped()
            }
            guard try await Use.isKept(over: cycle) else { exit(1) }
            await rig.shutDown()
            await gateway.die()
        }
    }

    @Test(arguments: Carrier.allCases)
    func `with a file and tracking turned on nothing is left behind either`(carrier: Carrier) async {
        await #expect(processExitsWith: .success) { [carrier] in
            let gateway = try await RawGateway()
            let rig = carrier.makeRig()
            let path = "/tmp/cuecast-\(UInt64.random(in: .min ... .max))"
            func cycle() async throws {
                let client = try makeClient(gateway, rig) {
                    $0.storage = .file(path: path)
                    $0.tracking = TrackingConfiguration()
                }
                try await client.start()
                client.stop()
                await client.stopped()
            }
            guard try await Use.isKept(over: cycle) else { exit(1) }
            unsafe unlink(path)
            unsafe unlink(path + ".lock")
            await rig.shutDown()
            await gateway.die()
        }
    }

    @Test func `fifty clients of libzmq share one polling thread`() async {
        await #expect(processExitsWith: .success) {
            let gateway = try await RawGateway()
            let runtime = ZeroMQRuntime(name: "shared-by-all")
            let rig = TransportRig(runtime)
            func started() async throws -> CuecastClient {
                let client = try makeClient(gateway, rig)
                try await client.start()
                return client
            }
            var clients = [try await started()]
            let others = Use.threads(named: "ZMQbg/IO/0")
            for _ in 1..<50 { clients.append(try await started()) }
            guard Use.threads(named: "shared-by-all") == 1, others >= 2, Use.threads(named: "ZMQbg/IO/0") == others
            else { exit(1) }
            for client in clients { client.stop() }
            for client in clients { await client.stopped() }
            await rig.shutDown()
            await gateway.die()
        }
    }

    @Test func `fifty clients without libzmq share one thread`() async {
        await #expect(processExitsWith: .success) {
            let gateway = try await RawGateway()
            let rig = Carrier.nio.makeRig()
            var clients: [CuecastClient] = []
            for _ in 0..<50 {
                let client = try makeClient(gateway, rig)
                try await client.start()
                clients.append(client)
            }
            guard Use.threads(of: "NIO-ELT-") == 1 else { exit(1) }
            for client in clients { client.stop() }
            for client in clients { await client.stopped() }
            await rig.shutDown()
            guard Use.threads(of: "NIO-ELT-") == 0 else { exit(2) }
            await gateway.die()
        }
    }

    @Test(arguments: Carrier.allCases)
    func `a runtime that is shut down leaves nothing behind`(carrier: Carrier) async {
        await #expect(processExitsWith: .success) { [carrier] in
            let gateway = try await RawGateway()
            func cycle() async throws {
                let rig = carrier.makeRig()
                let client = try makeClient(gateway, rig)
                try await client.start()
                client.stop()
                await client.stopped()
                await rig.shutDown()
            }
            guard try await Use.isKept(over: cycle) else { exit(1) }
            await gateway.die()
        }
    }
}
#endif
