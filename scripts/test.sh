#!/usr/bin/env bash
# Every test, on both database engines with a real model, a real browser and other people's programs.
# Extra words go to the test runner: scripts/test.sh -p munshi-store
set -euo pipefail
cd "$(dirname "$0")/.."
MUNSHI_TEST_CONNECTORS=$(scripts/connectors.sh)
export MUNSHI_TEST_CONNECTORS
what=(--workspace)
[ $# -gt 0 ] && what=("$@")
parts=()
for part in postgres models browser oidc clients; do parts+=("scripts/$part.sh" run); done
if cargo nextest --version >/dev/null 2>&1; then
  exec "${parts[@]}" cargo nextest run "${what[@]}"
fi
exec "${parts[@]}" cargo test "${what[@]}"
