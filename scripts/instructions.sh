#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Counts the instructions and allocations of the hot paths, and fails when one costs more than it may: the counts do not
# depend on how busy the machine is.
#
#   scripts/instructions.sh            gates
#   scripts/instructions.sh --update   writes the counts down as the new limits
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

command -v valgrind >/dev/null || fail 69 "there is no valgrind; run scripts/setup.sh"
choose_swift_flags
swift build "${swift_flags[@]}" -c release --product Microbenchmarks
python3 Benchmarks/instructions.py \
    --binary "$(swift build "${swift_flags[@]}" -c release --show-bin-path)/Microbenchmarks" "$@"
