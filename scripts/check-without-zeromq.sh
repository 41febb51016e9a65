#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Proves that the player's client library builds without libzmq, which phones cannot install: builds the app in
# scripts/without-zeromq where <zmq.h> is an error, runs it, and checks that it is not linked against libzmq.
#
#   scripts/check-without-zeromq.sh                               must pass
#   CUECAST_ALSO=CuecastZeroMQ scripts/check-without-zeromq.sh    must fail: the app then depends on that library too
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

readonly app="scripts/without-zeromq"
flags=(--package-path "$app" --scratch-path "$scratch-without-zeromq" -Xcc "-I$PWD/$app/no-zeromq")
swift build "${flags[@]}"
player="$(swift build "${flags[@]}" --show-bin-path)/Player"
"$player"
if readelf --dynamic --wide "$player" | grep -i zmq; then
    fail 1 "the app is linked against libzmq"
fi
echo "check-without-zeromq: the client library builds, links and runs without libzmq"
