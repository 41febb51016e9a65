#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Every check of deploy/, from a fresh clone to the end: what is quick, the release, its bill of materials, alerts, dashboard,
# manifests and image, the Debian package in a bare Debian. Needs root.
#
#   scripts/test-deploy.sh
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"
be_patient

choose_swift_flags
for product in cuecast cuecast-load; do swift build "${swift_flags[@]}" --product "$product"; done
scripts/check-deploy.sh
scripts/release.sh
# The validator of the format's own project.
.venv/bin/pyspdxtools --infile "$scratch/dist/cuecast.spdx.json"
scripts/check-deploy-files.sh
scripts/deb.sh
scripts/test-deploy-debian.sh
