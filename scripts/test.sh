#!/usr/bin/env bash
# Every test, on both database engines and with a real model. Extra words go to the test runner: scripts/test.sh -p munshi-store
set -euo pipefail
cd "$(dirname "$0")/.."
what=(--workspace)
[ $# -gt 0 ] && what=("$@")
if cargo nextest --version >/dev/null 2>&1; then
  exec scripts/postgres.sh run scripts/models.sh run scripts/oidc.sh run scripts/clients.sh run cargo nextest run "${what[@]}"
fi
exec scripts/postgres.sh run scripts/models.sh run scripts/oidc.sh run scripts/clients.sh run cargo test "${what[@]}"
