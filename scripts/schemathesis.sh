#!/usr/bin/env bash
# Schemathesis over the API document, with an owner's key, a keeper's and as a visitor, against the binary on a temporary database.
#
#   scripts/schemathesis.sh install        fetch Schemathesis into the cache, once
#   scripts/schemathesis.sh run [COUNT]    try COUNT examples an operation (20 without it); fails where something answers
#                                          5xx, breaks the document, or never answers 2xx
#
# MUNSHI_BIN is the binary; without it target/debug/munshi is built. MUNSHI_SEED makes another run.
set -euo pipefail

tool=schemathesis==4.32.5
. "$(dirname "$0")/cache.sh"
root=$(cd "$(dirname "$0")/.." && pwd)
python=$(python3 -c 'import sys; print(f"{sys.version_info.major}.{sys.version_info.minor}")' 2>/dev/null || true)
home=$cache/${tool/==/-}-python$python

install() {
  [ -e "$home/.complete" ] && return
  echo "Installing ${home##*/} into $cache" >&2
  if ! python3 -m pip --version >/dev/null 2>&1; then
    echo "error: python3 with pip is needed for Schemathesis: apt-get install python3-pip" >&2
    exit 1
  fi
  mkdir -p "$cache"
  local partial
  partial=$(mktemp -d "$home.XXXXXX")
  python3 -m pip install --quiet --root-user-action=ignore --target "$partial" "$tool" >&2 ||
    { rm -rf "$partial"; echo "error: Schemathesis can't be installed" >&2; exit 1; }
  touch "$partial/.complete"
  chmod -R a+rX "$partial"
  # Another run may have been faster; its folder is as good.
  mv -T "$partial" "$home" 2>/dev/null || { rm -rf "$partial"; [ -e "$home/.complete" ]; }
}

serve() {
  port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
  export MUNSHI__DATA__DIR=$work/data MUNSHI__SERVER__LISTEN=127.0.0.1:$port MUNSHI__BUDGET__PLAN=business MUNSHI__LOG__LEVEL=warn \
    MUNSHI__SERVER__REQUEST_TIMEOUT_SECONDS=120 MUNSHI__SERVER__KEY_REQUESTS_PER_MINUTE=10000000 MUNSHI__SERVER__ADDRESS_REQUESTS_PER_MINUTE=10000000
  "$bin" migrate >/dev/null
  for folder in "$root"/tenants/*/; do "$bin" apply "$folder" >/dev/null; done
  "$bin" person add Asha --role owner --tenant "$tenant" >/dev/null
  # Every area there is: some a key has only where it names them.
  local areas=
  for area in chat tools sessions runs persons bindings tiers approvals usage keys connectors channels packs operators vault audit administration erasure test; do
    areas+=" --area $area"
  done
  # shellcheck disable=SC2086
  key=$("$bin" key add schemathesis --role owner --speaks-as person --tenant "$tenant" $areas --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["text"])')
  keeper=$("$bin" keeper-key add schemathesis --speaks-as person --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["text"])')
  "$bin" keeper-key add spare --speaks-as program >/dev/null
  agent=$("$bin" key add agent --role owner --speaks-as program --tenant "$tenant" --area administration --area persons --json |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["text"])')
  "$bin" serve >"$work/log" 2>&1 &
  server=$!
  for _ in $(seq 1200); do
    curl -sf -o /dev/null "http://127.0.0.1:$port/readyz" && return
    kill -0 "$server" 2>/dev/null || break
    sleep 0.1
  done
  cat "$work/log" >&2
  echo "error: the server did not start" >&2
  exit 1
}

run() {
  install
  bin=${MUNSHI_BIN:-$root/target/debug/munshi}
  [ -n "${MUNSHI_BIN:-}" ] || (cd "$root" && cargo build -q -p munshi)
  tenant=rangoli
  work=$(mktemp -d "${TMPDIR:-/tmp}/munshi-schemathesis.XXXXXX")
  server=
  trap '[ -z "$server" ] || { kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true; }; rm -rf "$work"' EXIT
  serve
  python3 -B "$root/scripts/schemathesis/prepare.py" "http://127.0.0.1:$port" "$key" "$keeper" "$agent" "$tenant" "$work/data/munshi.db" "$work/visitor" >"$work/openapi.json"
  local failed=0
  # What only a keeper may do, some of it about one tenant; and what would take away what the owner's run needs.
  local kept='^/v1/(tenants|tenant-keys/|backups|jobs|keeper-keys|host-keys|audit/anchor|model-targets/.*/test|model-capabilities/|usage/(plan|limits)|keepers|proposals/|invitations/withdraw|operators/.*/(prove|remove)|connectors/.*/(logs|remove|test)|channels)'
  try "$1" owner "$key" --exclude-path-regex "^/visit/|$kept" || failed=$?
  try "$1" keeper "$keeper" --header "X-Munshi-Tenant: $tenant" --include-path-regex "$kept" || failed=$?
  try "$1" visitor "$(cat "$work/visitor")" --include-path-regex '^/visit/' || failed=$?
  python3 -B "$root/scripts/schemathesis/check.py" "$work/openapi.json" "$work/owner.har" "$work/keeper.har" "$work/visitor.har"
  return "$failed"
}

try() { # try COUNT NAME TOKEN OPTION …
  local count=$1 name=$2 token=$3
  shift 3
  (cd "$work" && PYTHONPATH=$home python3 -B -m schemathesis.cli --config-file "$root/scripts/schemathesis/settings.toml" \
    run "$work/openapi.json" --url "http://127.0.0.1:$port" --header "Authorization: Bearer $token" --workers 1 \
    --max-examples "$count" --seed "${MUNSHI_SEED:-1}" --report har --report-har-path "$work/$name.har" \
    --no-color "$@") >"$work/told" 2>&1 && return
  cat "$work/told" "$work/log"
  return 1
}

case "${1:-}" in
install) install ;;
run) run "${2:-20}" ;;
*)
  echo "usage: scripts/schemathesis.sh install | run [COUNT]" >&2
  exit 2
  ;;
esac
