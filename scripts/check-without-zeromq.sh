#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Proves that the player's client library, its transport and the library for its tests build without libzmq, which phones cannot install:
# builds the app in scripts/without-zeromq where <zmq.h> is an error, runs it, and checks that it is linked neither against
# libzmq nor against SQLite, which the gateway has.
#
#   scripts/check-without-zeromq.sh                               must pass
#   CUECAST_ALSO=CuecastZeroMQ scripts/check-without-zeromq.sh    must fail: the app then depends on that library too
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

readonly app="scripts/without-zeromq"
flags=(--package-path "$app" --scratch-path "$scratch-without-zeromq" --disable-index-store -Xcc "-I$PWD/$app/no-zeromq")
swift build "${flags[@]}"
player="$(swift build "${flags[@]}" --show-bin-path)/Player"
"$player"
if readelf --dynamic --wide "$player" | grep -iE "zmq|sqlite"; then
    fail 1 "the app is linked against what only gateways need"
fi
echo "check-without-zeromq: the client library, its transport and the one for its tests build, link and run without libzmq"
