#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Attacks the gateway as strangers would, beside honest listeners, and says who lost what and who noticed.
#
#   scripts/hostile.sh               all attacks on the release build, for about forty minutes
#   scripts/hostile.sh --only NAME…  some of them; other arguments go to Tests/Hostile/hostile.py too
#   scripts/hostile.sh --short       smaller ones on the build of the tests, without verdicts that depend on speed
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
be_patient

short=""
for argument in "$@"; do [ "$argument" != --short ] || short=yes; done
if [ -n "$short" ]; then
    choose_swift_flags
    build_products cuecast cuecast-load
    binaries="$(built_folder)"
else
    choose_release_flags
    for product in cuecast cuecast-load; do swift build "${release_flags[@]}" --product "$product"; done
    binaries="$(swift build "${release_flags[@]}" --show-bin-path)"
fi
exec /usr/bin/python3 Tests/Hostile/hostile.py --binary "$binaries/cuecast" --load "$binaries/cuecast-load" "$@"
