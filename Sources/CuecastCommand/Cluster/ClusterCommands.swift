// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import Foundation
import Gateway
import GatewayCore
import JetStreamLog
import SQLiteStore

struct Cluster: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make, look at and fill the event log that several gateways share on servers of NATS.",
        discussion: """
            The servers are those of jetstream.servers, in the configuration file that the gateways use, in the environment, or as \
            --servers. 'init' is needed once, before the first gateway starts; no gateway makes a log.

            Example: cuecast cluster status --config /etc/cuecast/cuecast.yaml
            """,
        subcommands: [
            ClusterInit.self, ClusterStatus.self, ClusterMigrate.self, ClusterBackup.self, ClusterRestore.self,
        ]
    )
}

/// Which log at which servers.
struct ClusterOptions: ParsableArguments {
    @Option(help: "The configuration file of a gateway, YAML or JSON. Flags and CUECAST_… variables go before it.")
    var config: String?

    @Option(help: "The servers, as nats://HOST:PORT with commas between them. (jetstream.servers)")
    var servers: String?

    @Option(help: "The prefix of the log. (jetstream.prefix)")
    var prefix: String?

    @Option(help: "Any other key of the configuration, as KEY=VALUE, for instance jetstream.credentialsFile=FILE.")
    var set: [String] = []

    /// Whether an option or the environment may name servers.
    var namesSomething: Bool {
        self.config != nil || self.servers != nil || self.prefix != nil || !self.set.isEmpty
            || ProcessInfo.processInfo.environment["CUECAST_JETSTREAM_SERVERS"] != nil
    }

    /// Reads all sources; complains about what is wrong.
    func read() async throws -> SharedLogSettings {
        do {
            let configuration =
                try await ServeConfiguration.load(
                    file: self.config,
                    set: self.set,
                    named: [("jetstream.servers", self.servers), ("jetstream.prefix", self.prefix)]
                )
                .configuration
            let faults = configuration.sharedLogFileFaults
            guard faults.isEmpty else { throw ConfigurationFaults(faults) }
            guard configuration.sharedLog.isUsed else {
                complain("no servers are named: use --servers, or jetstream.servers in the file of --config")
                throw CommandExit.usage
            }
            return configuration.sharedLog
        } catch let faults as ConfigurationFaults {
            for fault in faults.faults { complain("the configuration is wrong: \(fault)") }
            throw CommandExit.badData
        }
    }
}

struct ClusterInit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make the streams of a shared log, once.",
        discussion: """
            Makes a stream for each lane of the log, in files, without limits of age, number or bytes, and writes the log's random \
            id into each; and a stream for snapshots, from which new gateways begin. Refuses where there is a log with this prefix. A try \
            that ended in the middle goes on.

            A log of an earlier version has no stream for snapshots: --add-snapshots makes that alone. Restart the gateways then.

            Exit codes: 0 done, 64 usage, 65 there is a log, or the servers are not as they have to be, 69 the servers do not \
            answer, or refuse.

            Example: cuecast cluster init --servers nats://a:4222,nats://b:4222,nats://c:4222 --replicas 3
            """
    )

    @OptionGroup var options: ClusterOptions

    @Option(help: "How many servers have each record: 3, 5, or 1. With 1 the log is lost with the server's disk.")
    var replicas = JetStreamLimits.replicasDefault

    @Flag(help: "Only make the stream of snapshots, for a log that was made without one.")
    var addSnapshots = false

    @OptionGroup var output: OutputOptions

    private struct Document: Encodable {
        let log: String
        let prefix: String
        let replicas: Int
        let streams: [String]
    }

    private struct AddedDocument: Encodable {
        let stream: String
        let made: Bool
    }

    func validate() throws {
        guard [1, 3, 5].contains(self.replicas) else { throw ValidationError("--replicas is 1, 3 or 5.") }
    }

    func run() async throws {
        let settings = try await self.options.read()
        guard !self.addSnapshots else {
            let (stream, isNew) = try await ClusterAccess.addSnapshots(settings)
            guard !self.output.isJSON else {
                return try CommandOutput.say(json: AddedDocument(stream: stream, made: isNew))
            }
            return CommandOutput.say(isNew ? "made stream=\(stream)" : "there was the stream \(stream) already")
        }
        let (identity, streams) = try await ClusterAccess.make(settings, replicas: self.replicas)
        if self.replicas == 1 {
            complain("one server alone has this log: when its disk is lost, the log is lost")
        }
        if !settings.syncAlways {
            complain(
                "before gateways use the log, set 'sync_interval: always' at every server, and state it with jetstream.syncAlways: true"
            )
        }
        guard !self.output.isJSON else {
            return try CommandOutput.say(
                json: Document(
                    log: "\(identity.logID)",
                    prefix: settings.prefix,
                    replicas: self.replicas,
                    streams: streams
                )
            )
        }
        CommandOutput.say(
            "made log=\(identity.logID) prefix=\(settings.prefix) replicas=\(self.replicas)"
                + " streams=\(streams.joined(separator: ","))"
        )
    }
}

