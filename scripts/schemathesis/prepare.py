"""Makes something of everything, and writes the document with it as examples: so every operation can answer 2xx.

    prepare.py URL KEY KEEPER AGENT TENANT DATABASE VISITOR > openapi.json      the token of a visitor goes into the file VISITOR
"""

import json
import re
import sqlite3
import sys
import time
import urllib.parse
import urllib.request
import uuid

url, key, keeper, agent, tenant, database, visitor = sys.argv[1:]


def call(method, path, body=None, key=key):
    headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
    if key == keeper:
        headers["x-munshi-tenant"] = tenant
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url + path, data, headers, method=method)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def approval():
    """No tool of a bare installation asks anybody, so the question is written down as the pipeline would."""
    store = sqlite3.connect(database, timeout=120)
    owner = store.execute("SELECT id FROM tenants WHERE name = ?", (tenant,)).fetchone()[0]
    new = (lambda: uuid.uuid4().bytes) if isinstance(owner, bytes) else (lambda: str(uuid.uuid4()))
    act, question, now = new(), new(), int(time.time() * 1e6)
    digest = bytes(range(32))
    whose = str(uuid.UUID(bytes=owner)) if isinstance(owner, bytes) else owner
    proposal = {
        "wanted": "act",
        "caller": {
            "principal": {"tenant": whose, "person": None, "standing": {"member": "owner"}, "opened": [], "closed": []},
            "door": "work", "binding": None, "run": None, "session": None, "zone": "Asia/Kolkata", "background": False,
        },
        "taint": {"sources": [], "own_words": ["wipe it"]},
        "concerns": [],
    }
    with store:
        store.execute(
            "INSERT INTO acts (tenant_id, id, tool, connector, effect, arguments, proposal, digest, state, attempt, began_at)"
            " VALUES (?, ?, 'wipe', 'test', 'inside', '{}', ?, ?, 'waiting', 0, ?)",
            (owner, act, json.dumps(proposal), digest, now),
        )
        store.execute(
            "INSERT INTO approvals (tenant_id, id, act_id, kind, tool, scope, words, question, digest, state, covers, asked_at,"
            " expires_at) VALUES (?, ?, ?, 'act', 'wipe', 'test.wipe', 'Wipe it?', ?, ?, 'pending', 'act', ?, ?)",
            (owner, question, act, json.dumps({"reasons": ["dangerous"], "needs": "approver", "risk": "high"}), digest,
             now, now + 86_400_000_000),
        )
    return str(uuid.UUID(bytes=question)) if isinstance(question, bytes) else question


def undoable():
    """An act that was done and has a way back, by a tool that is not there: refused each time, and asked for again."""
    question = approval()
    store = sqlite3.connect(database, timeout=120)
    whose = uuid.UUID(question).bytes if isinstance(store.execute("SELECT id FROM tenants").fetchone()[0], bytes) else question
    act = store.execute("SELECT act_id FROM approvals WHERE id = ?", (whose,)).fetchone()[0]
    now = int(time.time() * 1e6)
    with store:
        store.execute("DELETE FROM approvals WHERE id = ?", (whose,))
        store.execute(
            "UPDATE acts SET state = 'applied', ended_at = ?, undo = ?, undo_until = ? WHERE id = ?",
            (now, json.dumps({"tool": "no_such_tool", "arguments": {}}), now + 86_400_000_000, act),
        )
    return str(uuid.UUID(bytes=act)) if isinstance(act, bytes) else act


def job_and_connector():
    """A job that was given up, and a connector whose tools changed: what a bare installation has none of."""
    store = sqlite3.connect(database, timeout=120)
    owner = store.execute("SELECT id FROM tenants WHERE name = ?", (tenant,)).fetchone()[0]
    new = (lambda: uuid.uuid4().bytes) if isinstance(owner, bytes) else (lambda: str(uuid.uuid4()))
    now, jobs = int(time.time() * 1e6), [new(), new()]
    with store:
        for job in jobs:
            store.execute(
                "INSERT INTO jobs (id, tenant_id, kind, priority, payload, state, run_at, attempt, max_attempts, created_at)"
                " VALUES (?, ?, 'letter', 2, '{}', 'dead', ?, 8, 8, ?)",
                (job, owner, now, now),
            )
        body = json.dumps({name: {"url": "https://127.0.0.1:9/mcp"} for name in ("odd", "gone")})
        store.execute(
            "INSERT INTO connector_files (tenant_id, version, body, author, note, made_at) VALUES (?, 1000, ?, 'asha', '', ?)",
            (owner, body, now),
        )
        for number, accepted in ((1, now), (2, None)):
            store.execute(
                "INSERT INTO connector_manifests (tenant_id, connector, hash, server, version, body, seen_at, accepted_at)"
                " VALUES (?, 'odd', ?, 'odd', '1', '{}', ?, ?)",
                (owner, f"hash {number}", now + number, accepted),
            )
    return [str(uuid.UUID(bytes=job)) if isinstance(job, bytes) else job for job in jobs]


