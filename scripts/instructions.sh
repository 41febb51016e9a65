#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Counts the instructions and allocations of the hot paths, and fails when one costs more than it may: the counts do not
# depend on how busy the machine is.
#
#   scripts/instructions.sh            gates
#   scripts/instructions.sh --update   writes the counts down as the new limits
#   scripts/instructions.sh --smoke    only shows that each operation works, with the build of the tests, and counts nothing
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

if [ "${1:-}" = --smoke ]; then
    choose_swift_flags
    build_products Microbenchmarks
    binary="$(built_folder)/Microbenchmarks"
    operations="$("$binary")"
    [ -n "$operations" ] || fail 1 "the program of the operations names none"
    for operation in $operations; do
        "$binary" "$operation" 2 4 0 || fail 1 "the operation $operation does not work"
    done
    echo "instructions: $(wc -w <<<"$operations") operations work"
    exit
fi

command -v valgrind >/dev/null || fail 69 "there is no valgrind; run scripts/setup.sh"
# In a folder of its own with nothing but what it needs, so that it can be built beside everything else.
export CUECAST_SUBSET=Microbenchmarks
own="$scratch-instructions"
make_subset "$own/package"
rm -rf "$own/package/Snippets"
# The same code wherever it is counted.
CI="" choose_swift_flags
# Without the scratch folder of everything else, and without debug information, which is stripped below.
swift_flags=(--package-path "$own/package" --scratch-path "$own/build" "${swift_flags[@]:2}" -c release -debug-info-format none)
swift build "${swift_flags[@]}" --product Microbenchmarks
binary="$(swift build "${swift_flags[@]}" --show-bin-path)/Microbenchmarks"
# Debian's valgrind gives up on the debug information of what is linked in; it needs the names of functions only.
strip --strip-debug -o "$own/microbenchmarks" "$binary"
python3 Benchmarks/instructions.py --binary "$own/microbenchmarks" "$@"
