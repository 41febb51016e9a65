#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Repeats tests until they fail: for what fails once in a hundred runs.
#
#   scripts/until-failure.sh FILTER          until a run fails, or Ctrl-C
#   scripts/until-failure.sh FILTER TIMES    at most so many times
#
# FILTER is a regular expression as for `swift test --filter`. The failed run is kept in the scratch folder. Tests that draw
# random numbers print their seed; CUECAST_SEED=… in the environment repeats it.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

[ "$#" -ge 1 ] || fail 64 "say which tests, for example: scripts/until-failure.sh RecoveryTests 100"
filter="$1"
times="${2:-0}"
[[ "$times" =~ ^[0-9]+$ ]] || fail 64 "TIMES is '$times'; it must be a number"

choose_swift_flags
swift build "${swift_flags[@]}" --build-tests
log="$scratch/until-failure.log"
run=0
while [ "$times" -eq 0 ] || [ "$run" -lt "$times" ]; do
    run=$((run + 1))
    if ! run_tests --filter "$filter" >"$log" 2>&1; then
        cat "$log"
        echo "until-failure: run $run failed after ${SECONDS} s; the output above is kept in $log"
        exit 1
    fi
    echo "until-failure: run $run passed (${SECONDS} s)"
done