struct ClusterStatus: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Show the streams of a shared log: leader, copies, newest record.",
        discussion: """
            Asks the leader of each stream. Whether servers synchronise each record before they confirm it cannot be asked: it is \
            shown as the configuration states it (jetstream.syncAlways).

            Exit codes: 0 everything is as it has to be, 1 something is not: a stream without a leader, a copy that is behind or \
            away, a setting that loses records; 64 usage, 65 the configuration is wrong, 69 the servers do not answer.

            Example: cuecast cluster status --servers nats://a:4222,nats://b:4222,nats://c:4222 --json
            """
    )

    @OptionGroup var options: ClusterOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let settings = try await self.options.read()
        let state = try await ClusterAccess.state(settings)
        if self.output.isJSON {
            try CommandOutput.say(json: state, isPretty: true)
        } else {
            for line in state.lines { CommandOutput.say(line) }
        }
        if !state.faults.isEmpty { throw CommandExit.checkFailed }
    }
}

/// The state of a shared log, as `cluster status` shows it.
struct ClusterState: Encodable {
    /// A server that has a copy of a stream.
    struct Copy: Encodable {
        let server: String
        let leader: Bool
        let current: Bool
        let offline: Bool
        /// How many operations it is behind.
        let lag: UInt64
    }

    /// The stream of a lane.
    struct Stream: Encodable {
        let lane: String
        let stream: String
        /// The newest record; absent: no leader answered.
        var head: UInt64?
        var bytes: UInt64?
        var replicas: Int?
        var leader: String?
        var copies: [Copy] = []
    }

    /// The snapshots that gateways leave for those that begin.
    struct Snapshots: Encodable {
        let stream: String
        let bytes: UInt64
        /// The record as of which the newest one is; absent: there is none yet.
        var offset: UInt64?
        var made: String?
    }

    let prefix: String
    /// The log's id; absent: it could not be read.
    var log: String?
    /// The statement of the configuration about the servers.
    let syncAlways: Bool
    /// The largest message that the servers take.
    let payloadBytesMax: Int
    var streams: [Stream] = []
    /// Absent: the log has no stream for them, or it cannot be read.
    var snapshots: Snapshots?
    /// The findings that are not as they have to be; empty: none.
    var faults: [String] = []

