// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import Gateway

@main
struct Cuecast: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cuecast",
        abstract: "Ad push gateway for live streams: publish breaks, notify listeners, count the outcome of every ad.",
        discussion: """
            Run a gateway:       cuecast serve --data-dir ./data
            Publish a break:     cuecast publish --stream radio1 --break noon --vast ads.xml --in 10s
            Listen as a player:  cuecast listen --stream radio1
            Read the books:      cuecast report --stream radio1
            Watch a gateway:     cuecast top
            Is it ready:         cuecast health
            Look at its clock:   cuecast clock --data-dir ./data
            Watch a playlist:    cuecast watch hls https://encoder.example/live.m3u8 --stream sport1 --source playlist
            Look into a cue:     cuecast cue explain /DARAAAAAAAAAP/wAAAAAHpPv/8=
            Make keys:           cuecast keygen --out studio-a
            Make tokens:         cuecast token make --keys keys.json --subject grafana --scope read --expires-in 720h
            Rotate its own keys: cuecast keys rotate --data-dir ./data

            Exit codes: 0 done, 1 not as it must be, 64 usage, 65 bad data, 69 gateway not available, 74 output cannot be written,
            75 the gateway's event log failed, 77 not allowed.
            """,
        version: CuecastVersion.text,
        subcommands: [
            Serve.self, Publish.self, Punch.self, Update.self, Postpone.self, End.self, Cancel.self, Breaks.self,
            Signal.self, Lists.self, Watch.self, Listen.self,
            Report.self, Audit.self, Streams.self, Top.self, Health.self, Verify.self, Forget.self, Backup.self,
            Restore.self,
            ClockCommand.self,
            Keygen.self, Keys.self, TokenCommand.self, Reload.self, CheckConfig.self,
            Capacity.self, Cue.self, Version.self, ReferencePages.self,
        ]
    )

    static func main() async {
        await CommandMain.run(
            Self.self,
            name: "cuecast",
            variables: EnvironmentCheck(
                known: EnvironmentCheck.commandVariables + ConfigurationTable.rows.map(\.environmentVariable),
                isComplete: true
            )
        )
    }
}
