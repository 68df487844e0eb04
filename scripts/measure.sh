#!/usr/bin/env bash
# How long the release build takes from start to its first good answer of /readyz, and the memory it holds when idle.
#
#   scripts/measure.sh [ROUNDS]     on a SQLite database that is there already, and on none
set -euo pipefail
cd "$(dirname "$0")/.."
rounds=${1:-20}
program=${MUNSHI_PROGRAM:-target/release/munshi}
[ -x "$program" ] || { echo "error: there is no $program: run make build" >&2; exit 1; }
exec python3 - "$program" "$rounds" <<'PYTHON'
import json, os, shutil, signal, socket, statistics, subprocess, sys, tempfile, time

program, rounds = sys.argv[1], int(sys.argv[2])
folder = tempfile.mkdtemp(prefix="munshi-measure.")
environment = {"MUNSHI__DATA__DIR": folder + "/data", "MUNSHI__SERVER__LISTEN": "127.0.0.1:0", "HOME": folder}


def get(address, path):
    with socket.create_connection(address) as line:
        line.sendall(f"GET {path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".encode())
        answer = b""
        while piece := line.recv(65536):
            answer += piece
    return answer


def start():
    began = time.perf_counter()
    child = subprocess.Popen([program, "serve", "--json"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    host, _, port = json.loads(child.stdout.readline())["address"].rpartition(":")
    while b" 200 " not in get((host, int(port)), "/readyz")[:16]:
        time.sleep(0.001)
    return child, (time.perf_counter() - began) * 1000


def stop(child):
    child.send_signal(signal.SIGTERM)
    assert child.wait() == 0, "the server did not stop well"


def memory(child):
    status = open(f"/proc/{child.pid}/status").read()
    return {line.split(":")[0]: int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith(("VmRSS", "RssAnon"))}


def shown(times):
    return f"median {statistics.median(times):.0f} ms, worst {max(times):.0f} ms"


try:
    fresh, existing = [], []
    for _ in range(rounds):
        shutil.rmtree(folder + "/data", ignore_errors=True)
        child, took = start()
        stop(child)
        fresh.append(took)
    for _ in range(rounds):
        child, took = start()
        stop(child)
        existing.append(took)
    child, _ = start()
    time.sleep(3)
    held = memory(child)
    stop(child)
    print(f"start to ready, existing database: {shown(existing)} (goal 100)")
    print(f"start to ready, first run:         {shown(fresh)}")
    print(f"idle memory: {held['VmRSS']:.1f} MB resident, {held['RssAnon']:.1f} MB of it our own (goal 40)")
finally:
    shutil.rmtree(folder, ignore_errors=True)
PYTHON
