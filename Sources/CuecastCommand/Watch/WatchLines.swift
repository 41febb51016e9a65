// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import AdFormats
import ArgumentParser
import CommandSupport
import CueWatching
import CuecastWire

struct WatchLines: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lines",
        abstract: "Watch the lines of an automation system, and send the signals of its ads.",
        discussion: """
            Each line says which element begins to play: an ad begins a break or goes on with it, the first element that is no ad ends \
            it. A line is a form (type=ad&duration=30), or has the fields that the groups of --line find in it. The mapping says which \
            fields and which values mean an ad.

            With --listen each program that reaches the port may signal: listen at an address that only yours reach. With --file lines \
            count that are written behind the file's end; a file that is cut or replaced is read from its beginning. SIGTERM and SIGINT \
            end the watch; the counts are printed then.

            Example: cuecast watch lines --listen 127.0.0.1:7410 --mapping radiodj --stream radio1 --source studio
            """
    )

    @Option(help: "The address at which lines come by TCP: HOST:PORT; port 0: the system chooses.")
    var listen: String?

    @Option(help: "The file to which lines are written.")
    var file: String?

    @Option(
        help: "The mapping: \(AutomationMapping.ready.map(\.name).joined(separator: ", ")), or one of --mappings."
    )
    var mapping = AutomationMapping.liquidsoap.name

    @Option(help: "The file with mappings of your own, in JSON; one with the name of a ready one goes before that.")
    var mappings: String?

    @Option(help: "The pattern of a line; its groups with names are the fields.")
    var line: String?

    @Option(help: "The stream that the gateway knows.")
    var stream: String

    @OptionGroup var watch: WatchOptions

    func validate() throws {
        do {
            _ = try StreamID(self.stream)
        } catch {
            throw ValidationError("--stream: \(error)")
        }
        guard (self.listen == nil) != (self.file == nil) else {
            throw ValidationError("Give one of --listen and --file.")
        }
        _ = try self.address()
        _ = try self.parsedMapping()
    }

    func run() async throws {
        let say: @Sendable (String) -> Void = { complain($0) }
        let signals = LineSignals(stream: self.stream, source: self.watch.source, mapping: try self.parsedMapping())
        if let path = self.file {
            // A studio may be silent for hours.
            let watched = try self.watch.source(of: self.stream, .lines, at: path, isSteady: false)
            try await self.watch.run([watched]) { sender in
                await LineWatcher(signals, sender: sender, say: say, watched: watched).follow(path)
            }
            return
        }
        guard let address = try self.address() else { return }
        let server: LineServer
        do throws(CueRefusal) {
            server = try await LineServer(address)
        } catch {
            complain(error.sentence)
            throw CommandExit.unavailable
        }
        complain("Listens for lines at \(server.address.hostAndPort).")
        let place = server.address.hostAndPort
        let watched = try self.watch.source(of: self.stream, .lines, at: place, isSteady: false)
        try await self.watch.run([watched]) { sender in
            await LineWatcher(signals, sender: sender, say: say, watched: watched).run(server)
        }
    }

    private func address() throws -> NetworkAddress? {
        do throws(NetworkAddress.Fault) {
            return try self.listen.map { (text) throws(NetworkAddress.Fault) in
                try NetworkAddress(hostAndPort: text, for: .bind)
            }
        } catch {
            throw ValidationError("--listen: \(error)")
        }
    }

    private func knownMappings() throws -> [AutomationMapping] {
        guard let path = self.mappings else { return AutomationMapping.ready }
        do throws(AutomationMappingsFile.Fault) {
            return try AutomationMappingsFile.read(path)
        } catch {
            throw ValidationError("--mappings: \(error)")
        }
    }

    private func parsedMapping() throws -> AutomationMapping {
        let known = try self.knownMappings()
        guard var mapping = known.first(where: { $0.name == self.mapping }) else {
            let names = known.map(\.name).joined(separator: ", ")
            throw ValidationError("There is no mapping \(self.mapping); there are: \(names).")
        }
        guard let line = self.line else { return mapping }
        do throws(TextPatternError) {
            mapping.line = try TextPattern(line)
        } catch {
            throw ValidationError("--line: \(error)")
        }
        return mapping
    }
}
