#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright (c) 2026 the Cuecast authors
#
# Checks the files of deploy/ for Prometheus, Grafana, Kubernetes and containers.
#
#   scripts/check-deploy-files.sh           everything, in some minutes: also the rules' tests against alerts that never or
#                                           always fire, the schemas of Kubernetes, the dashboard's queries at a real
#                                           Prometheus, and the image, built and run; needs root and `setup.sh test deploy`
#   scripts/check-deploy-files.sh --short   what takes seconds, with the build of the tests
#
#   RELEASE_BINARY   the binary that goes into the image; .build/dist/cuecast unless told, made where it is missing
set -euo pipefail
# shellcheck source=scripts/lib.sh
. "$(dirname "$0")/lib.sh"

short=""
case "${1:-}" in
    --short) short=yes ;;
    "") ;;
    *) fail 64 "unknown argument '$1'; there is --short" ;;
esac

need() {
    command -v "$1" >/dev/null || fail 69 "there is no $1; run: scripts/setup.sh $2"
}

need promtool test
choose_swift_flags
CUECAST_BIN="$(built_folder)/cuecast"
export CUECAST_BIN
[ -x "$CUECAST_BIN" ] || fail 69 "there is no $CUECAST_BIN; build the tests first"

if [ -n "$short" ]; then
    /usr/bin/python3 Tests/Deploy/check_files.py
    exit
fi

need prometheus test
need buildah deploy
need debootstrap deploy
for tool in kubernetes-validate hadolint; do need ".venv/bin/$tool" deploy; done

echo "== files, and whether the tests of the rules can fail"
CUECAST_RULE_MUTATIONS=yes /usr/bin/python3 Tests/Deploy/check_files.py
echo "== Kubernetes: schemas, strictly"
manifests=()
for file in deploy/kubernetes/*.yaml deploy/kubernetes/cluster/*.yaml deploy/kubernetes/cluster/init/*.yaml deploy/kubernetes/watch/*.yaml; do
    # It is for kustomize, and has no schema there.
    [ "$(basename "$file")" = kustomization.yaml ] || manifests+=("$file")
done
.venv/bin/kubernetes-validate --strict "${manifests[@]}"
echo "== Containerfile"
.venv/bin/hadolint deploy/container/Containerfile
echo "== dashboard"
/usr/bin/python3 Tests/Deploy/dashboard.py --table "$scratch/dashboard.md"
echo "== image"
release="${RELEASE_BINARY:-$scratch/dist/cuecast}"
[ -x "$release" ] || scripts/release.sh
/usr/bin/python3 Tests/Deploy/container.py --binary "$release" --cache "$scratch/debian"
echo "check-deploy-files: everything is right"
