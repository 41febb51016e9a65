#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Makes a release in .build/dist: `cuecast` and `cuecast-load`, which run where no Swift is installed, a file with the
# debug information of each, the bill of materials, and checksums. How far the same sources give the same bytes:
# docs/internals/decisions/0035-a-release-without-a-toolchain.md.
#
#   scripts/release.sh
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

products=(cuecast cuecast-load)
choose_release_flags
for product in "${products[@]}"; do swift build "${release_flags[@]}" --product "$product"; done
built="$(swift build "${release_flags[@]}" --show-bin-path)"

dist="$scratch/dist"
rm -rf -- "$dist"
mkdir -p "$dist"
binaries=()
for product in "${products[@]}"; do
    # What debuggers need goes into a file beside it, which they find by the link when it lies in the same folder.
    objcopy --only-keep-debug --compress-debug-sections "$built/$product" "$dist/$product.debug"
    chmod 644 "$dist/$product.debug"
    strip --strip-unneeded --remove-section=.comment --remove-section=.swift1_autolink_entries \
        -o "$dist/$product" "$built/$product"
    (cd "$dist" && objcopy --add-gnu-debuglink="$product.debug" "$product")
    binaries+=(--binary "$product=$dist/$product")
done
version="$("$dist/cuecast" version | cut -d ' ' -f 2)"
scripts/make-sbom --build "$built" "${binaries[@]}" --version "$version" --commit "$RELEASE_COMMIT" \
    --swift "$RELEASE_SWIFT_VERSION" --created "$(date --utc --date="@$(build_time)" +%Y-%m-%dT%H:%M:%SZ)" \
    --output "$dist/cuecast.spdx.json"
(cd "$dist" && sha256sum "${products[@]}" "${products[@]/%/.debug}" cuecast.spdx.json >SHA256SUMS)
du --apparent-size --block-size=KiB "$dist"/* | sed 's/^/release: /'
