#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Repeats everything that is random or depends on timing for a long time, and stops at the first failure: all tests, the
# property tests with new seeds, and crash tests.
#
#   scripts/soak.sh                60 minutes
#   scripts/soak.sh --minutes N    so long; the round that is under way then is finished
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
be_patient

minutes=60
case "${1:-}" in
    "") ;;
    --minutes) minutes="${2:-}" ;;
    *) fail 64 "unknown argument '$1'; there is --minutes N" ;;
esac
[[ "$minutes" =~ ^[0-9]+$ ]] || fail 64 "--minutes is '$minutes'; it must be a number"

choose_swift_flags
swift build "${swift_flags[@]}" --build-tests
log="$scratch/soak.log"
trap end_running_targets EXIT
SECONDS=0
round=0
while [ "$round" -eq 0 ] || [ "$SECONDS" -lt $((minutes * 60)) ]; do
    round=$((round + 1))
    if ! { run_all_tests && scripts/end-to-end.sh && scripts/fuzz.sh --seconds 60 && scripts/crash.sh; } >"$log" 2>&1; then
        cat "$log"
        fail 1 "round $round failed after $SECONDS s; the output above is kept in $log"
    fi
    echo "soak: round $round passed ($SECONDS s)"
done