def outgoing():
    """Messages on their way out, in no conversation: one to look at, one that waits, one that was given up."""
    store = sqlite3.connect(database, timeout=120)
    owner = store.execute("SELECT id FROM tenants WHERE name = ?", (tenant,)).fetchone()[0]
    now, found = int(time.time() * 1e6), []
    with store:
        for state in ("failed", "waiting", "failed"):
            made = uuid.uuid4()
            bind = (lambda one: one.bytes) if isinstance(owner, bytes) else str
            body = {"id": str(made), "to": {"channel": "email", "address": "ravi@shop.example"}, "purpose": "alert", "text": "The oil is out."}
            store.execute(
                "INSERT INTO outbox (tenant_id, message_id, channel, address, purpose, lane, number, body, state, attempts, made_at)"
                " VALUES (?, ?, 'email', '', 'alert', ?, 1, ?, ?, 1, ?)",
                (owner, bind(made), bind(made), json.dumps(body), state, now),
            )
            found.append(str(made))
    return found


def proposal(name):
    """What a program asked for over MCP."""
    params = {"name": "add_person", "arguments": {"name": name}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "authorization": f"Bearer {agent}", "content-type": "application/json",
        "accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18",
    }
    request = urllib.request.Request(url + "/mcp", json.dumps(body).encode(), headers, method="POST")
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)["result"]["structuredContent"]


def visit(place):
    """Somebody at a page says something: their token, and the turn."""
    body = {"text": "namaste", "message_id": uuid.uuid4().hex}
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"{url}/visit/{place}/messages", json.dumps(body).encode(), headers, method="POST")
    with urllib.request.urlopen(request) as answer:
        answer.read()
        return re.match(r"[^=]+=([^;]+)", answer.headers["set-cookie"])[1], answer.headers["x-run-id"]


def operator(email):
    """Somebody who was invited and came."""
    link = call("POST", "/v1/invitations", {"email": email, "role": "staff"})["link"]
    form = urllib.parse.urlencode({"name": "Nina", "password": "correct horse battery"}).encode()
    path = link[link.index("/account/link/"):]
    with urllib.request.urlopen(urllib.request.Request(url + path, form, {"origin": url}, method="POST")) as answer:
        answer.read()
    return email


def asset():
    page = urllib.request.Request(url + "/", headers={"accept": "text/html"})
    with urllib.request.urlopen(page) as answer:
        return re.search(r"/assets/([\w.-]+\.css)", answer.read().decode())[1]


binding = call("GET", "/v1/bindings")["items"][0]["name"]
chat = {"binding": binding, "text": "namaste", "person": {"visitor": uuid.uuid4().hex}}
first, second = call("POST", "/v1/chat", chat), call("POST", "/v1/chat", {**chat, "person": {"visitor": uuid.uuid4().hex}})
person = call("POST", "/v1/persons", {"name": "Raju", "handle": "raju"})
leaver = call("POST", "/v1/persons", {"name": "Gita"})
forgotten = call("POST", "/v1/persons", {"name": "Hema"})
gone = call("POST", "/v1/persons", {"name": "Isha"})
erased = call("POST", f"/v1/persons/{gone['id']}/forget")
link = {"session": second["session"], "phone": "+919812345678", "deliver": "you"}
code = call("POST", f"/v1/persons/{second['person']}/link", link)["code"]
spare = call("POST", "/v1/keys", {"name": "spare", "role": "viewer", "speaks_as": "program"})
rotated = call("POST", "/v1/keys", {"name": "rotated", "role": "viewer", "speaks_as": "program"})
granted, refused = approval(), approval()
dead, retried = job_and_connector()
left, waiting, failed = outgoing()
for name in ("shown", "unwanted"):
    call("POST", "/v1/channels", {"name": name, "kind": "log"}, keeper)
for name in ("awake", "asleep", "over"):
    call("POST", "/v1/tenants", {"name": name}, keeper)
call("POST", "/v1/tenants/asleep/pause", None, keeper)
call("POST", "/v1/secrets/gone", {"value": "s3cret"})
call("POST", "/v1/host-keys", {"kid": "front", "jwks": "https://shop.example/keys", "algorithm": "RS256"}, keeper)
invited = call("POST", "/v1/invitations", {"email": "gita@shop.example", "role": "staff"})
call("POST", "/v1/invitations", {"email": "lata@shop.example", "role": "staff"})
digest = call("GET", f"/v1/approvals/{granted}")["digest"]
seen, wanted, unwanted = proposal("Seen"), proposal("Wanted"), proposal("Unwanted")

human = {"path": "humans/spare.md", "text": "+++\nname = \"Spare\"\nidentity = \"You help.\"\n+++\n"}
place = f"{tenant}:{binding}"
token, visited = visit(place)
with open(visitor, "w") as file:
    file.write(token)

