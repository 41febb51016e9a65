#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Builds the documentation of the public libraries that have a catalog, from their comments, articles and snippets, in a
# folder of its own. Warnings are errors: a link that leads nowhere fails.
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
own="$scratch-docs"
# Snippets may show every client library.
export CUECAST_SUBSET="${targets[*]} CuecastBroadcast CuecastTesting CuecastZeroMQ"
export CUECAST_SUBSET_DOCC=1
make_subset "$own/package"
for target in "${targets[@]}"; do
    mkdir -p "$own/site/$target"
    swift package --package-path "$own/package" --scratch-path "$own/build" --allow-writing-to-directory "$own/site" \
        generate-documentation --target "$target" --warnings-as-errors --output-path "$own/site/$target" \
        --transform-for-static-hosting
    echo "docs: $target in $own/site/$target"
done
