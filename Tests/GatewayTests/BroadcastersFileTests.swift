// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
import Gateway
import GatewayCore
import TestSupport
import Testing

/// Keys that anybody may know: from the manual of libzmq (zmq_curve), and one more.
enum KnownKeys {
    static let first = "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"
    static let second = "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
}

/// The valid contents of the file of broadcasters, and the sentences of refusals.
@Suite(.suiteLimit)
struct BroadcastersFileTests {
    private func read(_ text: String) throws -> BroadcasterDirectory { try BroadcastersFile.read(Array(text.utf8)) }

    private func faults(_ text: String) -> [String] {
        do throws(BroadcasterFaults) {
            _ = try BroadcastersFile.read(Array(text.utf8))
            return []
        } catch {
            return error.sentences
        }
    }

    private static let yaml = """
        broadcasters:
          - name: studio-a
            streams: [radio1, "sport-*"]
            keys:
              - '\(KnownKeys.first)'
          - name: studio-b
            streams:
              - "*"
            keys:
              - key: '\(KnownKeys.second)'
                notAfter: 2027-01-31T00:00:00Z
        """

    @Test func `the same in YAML and in JSON is the same`() throws {
        let json = """
            {"broadcasters": [
              {"name": "studio-a", "streams": ["radio1", "sport-*"], "keys": ["\(KnownKeys.first)"]},
              {"name": "studio-b", "streams": ["*"],
               "keys": [{"key": "\(KnownKeys.second)", "notAfter": "2027-01-31T00:00:00Z"}]}
            ]}
            """
        let directory = try self.read(Self.yaml)
        #expect(try self.read(json) == directory)
        #expect(directory.names == ["studio-a", "studio-b"])
        let end = Timestamp(microseconds: 1_801_353_600_000_000)
        #expect(
            directory.standing(of: KnownKeys.first, at: end + .seconds(1))
                == .known(
                    BroadcastPrincipal(
                        name: "studio-a",
                        streams: ["radio1", "sport-*"].compactMap { StreamPattern($0) }
                    )
                )
        )
        #expect(
            directory.standing(of: KnownKeys.second, at: end + .microseconds(1))
                == .expired(name: "studio-b", notAfter: end)
        )
    }

    @Test func `the earlier of two ends counts`() throws {
        let directory = try self.read(
            """
            broadcasters:
              - {name: a, streams: ["*"], notAfter: 2027-01-01T00:00:00Z, keys: [{key: '\(KnownKeys.first)',
                 notAfter: 2028-01-01T00:00:00Z}, '\(KnownKeys.second)']}
            """
        )
        let end = Timestamp(microseconds: 1_798_761_600_000_000)
        for key in [KnownKeys.first, KnownKeys.second] {
            #expect(directory.standing(of: key, at: end + .microseconds(1)) == .expired(name: "a", notAfter: end))
        }
    }

    @Test func `a list may be empty: then no broadcaster may publish`() throws {
        #expect(try self.read("broadcasters: []").keyCount == 0)
    }

    @Test(arguments: [
        ("", "it must have a list 'broadcasters', and is empty"),
        ("broadcasters:", "it must have a list 'broadcasters'"),
        ("studio-a", "the file: it must be a table of keys and values"),
        ("broadcasters: [studio-a]", "broadcaster 1: it must be a table of keys and values"),
        ("broadcasters: [{streams: [a], keys: []}]", "broadcaster 1: it has no name"),
        ("broadcasters: [{name: a, keys: [], streams: a}]", "broadcaster 1: streams: it must be a list"),
        (
            "broadcasters: [{name: a, streams: ['a*b'], keys: []}]",
            "broadcaster 1: each of its streams must be \(StreamPattern.rule)"
        ),
        (
            "broadcasters: [{name: a, streams: [a], keys: [short]}]",
            "broadcaster 1: each of its keys must be a public key: 40 characters of Z85, in single quotes in YAML"
        ),
        (
            "broadcasters: [{name: a, streams: [a], keys: ['0000000000000000000000000000000000000000']}]",
            "broadcaster 1: each of its keys must be a public key: 40 characters of Z85, in single quotes in YAML"
        ),
        (
            "broadcasters: [{name: a, streams: [a], keys: [], notAfter: tomorrow}]",
            "broadcaster 1: notAfter must be a time such as 2027-01-31T00:00:00Z"
        ),
        (
            "broadcasters: [{name: a, streams: [a], keys: [], notAfter: '2027-02-30T00:00:00Z'}]",
            "broadcaster 1: notAfter must be a time such as 2027-01-31T00:00:00Z"
        ),
        (
            "broadcasters: [{name: a, streams: [a], keys: [], notAfter: '2027-01-31T00:00:00Zfoo'}]",
            "broadcaster 1: notAfter must be a time such as 2027-01-31T00:00:00Z"
        ),
        (
            "broadcasters: [{name: a, streams: [a], keys: [], secret: x}]",
            "broadcaster 1: it has a field that there is not; there are keys, name, notAfter, streams"
        ),
        ("broadcasters: []\nlisteners: []", "the file: it has a field that there is not; there are broadcasters"),
        ("broadcasters: [{name: a, streams: [a]}]", "broadcaster 1: keys: it must be a list"),
        ("broadcasters: [", "it is not YAML or JSON (line 2)"),
        ("broadcasters: []\n---\nbroadcasters: []", "it is not YAML or JSON (line 2)"),
    ])
    func `faults are sentences`(text: String, sentence: String) {
        #expect(self.faults(text).contains(sentence), "\(self.faults(text))")
    }

    @Test func `a secret in the wrong place is not told on`() {
        let secret = "JTKVSB%%)wK0E.X)V>+}o?pNmC{O&4W4b!Ni{Lh6"
        for text in [
            "'\(secret)'", "broadcasters: ['\(secret)']", "broadcasters: [{name: '\(secret)', keys: [], streams: []}]",
            "broadcasters: [{name: a, keys: ['\(secret.dropLast())'], streams: ['\(secret)']}]", "a: [\(secret)",
            "'\(secret)': 1", "broadcasters: [{name: a, keys: [], streams: [], notAfter: '\(secret)'}]",
        ] {
            let faults = self.faults(text)
            #expect(!faults.isEmpty && !faults.joined().contains(secret.dropLast()), "\(faults)")
        }
    }

    @Test func `a file is read up to its limit and not one byte past it`() {
        let text = "broadcasters: []\n"
        let limit = BroadcasterLimits.broadcastersFileBytesMax
        let longest = text + "#" + String(repeating: "x", count: limit - text.utf8.count - 1)
        #expect(longest.utf8.count == limit)
        #expect(self.faults(longest) == [])
        #expect(
            self.faults(longest + "x") == ["it is too large; the limit broadcastersFileBytesMax is \(limit)"]
        )
        #expect(self.faults(String(repeating: "[", count: limit)).count == 1, "nesting has an end")
    }

    @Test func `bytes that are no text are refused`() throws {
        #expect(throws: BroadcasterFaults(sentences: ["it is not UTF-8"])) { try BroadcastersFile.read([0xFF, 0xFE]) }
        #expect(throws: BroadcasterFaults(sentences: ["it cannot be read: No such file or directory"])) {
            try BroadcastersFile.read(path: "/nowhere/broadcasters.yaml")
        }
    }

    @Test func `a file that others may change, and what is no file, are refused, and a pipe delays no start`() throws {
        let folder = NSTemporaryDirectory() + "cuecast-broadcasters-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = folder + "/broadcasters.yaml"
        try Data("broadcasters: []".utf8).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: file)
        #expect(
            throws: BroadcasterFaults(sentences: [
                "it says whom to trust, and others may change it (mode 666); say chmod 644 to it"
            ])
        ) {
            try BroadcastersFile.read(path: file)
        }
        let pipe = folder + "/pipe"
        #expect(unsafe mkfifo(pipe, 0o600) == 0)
        #expect(throws: BroadcasterFaults(sentences: ["it is no file"])) { try BroadcastersFile.read(path: pipe) }
    }

    /// Half written: whatever is left of it, either it is refused or it lists no broadcaster that the whole does not.
    @Test func `half of a file lets in no broadcaster that the whole would not`() throws {
        let whole = Array(Self.yaml.utf8)
        let everybody = try BroadcastersFile.read(whole)
        for count in 0..<whole.count {
            guard let half = try? BroadcastersFile.read(Array(whole[..<count])) else { continue }
            #expect(Set(half.names).isSubset(of: everybody.names), "after \(count) bytes")
        }
    }
}

