#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# What can be checked of deploy/ in seconds, with a development build: the unit, the maintainer scripts, the packaged
# configuration, completions, the changelog, and the other files of the folder. `make test-deploy` checks the rest.
#
#   scripts/check-deploy.sh
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
be_patient

choose_swift_flags
bin="$(built_folder)"
cuecast="$bin/cuecast"
folder="$(mktemp -d)"
trap 'rm -rf -- "$folder"' EXIT

if command -v systemd-analyze >/dev/null; then scripts/check-unit.sh "$cuecast"; fi
for file in deploy/debian/cuecast.{postinst,postrm}; do
    sh -n "$file"
    if command -v shellcheck >/dev/null; then shellcheck --shell=sh "$file"; fi
done

deploy/debian/make-config "$cuecast" >"$folder/cuecast.yaml"
"$cuecast" check-config >"$folder/default"
"$cuecast" check-config --config "$folder/cuecast.yaml" >"$folder/packaged"
sed -i 's|^dataDir: .*|dataDir: /var/lib/cuecast|' "$folder/default"
diff "$folder/default" "$folder/packaged" >&2 ||
    fail 65 "the packaged configuration is not the default with another data directory"

for tool in cuecast cuecast-load; do
    for shell in bash zsh fish; do
        "$bin/$tool" --generate-completion-script "$shell" >"$folder/$tool.$shell"
        grep -q "$tool" "$folder/$tool.$shell" || fail 65 "the completions of $tool for $shell are empty"
        if command -v "$shell" >/dev/null; then "$shell" -n "$folder/$tool.$shell"; fi
    done
    "$bin/$tool" --experimental-dump-help | python3 -c 'import json, sys; json.load(sys.stdin)["command"]'
done

# One version: of the binary, of the package, and what `version --json` says.
version="$(sed -nE 's/.*static let text = "(.*)"/\1/p' Sources/CuecastCommand/Version.swift)"
noted="$(sed -nE '1s/^cuecast \((.*)\).*/\1/p' deploy/debian/changelog)"
[ "$noted" = "$version" ] || fail 65 "deploy/debian/changelog begins with version $noted, and the code says $version"
"$cuecast" version --json | python3 -c 'import json, re, sys
facts = json.load(sys.stdin)
assert sorted(facts) == ["commit", "libzmq", "sqlite", "swift", "version"], facts
assert facts["version"] == sys.argv[1], facts
assert re.fullmatch(r"unknown|[0-9a-f]{40}(-changed)?", facts["commit"]), facts
assert all(re.match(r"\d+\.\d+", facts[name]) for name in ("libzmq", "sqlite", "swift")), facts' "$version"

scripts/check-deploy-files.sh --short
echo "check-deploy: deploy/ is right"
