#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Measures what docs/performance.md states, on this machine: from a publication to its notice, and what idle listeners
# cost. Gates nothing. Arguments go to neither script; see Benchmarks/*.py --help to run one alone.
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

swift build --scratch-path "$scratch" -c release --product cuecast
binary="$(swift build --scratch-path "$scratch" -c release --show-bin-path)/cuecast"
printf '\n== from a publication to its notice\n'
/usr/bin/python3 Benchmarks/notice_latency.py --binary "$binary"
printf '\n== 2,000 idle listeners\n'
/usr/bin/python3 Benchmarks/idle_subscribers.py --binary "$binary" --listeners 2000
