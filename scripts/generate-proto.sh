#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Generates the Swift code of the wire contract from proto/ into Sources/CuecastWire/Generated (or into the folder given).
#
#   scripts/generate-proto.sh            writes the committed code anew
#   scripts/generate-proto.sh FOLDER     writes it there instead
#   scripts/generate-proto.sh --check    writes nothing; fails when the committed code is not what proto/ gives
#
# Needs Debian's protobuf-compiler; the Swift plugin is built from the swift-protobuf package that the project depends on.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

readonly committed="Sources/CuecastWire/Generated"

# Generates into the folder given.
generate() {
    local out="$1" plugin
    command -v protoc >/dev/null || fail 69 "protoc is missing; install Debian's protobuf-compiler (scripts/setup.sh)"
    choose_swift_flags
    swift build "${swift_flags[@]}" --product protoc-gen-swift >&2
    plugin="$(swift build "${swift_flags[@]}" --show-bin-path)/protoc-gen-swift"
    mkdir -p "$out"
    protoc --plugin=protoc-gen-swift="$plugin" --proto_path=proto \
        --swift_out=Visibility=Internal,UseAccessLevelOnImports=true,FileNaming=DropPath:"$out" proto/cuecast/v1/*.proto
    # The plugin does not yet mark its one read of an immutable `nonisolated(unsafe)` static, as strict memory safety asks.
    sed -i 's/ = _StorageClass\.defaultInstance$/ = unsafe _StorageClass.defaultInstance/' "$out"/*.pb.swift
}

case "${1:-$committed}" in
    --check)
        folder="$(mktemp -d)"
        trap 'rm -rf "$folder"' EXIT
        generate "$folder"
        diff --recursive --unified=1 "$committed" "$folder" >&2 ||
            fail 1 "$committed is not what proto/ gives; run 'make generate' and commit the result"
        echo "generate-proto: the committed code is current"
        ;;
    -*) fail 64 "unknown option '$1'; there is --check" ;;
    *) generate "${1:-$committed}" ;;
esac
