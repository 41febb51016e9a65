#!/usr/bin/env bash
# Generates the Swift code of the wire contract from proto/ into Sources/CuecastWire/Generated (or into the folder given).
#
#   scripts/generate-proto.sh            writes the committed code anew
#   scripts/generate-proto.sh FOLDER     writes it there instead (the test that the committed code is current does this)
#
# Needs Debian's protobuf-compiler; the Swift plugin is built from the swift-protobuf package that the project depends on.
set -euo pipefail
cd "$(dirname "$0")/.."
out="${1:-Sources/CuecastWire/Generated}"
scratch="${CUECAST_SCRATCH_PATH:-.build}"
command -v protoc >/dev/null || { echo "generate-proto: protoc is missing; install Debian's protobuf-compiler" >&2; exit 69; }
swift build --scratch-path "$scratch" --product protoc-gen-swift >&2
plugin="$(swift build --scratch-path "$scratch" --show-bin-path)/protoc-gen-swift"
mkdir -p "$out"
protoc --plugin=protoc-gen-swift="$plugin" --proto_path=proto \
    --swift_out=Visibility=Internal,UseAccessLevelOnImports=true,FileNaming=DropPath:"$out" proto/cuecast/v1/*.proto
# The plugin does not yet mark its one read of an immutable `nonisolated(unsafe)` static, which strict memory safety asks for.
sed -i 's/ = _StorageClass\.defaultInstance$/ = unsafe _StorageClass.defaultInstance/' "$out"/*.pb.swift
