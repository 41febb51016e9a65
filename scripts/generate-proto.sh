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

# Builds the plugin for protoc, from the sources of the resolved swift-protobuf, and sets `plugin` to its path. By hand, on
# the library that the build of the tests has compiled anyway: building a dependency's product inside the project's folder
# makes the Swift package manager take that dependency's other products into its plan, and the next build compiles protoc
# itself, from C++; a folder of its own would compile the library once more.
build_plugin() {
    local bin own="$scratch-generator" sources="$scratch/checkouts/swift-protobuf/Sources"
    choose_swift_flags
    bin="$(built_folder)"
    # Our own code may not compile before it is generated anew; what it needs does.
    [ -f "$bin/Modules/SwiftProtobuf.swiftmodule" ] || swift build "${swift_flags[@]}" --target CuecastWire >&2 || true
    [ -f "$bin/Modules/SwiftProtobuf.swiftmodule" ] || fail 70 "SwiftProtobuf was not built"
    mkdir -p "$own"
    # As its manifest says.
    local flags=(
        -swift-version 6 -enable-upcoming-feature ExistentialAny -package-name swift_protobuf -parse-as-library -Onone
        -gnone -whole-module-optimization -I "$bin/Modules" -I "$own"
    )
    swiftc "${flags[@]}" -module-name SwiftProtobufPluginLibrary "$sources"/SwiftProtobufPluginLibrary/*.swift \
        -emit-module -emit-module-path "$own/SwiftProtobufPluginLibrary.swiftmodule" -c -o "$own/library.o" >&2
    plugin="$own/protoc-gen-swift"
    swiftc "${flags[@]}" -module-name protoc_gen_swift "$sources"/protoc-gen-swift/*.swift \
        "$own/library.o" "$bin"/SwiftProtobuf.build/*.o -o "$plugin" >&2
}

# Generates into the folder given.
generate() {
    local out="$1"
    command -v protoc >/dev/null || fail 69 "protoc is missing; install Debian's protobuf-compiler (scripts/setup.sh)"
    build_plugin
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
