#!/usr/bin/env bash
# The LiteLLM proxy beside our gateway, for the benchmark alone; it takes some 700 MB in the cache.
#
#   scripts/litellm.sh run COMMAND …    install it once, start it before the benchmark's own model server, run COMMAND
#                                       with MUNSHI_BENCH_LITELLM (its address) set, stop both
set -euo pipefail

proxy='litellm[proxy]==1.106.2'
. "$(dirname "$0")/cache.sh"
home=$cache/litellm-${proxy#*==}
here=$(cd "$(dirname "$0")/.." && pwd)

if [ "${1:-}" != run ] || [ $# -lt 2 ]; then
  echo "usage: scripts/litellm.sh run COMMAND …" >&2
  exit 2
fi
shift

if [ ! -e "$home/.complete" ]; then
  echo "Installing ${home##*/} into $cache" >&2
  rm -rf "$home"
  mkdir -p "$cache"
  python3 -m pip install --quiet --root-user-action=ignore --target "$home" "$proxy" >&2
  touch "$home/.complete"
fi

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

work=$(mktemp -d "${TMPDIR:-/tmp}/munshi-litellm.XXXXXX")
mock_port=$(free_port)
port=$(free_port)
cat >"$work/config.yaml" <<YAML
model_list:
  - model_name: mock
    litellm_params:
      model: openai/mock
      api_base: http://127.0.0.1:$mock_port/v1
      api_key: sk-bench
YAML
MUNSHI_BENCH_PORT=$mock_port "$here/target/release/munshi-bench" model-server >"$work/mock.log" 2>&1 &
mock=$!
(cd "$work" && LITELLM_LOCAL_MODEL_COST_MAP=True LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY=true PYTHONPATH=$home exec python3 "$home/bin/litellm" --config config.yaml --host 127.0.0.1 --port "$port" --telemetry False) >"$work/log" 2>&1 &
process=$!
trap 'kill "$process" "$mock" 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
for _ in $(seq 600); do
  curl -sf -o /dev/null "http://127.0.0.1:$port/health/liveliness" && break
  kill -0 "$process" 2>/dev/null || { cat "$work/log" >&2; echo "error: the proxy did not start" >&2; exit 1; }
  sleep 0.2
done
MUNSHI_BENCH_LITELLM=http://127.0.0.1:$port/v1 "$@"
