#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Builds the site of the documents with MkDocs Material: mkdocs.yml, scripts/docs_site.py. Warnings are errors: a link that
# leads nowhere fails, and so does a page that the navigation does not list. The documentation of the Swift libraries is part of
# the site when scripts/docs.sh has built it.
#
#   scripts/docs-site.sh
#
#   CUECAST_REPOSITORY_FILES   the address of the repository's files, such as https://git.example/cuecast/blob/main; without it,
#                              the site names files outside docs/ and links to none
#   CUECAST_SITE_BASE          the folder of the site on its host, such as `cuecast`; the root unless told
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

site="$scratch-site"
archives="$scratch-docs/site"
built=()
missing=()
for catalog in Sources/*/*.docc; do
    library="$(basename "$(dirname "$catalog")")"
    if [ -e "$archives/$library/data" ]; then built+=("$library"); else missing+=("$library"); fi
done

# Material prints an advertisement against a later release of MkDocs.
export NO_MKDOCS_2_WARNING=1
# Not --quiet, which leaves warnings out before --strict counts them.
CUECAST_SITE_LIBRARIES="${built[*]}" .venv/bin/mkdocs build --strict --clean --site-dir "$PWD/$site"
if [ "${#built[@]}" -gt 0 ]; then
    mkdir -p "$site/libraries"
    docc="$(find_docc)"
    for library in "${built[@]}"; do
        # The archive asks for its parts by paths from the root of the host.
        "$docc" process-archive transform-for-static-hosting "$archives/$library" \
            --output-path "$site/libraries/$library" --hosting-base-path "${CUECAST_SITE_BASE:+$CUECAST_SITE_BASE/}libraries/$library"
    done
fi
if [ "${#missing[@]}" -gt 0 ]; then
    echo "docs-site: without the documentation of ${missing[*]}; run \`make docs\` first to have it in the site"
fi
echo "docs-site: $(find "$site" -name '*.html' -not -path '*/libraries/*/*' | wc -l) pages in $site;" \
    "to read them, run: python3 -m http.server --bind 127.0.0.1 --directory $site 8000"