ids = {
    "/visit/{place}/runs/{id}": visited,
    "/v1/runs/{id}": first["run"],
    "/v1/acts/{id}": undoable(),
    "/v1/sessions/{id}": first["session"],
    "/v1/persons/{id}": person["id"],
    "/v1/persons/{id}/export": person["id"],
    "/v1/persons/{id}/leave": leaver["id"],
    "/v1/persons/{id}/forget": forgotten["id"],
    "/v1/erasures/{id}": erased["id"],
    "/v1/persons/{id}/link": first["person"],
    "/v1/persons/{id}/confirm": second["person"],
    "/v1/approvals/{id}": granted,
    "/v1/approvals/{id}/refuse": refused,
    "/v1/proposals/{id}": seen["id"],
    "/v1/proposals/{id}/grant": wanted["id"],
    "/v1/proposals/{id}/refuse": unwanted["id"],
    "/v1/operators/{id}": operator("nina@shop.example"),
    "/v1/operators/{id}/prove": operator("hema@shop.example"),
    "/v1/operators/{id}/remove": operator("isha@shop.example"),
    "/v1/invitations/{id}": invited["id"],
    "/v1/keys/{id}": spare["id"],
    "/v1/keys/{id}/rotate": rotated["id"],
    "/v1/jobs/{id}": dead,
    "/v1/jobs/{id}/retry": retried,
    "/v1/keeper-keys/{id}": "spare",
    "/v1/outbox/{id}": left,
    "/v1/outbox/{id}/cancel": waiting,
    "/v1/outbox/{id}/retry": failed,
}
names = {
    "/v1/tenants/{name}": "awake",
    "/v1/tenants/{name}/resume": "asleep",
    "/v1/tenants/{name}/archive": "over",
    "/v1/secrets/{name}": "spare",
    "/v1/secrets/{name}/remove": "gone",
    "/v1/connectors/{name}": "odd",
    "/v1/connectors/{name}/remove": "gone",
    "/v1/model-targets/{name}": "offline",
    "/v1/channels/{name}/remove": "unwanted",
    "/v1/channels/{name}/test": "shown",
}
bodies = {
    "send_chat": {**chat, "person": first["person"], "stream": False},
    "create_completion": {"model": binding, "messages": [{"role": "user", "content": "namaste"}]},
    "create_embedding": {"model": binding, "input": ["namaste"]},
    "run_test": {"binding": binding, "text": "namaste"},
    "make_handoff": {"to": "front", "reason": "It is mended."},
    "grant_proposal": {"digest": wanted["digest"]},
    "add_person": {"name": "Meera", "handle": "meera"},
    "change_person": {"language": "hi"},
    "link_person": {"session": first["session"], "phone": "+919812345679", "deliver": "you"},
    "confirm_person": {"session": second["session"], "code": code},
    "grant_approval": {"digest": digest},
    "refuse_approval": {"digest": digest},
    "invite_operator": {"email": "ravi@shop.example", "role": "viewer"},
    "invite_keeper": {"email": "farid@house.example"},
    "change_operator": {"role": "viewer"},
    "withdraw_invitations": {"email": "lata@shop.example"},
    "add_key": {"name": "till", "role": "staff"},
    "add_tenant": {"name": "made"},
    "set_secret": {"value": "s3cret"},
    "add_connector": {"name": "far", "url": "https://far.example/mcp", "replace": True},
    "add_channel": {"name": "mail", "kind": "log", "replace": True},
    "retry_outgoing_message": {"may_arrive_twice": False},
    "add_host_key": {"kid": "back", "host": "back", "jwks": "https://shop.example/keys", "algorithm": "RS256"},
    "set_limit": {"limit": "tenant.day.tokens", "amount": "1000000000"},
    "set_plan": {"plan": "business"},
    "set_model_capability": {"models": ["offline"]},
    "apply_folder": {"folders": [{"tenant": tenant, "files": [human]}]},
    "diff_folder": {"folders": [{"tenant": tenant, "files": [human]}]},
    "rollback_tier": {"to": 1},
    "test_policy": {"tool": "today", "as": "anonymous", "door": "public"},
    "send_visit_message": {"text": "namaste", "message_id": uuid.uuid4().hex},
}
document = call("GET", "/openapi.json")
# It would archive what the other operations are about.
del document["components"]["schemas"]["FolderApplication"]["properties"]["prune"]
for path, item in document["paths"].items():
    for operation in item.values():
        known, called = (
            [of[prefix] for prefix in sorted(of, key=len, reverse=True) if path.startswith(prefix)] for of in (ids, names)
        )
        examples = {"id": known[0] if known else None, "name": called[0] if called else binding, "kid": "front", "capability": "cheap",
                    "model": binding, "kind": "binding", "place": place}
        if operation["operationId"] == "read_asset":
            examples["name"] = asset()
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "path" and examples.get(parameter["name"]):
                parameter["example"] = examples[parameter["name"]]
        if operation["operationId"] in bodies:
            operation["requestBody"]["content"]["application/json"]["example"] = bodies[operation["operationId"]]
json.dump(document, sys.stdout)
