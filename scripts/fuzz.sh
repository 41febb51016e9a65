#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Runs the property tests with new seeds again and again: random bytes, spoiled documents, random histories.
#
#   scripts/fuzz.sh                10 minutes
#   scripts/fuzz.sh --seconds N    so long; the run that is under way then is finished
#   scripts/fuzz.sh --rounds N     so many runs, however long they take
#   scripts/fuzz.sh --only PATTERN … of some of the suites
#
# When a test fails its output has the seed; CUECAST_SEED=… swift test --filter … repeats it.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
be_patient

# The suites that draw what they test at random. Those with sockets and time limits are not among them: these compute
# without a pause, and would let them wait.
suites='PropertyTests|ModelTests|RandomScheduleTests|OracleTests|HostileBytesTests|LogDamageTests|RoundTripTests'

seconds=600
rounds=""
while [ "$#" -gt 0 ]; do
    case "$1" in
        --seconds) seconds="${2:-}" ;;
        --rounds) rounds="${2:-}" ;;
        --only) suites="${2:-}" ;;
        *) fail 64 "unknown argument '$1'; there are --seconds N, --rounds N and --only PATTERN" ;;
    esac
    shift $(($# > 1 ? 2 : 1))
done
[ -n "$suites" ] || fail 64 "--only is empty; it must be a pattern of suites"
[[ "$seconds" =~ ^[0-9]+$ ]] || fail 64 "--seconds is '$seconds'; it must be a number"
[[ "$rounds" =~ ^([1-9][0-9]*)?$ ]] || fail 64 "--rounds is '$rounds'; it must be a number above 0"

choose_swift_flags
build_everything
log="$scratch/fuzz.log"
unset CUECAST_SEED
SECONDS=0
run=0
# Whether another run follows.
goes_on() {
    if [ -n "$rounds" ]; then [ "$run" -lt "$rounds" ]; else [ "$run" -eq 0 ] || [ "$SECONDS" -lt "$seconds" ]; fi
}
while goes_on; do
    run=$((run + 1))
    if ! run_tests --filter "$suites" >"$log" 2>&1; then
        cat "$log"
        fail 1 "run $run failed; its seeds are in the output above, which is kept in $log"
    fi
done
echo "fuzz: $run runs of the property tests in $SECONDS s, none failed"
