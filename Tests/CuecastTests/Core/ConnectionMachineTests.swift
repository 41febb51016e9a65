// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Testing

@_spi(Diagnostics) @_spi(Tuning) @testable import Cuecast

@Suite(.suiteLimit)
struct ConnectionMachineTests {
    typealias Action = ConnectionMachine.Action

    let topic = NoticeFrame.topic(of: stream())
    let sync = NoticeFrame.syncTopic
    var jitter = JitterSource(seed: 1)

    func machine(usesToken: Bool = false, usesPush: Bool = false) -> ConnectionMachine {
        ConnectionMachine(stream: stream(), usesToken: usesToken, usesPush: usesPush, timings: ListenerTimings())
    }

    /// A machine that has joined at this instant with instance 5.
    mutating func joined(at now: Double = 0) -> ConnectionMachine {
        var machine = self.machine()
        _ = machine.start(now: local(now))
        _ = machine.connected(now: local(now))
        _ = machine.tick(instance: 5, now: local(now))
        _ = machine.joined(instance: 5, pushed: false, now: local(now), jitter: &self.jitter)
        return machine
    }

    @Test mutating func `the join comes only after the tick of the second subscription`() {
        var machine = self.machine()
        #expect(machine.start(now: local(0)) == [.connect(attempt: 1, gateway: .configured(0))])
        #expect(machine.tick(instance: 5, now: local(0)) == [])
        #expect(machine.connected(now: local(1)) == [.subscribe(self.topic), .subscribe(self.sync)])
        #expect(machine.tick(instance: 5, now: local(2)) == [.unsubscribe(self.sync), .join(.tick(instance: 5))])
        #expect(machine.tick(instance: 5, now: local(2)) == [])
        let answer = machine.joined(instance: 5, pushed: false, now: local(3), jitter: &self.jitter)
        #expect(answer.counts && answer.actions == [])
        #expect(machine.state == .joined(.tick(instance: 5)))
        #expect(machine.canRequest)
    }

    @Test mutating func `starting twice connects once`() {
        var machine = self.machine()
        _ = machine.start(now: local(0))
        #expect(machine.start(now: local(0)) == [])
    }

    @Test mutating func `another instance in the answer proves the subscription anew, then connects anew`() {
        var machine = self.machine()
        _ = machine.start(now: local(0))
        _ = machine.connected(now: local(0))
        _ = machine.tick(instance: 5, now: local(0))
        let first = machine.joined(instance: 6, pushed: false, now: local(1), jitter: &self.jitter)
        #expect(!first.counts && first.actions == [.subscribe(self.sync)])
        #expect(machine.tick(instance: 5, now: local(1)) == [.unsubscribe(self.sync), .join(.tick(instance: 5))])
        let second = machine.joined(instance: 6, pushed: false, now: local(2), jitter: &self.jitter)
        #expect(!second.counts && second.actions == [.disconnect])
        #expect(machine.due(now: local(3), jitter: &self.jitter) == [.connect(attempt: 2, gateway: .configured(0))])
    }

    @Test mutating func `an answer of the right instance after a mismatch counts`() {
        var machine = self.machine()
        _ = machine.start(now: local(0))
        _ = machine.connected(now: local(0))
        _ = machine.tick(instance: 5, now: local(0))
        _ = machine.joined(instance: 6, pushed: false, now: local(1), jitter: &self.jitter)
        _ = machine.tick(instance: 6, now: local(1))
        #expect(machine.joined(instance: 6, pushed: false, now: local(1), jitter: &self.jitter).counts)
    }

    @Test mutating func `a connection that is not made in time is tried again`() {
        var machine = self.machine()
        _ = machine.start(now: local(0))
        #expect(machine.due(now: local(9.999), jitter: &self.jitter) == [])
        #expect(machine.due(now: local(10), jitter: &self.jitter) == [.disconnect])
        #expect(machine.nextDeadline.map { $0 <= local(10.25) } == true)
        #expect(machine.due(now: local(10.25), jitter: &self.jitter) == [.connect(attempt: 2, gateway: .configured(0))])
    }

