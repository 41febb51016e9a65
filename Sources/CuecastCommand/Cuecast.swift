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
            Serve    cuecast serve --data-dir ./data
            Publish  cuecast publish --stream radio1 --break noon --vast ads.xml --in 10s
            Try out  cuecast dry-run --stream radio1 --break noon --choose ads.json --fill 90s
            Group    cuecast group publish --streams radio1,radio2 --break noon --vast ads.xml --in 10s
            Listen   cuecast listen --stream radio1
            Report   cuecast report --stream radio1
            Forecast cuecast forecast --stream radio1 --hours 3
            Watch    cuecast top
            Check    cuecast health
            Clock    cuecast clock --data-dir ./data
            Ads      cuecast vast resolve 'https://ads.example/vast?cb=[CACHEBUSTING]'
            Cues     cuecast watch hls https://cdn.example/a.m3u8 --stream s --source hls
            Schedule cuecast schedule put day.csv --stream radio1 --time-zone UTC --list spots
            Explain  cuecast cue explain /DARAAAAAAAAAP/wAAAAAHpPv/8=
            Keys     cuecast keygen --out studio-a
            Cluster  cuecast cluster status --config cuecast.yaml
            Tokens   cuecast token new-keys --out keys.json

            Exit codes: 0 done, 1 not as it must be, 64 usage, 65 bad data, 69 gateway not available, 74 output cannot be written, \
            75 the gateway's event log failed, 77 not allowed.
            """,
        version: CuecastVersion.text,
        subcommands: [
            Serve.self, Publish.self, DryRun.self, Punch.self, Update.self, Postpone.self, End.self, Cancel.self,
            Breaks.self, GroupCommand.self,
            Signal.self, Lists.self, ScheduleCommand.self, VASTCommand.self, Watch.self, Listen.self,
            Report.self, ForecastCommand.self, Audit.self, Streams.self, Top.self, Health.self, Verify.self,
            Forget.self, Backup.self,
            Restore.self,
            ClockCommand.self, Cluster.self, Gateways.self,
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