/// Random and spoiled files.
@Suite(.suiteLimit)
struct BroadcastersFilePropertyTests {
    @Test func `no bytes end the process, and what is read keeps the limits`() {
        var generator = SeededGenerator(for: #function)
        let seed = Array(
            """
            broadcasters:
              - &a {name: studio-a, streams: [radio1, "sport-*"], keys: ['\(KnownKeys.first)']}
              - name: studio-b
                notAfter: 2027-01-31T00:00:00.5Z
                streams: ["*"]
                keys: [{key: '\(KnownKeys.second)', notAfter: 2027-01-31T00:00:00Z}]
            """
            .utf8
        )
        let marks = Array("[]{}:,-*&!|>'\"#%@?\n \t<~0".utf8)
        var accepted = 0
        for _ in 0..<3_000 {
            var bytes = generator.number(0...9) == 0 ? generator.list(0...300) { $0.pick(marks) } : seed
            for _ in 0..<generator.number(0...4) where !bytes.isEmpty {
                let at = Int.random(in: 0..<bytes.count, using: &generator)
                switch generator.number(0...4) {
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes[at] = generator.pick(marks)
                case 2: bytes.insert(generator.pick(marks), at: at)
                case 3: bytes.removeSubrange(at..<min(bytes.count, at + generator.number(1...20)))
                default:
                    let end = min(bytes.count, at + generator.number(1...60))
                    bytes.insert(contentsOf: bytes[at..<end], at: at)
                }
            }
            guard let directory = try? BroadcastersFile.read(bytes) else { continue }
            accepted += 1
            #expect(directory.names.count <= BroadcasterLimits.broadcastersMax)
            #expect(directory.names.allSatisfy { (try? StreamID($0)) != nil })
        }
        #expect(accepted > 0)
    }
}
