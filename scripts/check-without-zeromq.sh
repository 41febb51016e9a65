#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Proves that the player's client library, its transport and the library for its tests do without libzmq, which phones cannot install:
# runs an app that has these three, and checks that it is linked neither against libzmq nor against SQLite, which the gateway has.
#
#   scripts/check-without-zeromq.sh                               must pass: builds the app as a package of its own, where <zmq.h> is an error
#   CUECAST_ALSO=CuecastZeroMQ scripts/check-without-zeromq.sh    must fail: the app then depends on that library too
#   scripts/check-without-zeromq.sh --short                       looks at the app that is built with everything else
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

readonly app="scripts/without-zeromq"
case "${1:-}" in
    "")
        flags=(--package-path "$app" --scratch-path "$scratch-without-zeromq" --disable-index-store
            -Xcc "-I$PWD/$app/no-zeromq")
        swift build "${flags[@]}"
        player="$(swift build "${flags[@]}" --show-bin-path)/Player"
        ;;
    --short)
        # Not built here: what a build of one product compiles, a build of everything compiles once more.
        choose_swift_flags
        player="$(built_folder)/PhonePlayer"
        ;;
    *) fail 64 "unknown argument '$1'; there is --short" ;;
esac
[ -x "$player" ] || fail 69 "there is no $player; run swift build --build-tests"
"$player"
if readelf --dynamic --wide "$player" | grep -iE "zmq|sqlite"; then
    fail 1 "the app is linked against what only gateways need"
fi
echo "check-without-zeromq: the client library, its transport and the one for its tests run and are not linked against libzmq"