    @Test mutating func `a subscription that does not take effect in time is tried again`() {
        var machine = self.machine()
        _ = machine.start(now: local(0))
        _ = machine.connected(now: local(1))
        #expect(machine.due(now: local(6), jitter: &self.jitter) == [.disconnect])
    }

    @Test mutating func `every reconnect proves the subscription again`() {
        var machine = self.joined()
        #expect(machine.disconnected(reason: "gone", now: local(1), jitter: &self.jitter) == [.disconnect])
        #expect(!machine.canRequest)
        #expect(machine.due(now: local(2), jitter: &self.jitter) == [.connect(attempt: 2, gateway: .configured(0))])
        #expect(machine.connected(now: local(2)) == [.subscribe(self.topic), .subscribe(self.sync)])
    }

    @Test mutating func `waits between connections grow, and start over after a good one`() {
        var machine = self.machine()
        _ = machine.start(now: local(0))
        var now = 0.0
        for limit in [0.25, 0.5, 1, 2, 4, 8, 16, 30, 30] {
            _ = machine.disconnected(reason: "refused", now: local(now), jitter: &self.jitter)
            #expect(machine.nextDeadline.map { $0 <= local(now + limit) } == true)
            now += limit
            #expect(machine.due(now: local(now), jitter: &self.jitter).count == 1)
        }
        _ = machine.connected(now: local(now))
        _ = machine.tick(instance: 5, now: local(now))
        _ = machine.joined(instance: 5, pushed: false, now: local(now), jitter: &self.jitter)
        now += 10
        _ = machine.disconnected(reason: "gone", now: local(now), jitter: &self.jitter)
        #expect(machine.nextDeadline.map { $0 <= local(now + 0.25) } == true)
    }

    @Test mutating func `the first rejoin comes within a quarter of a second, and keeps other requests going`() {
        var machine = self.joined()
        machine.rejoin(now: local(20), jitter: &self.jitter)
        #expect(machine.canRequest)
        #expect(machine.nextDeadline.map { $0 >= local(20) && $0 <= local(20.25) } == true)
        #expect(machine.due(now: local(20.25), jitter: &self.jitter) == [.join(.tick(instance: 5))])
        #expect(machine.due(now: local(20.25), jitter: &self.jitter) == [])
        machine.joinFailed(now: local(25), jitter: &self.jitter)
        #expect(machine.nextDeadline.map { $0 <= local(25.5) } == true)
    }

    @Test mutating func `rejoins that do not help come ever later`() {
        var machine = self.joined()
        var now = 20.0
        var waits: [Double] = []
        for _ in 0..<12 {
            machine.rejoin(now: local(now), jitter: &self.jitter)
            guard let deadline = machine.nextDeadline else { break }
            waits.append((deadline - local(now)).inSeconds)
            now += waits[waits.count - 1] + 0.001
            _ = machine.due(now: local(now), jitter: &self.jitter)
            _ = machine.joined(instance: 5, pushed: false, now: local(now), jitter: &self.jitter)
        }
        #expect(waits[0] <= 0.25)
        #expect(waits.max().map { $0 > 1 } == true)
    }

    @Test mutating func `a gap that closes by itself needs no join`() {
        var machine = self.joined()
        machine.rejoin(now: local(20), jitter: &self.jitter)
        machine.rejoinNotNeeded()
        #expect(machine.state == .joined(.tick(instance: 5)))
        #expect(machine.nextDeadline == nil)
    }

    @Test mutating func `a join under way is not taken back`() {
        var machine = self.joined()
        machine.rejoin(now: local(20), jitter: &self.jitter)
        _ = machine.due(now: local(21), jitter: &self.jitter)
        machine.rejoinNotNeeded()
        #expect(machine.state == .rejoining(.tick(instance: 5), sendAt: nil))
    }

