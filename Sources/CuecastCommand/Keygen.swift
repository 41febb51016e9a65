// SPDX-License-Identifier: Apache-2.0
// Copyright (c) 2026 the Cuecast authors

import ArgumentParser
import CommandSupport
import SecretFiles
import ZeroMQ

struct Keygen: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Make a key pair for a broadcaster, or for a gateway that asks broadcasters for keys.",
        discussion: """
            With --out NAME it writes NAME.key, the secret key, which only its owner may read, and NAME.pub, the public key, and \
            prints the public one. Files that are there are never written over. Without --out it prints both keys.

            The gateway keeps its own secret key (broadcasters.secretKeyFile) and lists the public keys of its broadcasters \
            (broadcasters.file). Broadcasters keep their own secret key (--key-file) and the gateway's public key \
            (--gateway-key-file). Keys are text of 40 characters (Z85).

            As JSON it is one object: publicKey, and secretKey, or secretKeyFile and publicKeyFile.

            Exits with 65 when a file is there already, and with 74 when one cannot be written.

            Example: cuecast keygen --out studio-a
            """
    )

    @Option(help: "Write the keys to NAME.key and NAME.pub.", transform: Self.name)
    var out: String?

    @OptionGroup var output: OutputOptions

    private struct Printed: Encodable {
        let publicKey: String
        var secretKey: String?
        var secretKeyFile: String?
        var publicKeyFile: String?
    }

    private static func name(_ text: String) throws -> String {
        guard !text.isEmpty, !text.hasSuffix("/") else { throw ValidationError("--out takes the name of a file.") }
        return text
    }

    func run() throws {
        let pair = try self.pair()
        var printed = Printed(publicKey: pair.publicKey.z85)
        if let out = self.out {
            do throws(CurveKeyFile.Fault) {
                let files = try CurveKeyFile.write(pair, as: out)
                printed.secretKeyFile = files.secretKey
                printed.publicKeyFile = files.publicKey
            } catch {
                complain("\(error)")
                throw error.isInTheWay ? CommandExit.badData : CommandExit.cannotWrite
            }
        } else {
            printed.secretKey = pair.secretKey.z85
        }
        if self.output.isJSON { return try CommandOutput.say(json: printed, isPretty: true) }
        CommandOutput.say("public key: \(printed.publicKey)")
        if let secret = printed.secretKey { CommandOutput.say("secret key: \(secret)") }
        if let secret = printed.secretKeyFile, let open = printed.publicKeyFile {
            CommandOutput.say("files: \(secret) (keep it secret), \(open)")
        }
    }

    private func pair() throws -> CurveKeyPair {
        do throws(ZeroMQError) {
            return try CurveKeyPair.generate()
        } catch {
            complain("keys cannot be made here: \(error)")
            throw CommandExit.unavailable
        }
    }
}
