#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Builds the documentation of the public libraries that have a catalog, from their comments, articles and snippets, out of
# the build that the tests use: nothing is compiled twice. Warnings are errors: a link that leads nowhere fails.
#
#   scripts/docs.sh            all of them
#   scripts/docs.sh Cuecast    one of them; look at it with `python3 -m http.server` in the folder that is printed
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

targets=("$@")
if [ $# -eq 0 ]; then
    for catalog in Sources/*/*.docc; do targets+=("$(basename "$(dirname "$catalog")")"); done
fi
choose_swift_flags
# The snippets too: code that is shown must compile.
build_everything
modules="$(built_folder)/Modules"
triple="$(swiftc -print-target-info | sed -nE 's/^ *"unversionedTriple": "([^"]+)".*/\1/p')"
docc="$(find_docc)"
own="$scratch-docs"
# The page is of Linux, where stand-ins for views are public too.
if [ $# -eq 0 ] && [ "$(uname -s)" = Linux ]; then scripts/api-page "$modules"; fi
# What another commit had and this one has not must not be there.
rm -rf -- "$own/symbol-graphs"
for target in "${targets[@]}"; do
    graphs="$own/symbol-graphs/$target"
    mkdir -p "$graphs" "$own/site/$target"
    scripts/snippet-graph Snippets >"$graphs/cuecast-snippets.symbols.json"
    swift symbolgraph-extract -module-name "$target" -I "$modules" -target "$triple" -minimum-access-level public \
        -include-spi-symbols -output-dir "$graphs"
    "$docc" convert "Sources/$target/$target.docc" --fallback-display-name "$target" \
        --fallback-bundle-identifier "$target" --additional-symbol-graph-dir "$graphs" --warnings-as-errors \
        --transform-for-static-hosting --output-path "$own/site/$target"
    echo "docs: $target in $own/site/$target"
done