    @Test mutating func `three requests in a row without a reply mean a useless connection`() {
        var machine = self.joined()
        #expect(machine.requestUnanswered(now: local(1), jitter: &self.jitter) == [])
        #expect(machine.requestUnanswered(now: local(2), jitter: &self.jitter) == [])
        machine.replyArrived()
        #expect(machine.requestUnanswered(now: local(3), jitter: &self.jitter) == [])
        #expect(machine.requestUnanswered(now: local(4), jitter: &self.jitter) == [])
        #expect(machine.requestUnanswered(now: local(5), jitter: &self.jitter) == [.disconnect])
    }

    @Test mutating func `a final refusal ends the tries`() {
        var machine = self.machine()
        _ = machine.start(now: local(0))
        _ = machine.connected(now: local(0))
        _ = machine.tick(instance: 5, now: local(0))
        #expect(machine.refuse(reason: "not allowed") == [.disconnect])
        #expect(machine.state.published == .refused(reason: "not allowed"))
        #expect(machine.nextDeadline == nil)
        #expect(machine.disconnected(reason: "closed", now: local(1), jitter: &self.jitter) == [])
    }

    @Test mutating func `a token is asked for between the proof and the join, on each connection`() {
        var machine = self.machine(usesToken: true)
        _ = machine.start(now: local(0))
        _ = machine.connected(now: local(0))
        #expect(machine.tick(instance: 5, now: local(0)) == [.unsubscribe(self.sync), .askForToken])
        #expect(machine.token(isGiven: true, now: local(1), jitter: &self.jitter) == [.join(.tick(instance: 5))])
        #expect(machine.token(isGiven: true, now: local(1), jitter: &self.jitter) == [])
        _ = machine.disconnected(reason: "gone", now: local(1), jitter: &self.jitter)
        _ = machine.due(now: local(2), jitter: &self.jitter)
        _ = machine.connected(now: local(2))
        _ = machine.tick(instance: 5, now: local(2))
        #expect(machine.token(isGiven: false, now: local(2), jitter: &self.jitter) == [.disconnect])
    }

    @Test mutating func `a token that stays away is not waited for without end`() {
        var machine = self.machine(usesToken: true)
        _ = machine.start(now: local(0))
        _ = machine.connected(now: local(0))
        _ = machine.tick(instance: 5, now: local(0))
        #expect(machine.due(now: local(10), jitter: &self.jitter) == [.disconnect])
    }

    @Test mutating func `stopping ends every state once`() {
        var joined = self.joined()
        #expect(joined.stop() == [.disconnect])
        #expect(joined.stop() == [])
        #expect(joined.state == .stopped)
        #expect(joined.start(now: local(1)) == [])
        #expect(joined.connected(now: local(1)) == [])
        #expect(joined.tick(instance: 1, now: local(1)) == [])
        #expect(joined.disconnected(reason: "", now: local(1), jitter: &self.jitter) == [])
        #expect(joined.due(now: local(100), jitter: &self.jitter) == [])
        #expect(joined.joined(instance: 1, pushed: false, now: local(1), jitter: &self.jitter).counts == false)
        var idle = self.machine()
        #expect(idle.stop() == [])
    }

    // MARK: Several addresses

    /// The address of the next connection, once the machine's wait is over.
    private mutating func nextGateway(_ machine: inout ConnectionMachine) -> Int? {
        guard let deadline = machine.nextDeadline,
            case .connect(_, .configured(let gateway)) = machine.due(now: deadline, jitter: &self.jitter).first
        else { return nil }
        return gateway
    }

    private mutating func lose(_ machine: inout ConnectionMachine, at now: Double, leaves: Bool = false) -> Duration {
        _ = machine.lose(
            reason: .closed("lost"),
            atLeast: .seconds(100),
            leaves: leaves,
            now: local(now),
            jitter: &self.jitter
        )
        return (machine.nextDeadline ?? local(now)) - local(now)
    }