    /// For people.
    var lines: [String] {
        var lines = [
            "log \(self.log ?? "unknown") prefix=\(self.prefix)"
                + " sync-always=\(self.syncAlways ? "stated" : "not stated") payload-max=\(self.payloadBytesMax)"
        ]
        for each in self.streams {
            let head = each.head.map { "\($0)" } ?? "unknown"
            lines.append(
                "\(each.stream) head=\(head) bytes=\(each.bytes ?? 0) replicas=\(each.replicas ?? 0)"
                    + " leader=\(each.leader ?? "none")"
            )
            for copy in each.copies where !copy.leader {
                let state = copy.offline ? "away" : copy.current ? "current" : "behind by \(copy.lag)"
                lines.append("  copy \(copy.server) \(state)")
            }
        }
        if let snapshots {
            let newest = snapshots.offset.map { "newest=\($0) made=\(snapshots.made ?? "")" } ?? "newest=none"
            lines.append("\(snapshots.stream) bytes=\(snapshots.bytes) \(newest)")
        } else {
            lines.append("no stream of snapshots: see 'cuecast cluster init --add-snapshots'")
        }
        return lines + self.faults.map { "not as it has to be: \($0)" }
    }
}

/// Asks the servers of a shared log, and turns their refusals into sentences and exit codes.
enum ClusterAccess {
    #if JetStream
    static func make(
        _ settings: SharedLogSettings,
        replicas: Int
    ) async throws -> (identity: LogIdentity, streams: [String]) {
        let (identity, missing) = try await self.telling {
            try await onAThread { () throws(NATSError) -> (LogIdentity, NATSError?) in
                let cluster = LogCluster(try Self.connect(settings), names: settings.names)
                let identity = try cluster.make(replicas: replicas)
                do throws(NATSError) {
                    _ = try cluster.makeSnapshots()
                    return (identity, nil)
                } catch {
                    // There is a log, so the command cannot be run again.
                    return (identity, error)
                }
            }
        }
        let streams = LogNames.lanes.map { settings.names.stream(of: $0) }
        guard let missing else { return (identity, streams + [settings.names.snapshotStream]) }
        complain(
            "the stream of snapshots was not made: make it with 'cuecast cluster init --add-snapshots' (\(missing))"
        )
        return (identity, streams)
    }

    static func addSnapshots(_ settings: SharedLogSettings) async throws -> (stream: String, isNew: Bool) {
        let isNew = try await self.telling {
            try await onAThread { () throws(NATSError) in
                try LogCluster(try Self.connect(settings), names: settings.names).makeSnapshots()
            }
        }
        return (settings.names.snapshotStream, isNew)
    }

    static func state(_ settings: SharedLogSettings) async throws -> ClusterState {
        try await self.telling {
            try await onAThread { () throws(NATSError) in
                let connection = try Self.connect(settings)
                let cluster = LogCluster(connection, names: settings.names)
                var state = ClusterState(
                    prefix: settings.prefix,
                    syncAlways: settings.syncAlways,
                    payloadBytesMax: connection.payloadBytesMax
                )
                state.note(cluster.states())
                do throws(NATSError) {
                    let identity = try cluster.identity()
                    state.log = "\(identity.logID)"
                    state.snapshots = try? ClusterState.Snapshots(cluster, settings.names, identity)
                } catch {
                    if state.faults.isEmpty { state.faults.append("\(error)") }
                }
                if connection.payloadBytesMax < JetStreamLimits.payloadBytesMin {
                    state.faults.append("max_payload has to be \(JetStreamLimits.payloadBytesMin) or more")
                }
                return state
            }
        }
    }

    /// Opens the log as its servers have it, to verify it.
    ///
    /// - Parameters:
    ///   - settings: say where it is.
    ///   - isRestoring: whether it may lack records that a restore is about to store.
    /// - Returns: the log.
    /// - Throws: `VerificationError`.
    static func inspect(_ settings: SharedLogSettings, isRestoring: Bool = false) async throws -> any InspectedLog {
        do {
            return try await StoredLog.open(
                settings.access(as: "cuecast-verify"),
                names: settings.names,
                isRestoring: isRestoring
            )
        } catch {
            switch error {
            case .noAnswer, .refused: throw VerificationError.unavailable("The shared log cannot be read: \(error)")
            case .noStream, .unusable: throw VerificationError.unusable("The shared log cannot be used: \(error)")
            }
        }
    }

