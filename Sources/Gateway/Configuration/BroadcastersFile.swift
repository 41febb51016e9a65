// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import CuecastWire
import Foundation
package import GatewayCore
import SecretFiles
import Yams
import ZeroMQ

/// The file of broadcasters: who may publish on which streams, by public key.
///
/// ```yaml
/// broadcasters:
///   - name: studio-a
///     streams: [radio1, "sport-*"]
///     keys:
///       - 'rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7'
///       - key: 'Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID'
///         notAfter: 2027-01-31T00:00:00Z
/// ```
///
/// The same as JSON is read too. `docs/operations/broadcaster-keys.md` is its reference.
package enum BroadcastersFile {
    /// Reads a file.
    ///
    /// - Throws: `BroadcasterFaults` with a sentence for each fault.
    package static func read(path: String) throws(BroadcasterFaults) -> BroadcasterDirectory {
        let bytes: [UInt8]
        do throws(SecretFile.Fault) {
            let limit = BroadcasterLimits.broadcastersFileBytesMax
            bytes = try SecretFile.trusted(path, bytesMax: limit, limit: "broadcastersFileBytesMax").bytes
        } catch {
            throw .init(error.reason)
        }
        return try Self.read(bytes)
    }

    /// Reads the text of such a file; never traps.
    ///
    /// - Throws: `BroadcasterFaults` with a sentence for each fault.
    package static func read(_ bytes: [UInt8]) throws(BroadcasterFaults) -> BroadcasterDirectory {
        guard bytes.count <= BroadcasterLimits.broadcastersFileBytesMax else {
            throw .init(
                "it is too large; the limit broadcastersFileBytesMax is \(BroadcasterLimits.broadcastersFileBytesMax)"
            )
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .init("it is not UTF-8") }
        let root: Node?
        do {
            // JSON is read as the subset of YAML that it is.
            root = try Yams.compose(yaml: text)
        } catch {
            throw .init("it is not YAML or JSON\(Self.place(of: error))")
        }
        var reading = Reading()
        let broadcasters = reading.broadcasters(root)
        guard reading.faults.isEmpty else { throw BroadcasterFaults(sentences: reading.faults) }
        return try BroadcasterDirectory(broadcasters)
    }

    /// The place where a text is no YAML; never the text itself, because an operator may have put a secret into the wrong file.
    private static func place(of error: any Error) -> String {
        guard let error = error as? YamlError else { return "" }
        switch error {
        case .scanner(_, _, let mark, _), .parser(_, _, let mark, _), .composer(_, _, let mark, _):
            return " (line \(mark.line))"
        default: return ""
        }
    }
}

/// One reading of the file, and what is wrong with it.
private struct Reading {
    var faults: [String] = []

    mutating func broadcasters(_ root: Node?) -> [BroadcasterDirectory.Broadcaster] {
        guard let root, let fields = self.fields(of: root, "the file", allowed: ["broadcasters"]) else {
            if root == nil { self.faults.append("it must have a list 'broadcasters', and is empty") }
            return []
        }
        guard let list = fields["broadcasters"]?.sequence else {
            self.faults.append("it must have a list 'broadcasters'")
            return []
        }
        return list.enumerated().compactMap { index, node in self.broadcaster(node, "broadcaster \(index + 1)") }
    }

    private mutating func broadcaster(_ node: Node, _ place: String) -> BroadcasterDirectory.Broadcaster? {
        guard let fields = self.fields(of: node, place, allowed: ["name", "streams", "keys", "notAfter"]) else {
            return nil
        }
        guard let name = fields["name"]?.scalar?.string else {
            self.faults.append("\(place): it has no name")
            return nil
        }
        let notAfter = self.instant(fields["notAfter"], place)
        let streams = self.list(fields["streams"], "\(place): streams")
            .compactMap { node -> StreamPattern? in
                guard let text = node.scalar?.string, let pattern = StreamPattern(text) else {
                    self.faults.append("\(place): each of its streams must be \(StreamPattern.rule)")
                    return nil
                }
                return pattern
            }
        let keys = self.list(fields["keys"], "\(place): keys").compactMap { self.key($0, place, notAfter) }
        return BroadcasterDirectory.Broadcaster(name: name, keys: keys, streams: streams)
    }

    private mutating func key(_ node: Node, _ place: String, _ notAfter: Timestamp?) -> BroadcasterDirectory.Key? {
        var (text, last) = (node.scalar?.string, notAfter)
        if node.mapping != nil {
            guard let fields = self.fields(of: node, "\(place): a key", allowed: ["key", "notAfter"]) else {
                return nil
            }
            text = fields["key"]?.scalar?.string
            last = [self.instant(fields["notAfter"], "\(place): a key"), notAfter].compactMap(\.self).min()
        }
        // The message does not show the text in its place: it may be a secret key.
        guard let text, let key = CurvePublicKey(z85: text), key.bytes.contains(where: { $0 != 0 }) else {
            self.faults.append(
                "\(place): each of its keys must be a public key: 40 characters of Z85, in single quotes in YAML"
            )
            return nil
        }
        return BroadcasterDirectory.Key(key.z85, notAfter: last)
    }

    private mutating func instant(_ node: Node?, _ place: String) -> Timestamp? {
        guard let node else { return nil }
        guard let instant = node.scalar.flatMap({ Timestamp(rfc3339: $0.string) }) else {
            self.faults.append("\(place): notAfter must be a time such as 2027-01-31T00:00:00Z")
            return nil
        }
        return instant
    }

    private mutating func list(_ node: Node?, _ place: String) -> [Node] {
        guard let list = node?.sequence else {
            self.faults.append("\(place): it must be a list")
            return []
        }
        return Array(list)
    }

    /// The values of a table by their names; `nil`: it is none, and that is said.
    private mutating func fields(of node: Node, _ place: String, allowed: Set<String>) -> [String: Node]? {
        guard let mapping = node.mapping else {
            self.faults.append("\(place): it must be a table of keys and values")
            return nil
        }
        var fields: [String: Node] = [:]
        for (name, value) in mapping {
            guard let name = name.scalar?.string, allowed.contains(name) else {
                let names = allowed.sorted().joined(separator: ", ")
                self.faults.append("\(place): it has a field that there is not; there are \(names)")
                continue
            }
            if fields.updateValue(value, forKey: name) != nil {
                self.faults.append("\(place): the field \(name) is there twice")
            }
        }
        return fields
    }
}

extension BroadcasterFaults {
    fileprivate init(_ sentence: String) {
        self.init(sentences: [sentence])
    }
}