    private func machineWithThreeAddresses(usesPush: Bool = false) -> ConnectionMachine {
        ConnectionMachine(
            stream: stream(),
            usesToken: false,
            usesPush: usesPush,
            gatewayCount: 3,
            timings: ListenerTimings()
        )
    }

    @Test mutating func `each failure leads to the next address, and the waits grow with the rounds`() {
        var machine = self.machineWithThreeAddresses()
        #expect(machine.start(now: local(0)) == [.connect(attempt: 1, gateway: .configured(0))])
        var gateways: [Int?] = []
        var waits: [Duration] = []
        for _ in 0..<9 {
            waits.append(self.lose(&machine, at: 0))
            gateways.append(self.nextGateway(&machine))
        }
        #expect(gateways == [1, 2, 0, 1, 2, 0, 1, 2, 0])
        let within = [0, 1, 3, 4, 6, 7].allSatisfy { waits[$0] <= .milliseconds(250) }
        #expect(within, "within a round the next address is tried soon: \(waits)")
        // What one address asks for is asked of it only: after a round it is its turn again.
        #expect([2, 5, 8].allSatisfy { waits[$0] >= .seconds(100) }, "\(waits)")
    }

    @Test mutating func `a connection that was good is tried again at the same address first`() {
        var machine = self.machineWithThreeAddresses()
        _ = machine.start(now: local(0))
        _ = self.lose(&machine, at: 0)
        #expect(self.nextGateway(&machine) == 1)
        _ = machine.connected(now: local(1))
        _ = machine.tick(instance: 5, now: local(1))
        _ = machine.joined(instance: 5, pushed: false, now: local(1), jitter: &self.jitter)
        #expect(self.lose(&machine, at: 20) <= .milliseconds(250))
        #expect(self.nextGateway(&machine) == 1)
        _ = self.lose(&machine, at: 21)
        #expect(self.nextGateway(&machine) == 2)
    }

    @Test mutating func `a gateway that asks to go away is left at once, however good it was`() {
        var machine = self.machineWithThreeAddresses()
        _ = machine.start(now: local(0))
        _ = machine.connected(now: local(1))
        _ = machine.tick(instance: 5, now: local(1))
        _ = machine.joined(instance: 5, pushed: false, now: local(1), jitter: &self.jitter)
        #expect(self.lose(&machine, at: 20, leaves: true) <= .milliseconds(250))
        #expect(self.nextGateway(&machine) == 1)
    }

    // MARK: The background

    @Test mutating func `suspending ends the connection and nothing is tried until the app is back`() {
        var machine = self.joined()
        #expect(machine.suspend() == [.disconnect])
        #expect(machine.state == .suspended && machine.nextDeadline == nil)
        #expect(machine.disconnected(reason: "closed", now: local(1), jitter: &self.jitter) == [])
        #expect(machine.suspend() == [])
        #expect(machine.resume(now: local(500)) == [.connect(attempt: 2, gateway: .configured(0))])
        #expect(machine.resume(now: local(500)) == [])
    }

    @Test mutating func `suspending while waiting or refused needs no disconnecting`() {
        var machine = self.joined()
        _ = self.lose(&machine, at: 1)
        #expect(machine.suspend() == [])
        #expect(machine.stop() == [])
        var refused = self.joined()
        _ = refused.refuse(reason: "no")
        #expect(refused.suspend() == [])
        #expect(refused.resume(now: local(1)) == [])
        #expect(refused.state == .refused(reason: "no"))
    }

    // MARK: One connection

    /// A machine that has joined at this instant, with the notices on the same connection.
    mutating func pushed(at now: Double = 0) -> ConnectionMachine {
        var machine = self.machine(usesPush: true)
        _ = machine.start(now: local(now))
        _ = machine.connected(now: local(now))
        _ = machine.joined(instance: 5, pushed: true, now: local(now), jitter: &self.jitter)
        return machine
    }