    /// Opens the log that another one is moved to, or a backup of it.
    static func importing(_ settings: SharedLogSettings, isRestoring: Bool = false) async throws -> MigrationTarget {
        try await self.telling {
            try await LogImport.open(
                settings.access(as: "cuecast-cluster"),
                names: settings.names,
                isRestoring: isRestoring
            )
        }
    }

    static func connect(_ settings: SharedLogSettings) throws(NATSError) -> NATSConnection {
        try NATSConnection(settings.access(as: "cuecast-cluster"))
    }

    static func telling<Value>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as NATSError {
            complain("\(error)")
            switch error {
            case .noAnswer, .refused: throw CommandExit.unavailable
            case .noStream, .unusable: throw CommandExit.badData
            }
        }
    }
    #else
    static func refuse() -> ExitCode {
        complain("this program was built without NATS (the package's trait JetStream)")
        return CommandExit.unavailable
    }

    static func make(
        _ settings: SharedLogSettings,
        replicas: Int
    ) async throws -> (identity: LogIdentity, streams: [String]) {
        throw self.refuse()
    }

    static func addSnapshots(_ settings: SharedLogSettings) async throws -> (stream: String, isNew: Bool) {
        throw self.refuse()
    }

    static func state(_ settings: SharedLogSettings) async throws -> ClusterState { throw self.refuse() }

    static func importing(_ settings: SharedLogSettings, isRestoring: Bool = false) async throws -> MigrationTarget {
        throw self.refuse()
    }

    static func telling<Value>(_ body: () async throws -> Value) async throws -> Value { try await body() }

    static func inspect(_ settings: SharedLogSettings, isRestoring: Bool = false) async throws -> any InspectedLog {
        throw VerificationError.unavailable("This program was built without NATS (the package's trait JetStream).")
    }
    #endif
}

#if JetStream
extension ClusterState.Snapshots {
    /// Asks the servers.
    init(_ cluster: LogCluster, _ names: LogNames, _ identity: LogIdentity) throws(NATSError) {
        let (facts, newest) = (try cluster.snapshots(), try cluster.newestSnapshot(of: identity))
        self.init(
            stream: names.snapshotStream,
            bytes: facts.bytes,
            offset: newest?.offset,
            made: newest.map { "\($0.made)" }
        )
    }
}

extension ClusterState {
    /// Takes the answers of the leaders.
    mutating func note(_ lanes: [LogCluster.LaneState]) {
        for lane in lanes {
            var stream = Stream(lane: "\(lane.lane)", stream: lane.stream)
            defer { self.streams.append(stream) }
            guard let facts = lane.facts else {
                self.faults.append("\(lane.stream): \(lane.error.map { "\($0)" } ?? "no answer")")
                continue
            }
            stream.head = lane.head
            stream.bytes = facts.bytes
            stream.replicas = facts.replicas
            stream.leader = facts.leader
            if let leader = facts.leader {
                stream.copies.append(
                    Copy(server: leader, leader: true, current: true, offline: false, lag: 0)
                )
            }
            for copy in facts.copies {
                stream.copies.append(
                    Copy(
                        server: copy.server,
                        leader: false,
                        current: copy.isCurrent,
                        offline: copy.isOffline,
                        lag: copy.lag
                    )
                )
                if copy.isOffline {
                    self.faults.append("\(lane.stream): the copy at \(copy.server) is away")
                } else if !copy.isCurrent {
                    self.faults.append("\(lane.stream): the copy at \(copy.server) is behind")
                }
            }
            if facts.replicas > 1, facts.leader == nil { self.faults.append("\(lane.stream): there is no leader") }
            if let unfinished = lane.unfinished { self.faults.append(unfinished) }
            self.faults += facts.faults.map { "the stream \(lane.stream) \($0)" }
            if facts.firstSequence != 1 || facts.deletedCount > lane.standIns {
                self.faults.append("messages of the stream \(lane.stream) were deleted")
            }
        }
    }
}
#endif
