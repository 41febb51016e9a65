// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import Foundation
import Testing

@testable import AdPresentation

/// Why a load failed, in tests.
struct Cause: Error, Equatable {
    var number = 1
}

@Suite(.suiteLimit)
struct AdvertisementStateMachineTests {
    private static let events = ["load", "refuse", "arrived", "shown", "resized", "failed", "stop"]

    /// Which status follows which event; what is not here is not legal.
    private static let legal: [AdvertisementStatus.Kind: [String: AdvertisementStatus.Kind]] = [
        .created: ["load": .loading, "refuse": .failed],
        .loading: ["load": .loading, "refuse": .failed, "arrived": .loaded, "failed": .failed, "stop": .created],
        .loaded: ["load": .loading, "refuse": .failed, "shown": .rendered, "failed": .failed, "stop": .created],
        .rendered: ["load": .loading, "refuse": .failed, "resized": .rendered, "stop": .created],
        .failed: ["load": .loading, "refuse": .failed, "stop": .created],
    ]

    /// A machine in the given status, by legal events.
    private func machine(_ kind: AdvertisementStatus.Kind) -> AdvertisementStateMachine {
        var machine = AdvertisementStateMachine()
        let path: [String] =
            switch kind {
            case .created: []
            case .loading: ["load"]
            case .loaded: ["load", "arrived"]
            case .rendered: ["load", "arrived", "shown"]
            case .failed: ["load", "failed"]
            }
        for event in path { _ = machine.take(self.event(event, load: machine.load)) }
        return machine
    }

    private func event(_ name: String, load: Int) -> AdvertisementStateMachine.Event {
        switch name {
        case "load": .load
        case "refuse": .refuse
        case "arrived": .arrived(load: load)
        case "shown": .shown(load: load, height: 50)
        case "resized": .resized(load: load, height: 60)
        case "failed": .failed(load: load, .loadingError(Cause()))
        default: .stop
        }
    }

    @Test(arguments: AdvertisementStatus.Kind.allCases, events)
    func `every legal change of status happens, and no other`(kind: AdvertisementStatus.Kind, name: String) {
        var machine = self.machine(kind)
        #expect(machine.status.kind == kind)
        let height = machine.contentHeight
        let changed = machine.take(self.event(name, load: machine.load))
        let expected = Self.legal[kind]?[name]
        #expect(changed == (expected != nil))
        #expect(machine.status.kind == expected ?? kind)
        if expected == nil { #expect(machine.contentHeight == height) }
    }

    @Test(arguments: AdvertisementStatus.Kind.allCases)
    func `the height is known while it is rendered and at no other time`(kind: AdvertisementStatus.Kind) {
        #expect(self.machine(kind).contentHeight == (kind == .rendered ? 50 : nil))
    }

    @Test(arguments: ["load", "refuse", "stop"]) func `a new beginning clears the height`(name: String) {
        var machine = self.machine(.rendered)
        _ = machine.take(self.event(name, load: machine.load))
        #expect(machine.contentHeight == nil)
    }

    @Test(arguments: AdvertisementStatus.Kind.allCases, ["arrived", "shown", "resized", "failed"])
    func `the result of an earlier load changes nothing`(kind: AdvertisementStatus.Kind, name: String) {
        var machine = self.machine(kind)
        let changed = machine.take(self.event(name, load: machine.load - 1))
        #expect(!changed)
        #expect(machine.status.kind == kind)
    }

    @Test func `another height is taken once it is rendered, and the same one is no change`() {
        var machine = self.machine(.rendered)
        let changes = [60, 60, 40].map { machine.take(.resized(load: machine.load, height: $0)) }
        #expect(changes == [true, false, true])
        #expect(machine.contentHeight == 40 && machine.status.kind == .rendered)
    }

    @Test func `a load that was stopped is an earlier one`() {
        var machine = self.machine(.loading)
        let load = machine.load
        _ = machine.take(.stop)
        _ = machine.take(.load)
        let changes = [machine.take(.arrived(load: load)), machine.take(.arrived(load: machine.load))]
        #expect(changes == [false, true])
    }
}