    @Test mutating func `one connection joins at once, and the answer is the proof`() {
        var machine = self.machine(usesPush: true)
        #expect(machine.start(now: local(0)) == [.connect(attempt: 1, gateway: .configured(0))])
        #expect(machine.connected(now: local(1)) == [.join(.answer)])
        #expect(!machine.canRequest && machine.isConnected)
        let answer = machine.joined(instance: 5, pushed: true, now: local(2), jitter: &self.jitter)
        #expect(answer.counts && answer.actions == [])
        #expect(machine.state == .joined(.answer) && machine.canRequest)
        #expect(machine.tick(instance: 6, now: local(2)) == [])
    }

    @Test mutating func `no run of the gateway is a wrong one where there is no tick`() {
        var machine = self.pushed()
        machine.rejoin(now: local(1), jitter: &self.jitter)
        #expect(machine.due(now: local(1.25), jitter: &self.jitter) == [.join(.answer)])
        let answer = machine.joined(instance: 6, pushed: true, now: local(2), jitter: &self.jitter)
        #expect(answer.counts && answer.actions == [])
        #expect(machine.state == .joined(.answer))
    }

    @Test mutating func `a gateway that does not push is subscribed to on the same connection`() {
        var machine = self.machine(usesPush: true)
        _ = machine.start(now: local(0))
        _ = machine.connected(now: local(1))
        let answer = machine.joined(instance: 5, pushed: false, now: local(2), jitter: &self.jitter)
        #expect(!answer.counts && answer.actions == [.subscribe(self.topic), .subscribe(self.sync)])
        #expect(machine.attempt == 1 && machine.state == .proving(deadline: local(7)))
        #expect(
            machine.tick(instance: 5, now: local(3)) == [.unsubscribe(self.sync), .join(.tick(instance: 5))]
        )
        #expect(machine.joined(instance: 5, pushed: false, now: local(4), jitter: &self.jitter).counts)
        #expect(machine.state == .joined(.tick(instance: 5)))
    }

    @Test mutating func `a join that is invalid with push is tried without it, and only then refused`() {
        var machine = self.machine(usesPush: true)
        _ = machine.start(now: local(0))
        #expect(machine.joinInvalid(now: local(0)) == nil)
        _ = machine.connected(now: local(1))
        #expect(machine.joinInvalid(now: local(2)) == [.subscribe(self.topic), .subscribe(self.sync)])
        _ = machine.tick(instance: 5, now: local(3))
        #expect(machine.joinInvalid(now: local(4)) == nil)
        #expect(machine.refuse(reason: "no such stream") == [.disconnect])
    }

    @Test mutating func `a gateway that does not push is asked for it no more, until the next start`() {
        var machine = self.machine(usesPush: true)
        _ = machine.start(now: local(0))
        _ = machine.connected(now: local(0))
        _ = machine.joined(instance: 5, pushed: false, now: local(0), jitter: &self.jitter)
        _ = machine.disconnected(reason: "gone", now: local(1), jitter: &self.jitter)
        _ = machine.due(now: local(2), jitter: &self.jitter)
        #expect(machine.connected(now: local(2)) == [.subscribe(self.topic), .subscribe(self.sync)])
        _ = machine.suspend()
        _ = machine.resume(now: local(3))
        #expect(machine.connected(now: local(3)) == [.subscribe(self.topic), .subscribe(self.sync)])
    }

    @Test mutating func `that a gateway does not push is known of its address only`() {
        var machine = self.machineWithThreeAddresses(usesPush: true)
        _ = machine.start(now: local(0))
        _ = machine.connected(now: local(0))
        _ = machine.joined(instance: 5, pushed: false, now: local(0), jitter: &self.jitter)
        var actions: [Int: [Action]] = [:]
        for _ in 0..<3 {
            _ = self.lose(&machine, at: 1)
            guard let gateway = self.nextGateway(&machine) else { break }
            actions[gateway] = machine.connected(now: local(200))
        }
        let subscriptions: [Action] = [.subscribe(self.topic), .subscribe(self.sync)]
        #expect(actions == [0: subscriptions, 1: [.join(.answer)], 2: [.join(.answer)]])
    }

    @Test mutating func `joins with push are repeated with push, on a gap and where one got no answer`() {
        var machine = self.pushed()
        machine.rejoin(now: local(20), jitter: &self.jitter)
        #expect(machine.canRequest)
        #expect(machine.due(now: local(20.25), jitter: &self.jitter) == [.join(.answer)])
        machine.joinFailed(now: local(25), jitter: &self.jitter)
        #expect(machine.due(now: local(25.5), jitter: &self.jitter) == [.join(.answer)])
        #expect(machine.joined(instance: 5, pushed: true, now: local(26), jitter: &self.jitter).counts)
        var first = self.machine(usesPush: true)
        _ = first.start(now: local(0))
        _ = first.connected(now: local(0))
        first.joinFailed(now: local(5), jitter: &self.jitter)
        #expect(first.due(now: local(5.25), jitter: &self.jitter) == [.join(.answer)])
    }

    @Test mutating func `an answer without push to a later join is a reason to subscribe too`() {
        var machine = self.pushed()
        machine.rejoin(now: local(20), jitter: &self.jitter)
        _ = machine.due(now: local(20.25), jitter: &self.jitter)
        let answer = machine.joined(instance: 5, pushed: false, now: local(21), jitter: &self.jitter)
        #expect(!answer.counts && answer.actions == [.subscribe(self.topic), .subscribe(self.sync)])
        #expect(!machine.canRequest && machine.isConnected)
    }

    @Test mutating func `every new connection asks for the notices again`() {
        var machine = self.pushed()
        #expect(machine.disconnected(reason: "gone", now: local(1), jitter: &self.jitter) == [.disconnect])
        #expect(machine.due(now: local(2), jitter: &self.jitter) == [.connect(attempt: 2, gateway: .configured(0))])
        #expect(machine.connected(now: local(2)) == [.join(.answer)])
        #expect(machine.suspend() == [.disconnect])
        #expect(machine.resume(now: local(3)) == [.connect(attempt: 3, gateway: .configured(0))])
        #expect(machine.connected(now: local(3)) == [.join(.answer)])
        #expect(machine.stop() == [.disconnect])
    }

    @Test mutating func `the token comes before the join, and serves for what follows on the connection`() {
        var machine = self.machine(usesToken: true, usesPush: true)
        _ = machine.start(now: local(0))
        #expect(machine.connected(now: local(0)) == [.askForToken])
        #expect(machine.state == .authorizing(.answer, deadline: local(10)))
        #expect(machine.token(isGiven: true, now: local(1), jitter: &self.jitter) == [.join(.answer)])
        let answer = machine.joined(instance: 5, pushed: false, now: local(2), jitter: &self.jitter)
        #expect(answer.actions == [.subscribe(self.topic), .subscribe(self.sync)])
        #expect(
            machine.tick(instance: 5, now: local(3)) == [.unsubscribe(self.sync), .join(.tick(instance: 5))]
        )
        _ = machine.disconnected(reason: "gone", now: local(4), jitter: &self.jitter)
        _ = machine.due(now: local(5), jitter: &self.jitter)
        _ = machine.connected(now: local(5))
        #expect(machine.tick(instance: 5, now: local(5)) == [.unsubscribe(self.sync), .askForToken])
        #expect(machine.token(isGiven: false, now: local(6), jitter: &self.jitter) == [.disconnect])
    }

    @Test mutating func `a subscription that does not come about after a join with push is tried again`() {
        var machine = self.machine(usesPush: true)
        _ = machine.start(now: local(0))
        _ = machine.connected(now: local(1))
        _ = machine.joined(instance: 5, pushed: false, now: local(2), jitter: &self.jitter)
        #expect(machine.due(now: local(6.999), jitter: &self.jitter) == [])
        #expect(machine.due(now: local(7), jitter: &self.jitter) == [.disconnect])
        #expect(machine.state.loss == .subscriptionTimedOut)
    }
}
