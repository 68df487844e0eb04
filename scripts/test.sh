#!/usr/bin/env bash
# Every test, on both database engines with a real model and a real browser. Extra words go to the test runner: scripts/test.sh -p munshi-store
set -euo pipefail
cd "$(dirname "$0")/.."
what=(--workspace)
[ $# -gt 0 ] && what=("$@")
if cargo nextest --version >/dev/null 2>&1; then
  exec scripts/postgres.sh run scripts/models.sh run scripts/browser.sh run cargo nextest run "${what[@]}"
fi
exec scripts/postgres.sh run scripts/models.sh run scripts/browser.sh run cargo test "${what[@]}"
