#!/usr/bin/env bash
# Other people's programs that speak OpenAI's API, unmodified: its Python and JavaScript packages, LangChain and llm.
#
#   scripts/clients.sh install          fetch them into the cache, once
#   scripts/clients.sh run COMMAND …    run COMMAND with MUNSHI_TEST_OPENAI_CLIENTS (their folder) set
set -euo pipefail

python_packages=(openai==3.49.0 langchain-openai==1.7.3 llm==0.36)
node_packages=(openai@7.53.0)
. "$(dirname "$0")/cache.sh"
# Some bring compiled parts, so they belong to one Python.
python=$(python3 -c 'import sys; print(f"{sys.version_info.major}.{sys.version_info.minor}")' 2>/dev/null || true)
home=$cache/openai-clients-1-python$python

install() {
  [ -e "$home/.complete" ] && return
  echo "Installing ${home##*/} into $cache" >&2
  need python3 python3-pip
  need npm npm
  mkdir -p "$cache"
  local partial
  partial=$(mktemp -d "$home.XXXXXX")
  if ! { python3 -m pip install --quiet --root-user-action=ignore --target "$partial/python" "${python_packages[@]}" >&2 &&
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$partial/node" "${node_packages[@]}" >&2; }; then
    rm -rf "$partial"
    echo "error: ${home##*/} can't be installed" >&2
    exit 1
  fi
  touch "$partial/.complete"
  chmod -R a+rX "$partial"
  # Another run may have been faster; its folder is as good.
  mv -T "$partial" "$home" 2>/dev/null || { rm -rf "$partial"; [ -e "$home/.complete" ]; }
}

case "${1:-}" in
install) install ;;
run)
  shift
  install
  export MUNSHI_TEST_OPENAI_CLIENTS=$home
  exec "$@"
  ;;
*)
  echo "usage: scripts/clients.sh install | run COMMAND …" >&2
  exit 2
  ;;
esac
