#!/usr/bin/env bash
# Every test, on both database engines and with a real model. Extra words go to the test runner: scripts/test.sh -p munshi-store
set -euo pipefail
cd "$(dirname "$0")/.."
MUNSHI_TEST_CONNECTORS=$(scripts/connectors.sh)
export MUNSHI_TEST_CONNECTORS
what=(--workspace)
[ $# -gt 0 ] && what=("$@")
if cargo nextest --version >/dev/null 2>&1; then
  exec scripts/postgres.sh run scripts/models.sh run cargo nextest run "${what[@]}"
fi
exec scripts/postgres.sh run scripts/models.sh run cargo test "${what[@]}"
