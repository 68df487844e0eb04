// The way to the server: what a visitor may ask for, with what they are known by.
import { solve } from "./proof.js";

export class Refused extends Error {
  constructor(status, body, headers) {
    super(body?.error?.message || `The server answered ${status}.`);
    this.status = status;
    // Asked again, the server would say the same.
    this.isFinal = status < 500 && status !== 429;
    this.code = body?.error?.code || "";
    this.retryAfter = Number(headers.get("retry-after")) || 0;
    this.challenge = headers.get("x-challenge");
  }
}

// On our own pages a cookie says who it is, and no script can read that. Elsewhere `keep` holds a token, and `proof`
// gives the one that the host has signed: another, where the one before has gone stale.
export class Door {
  constructor({ base = "", place, keep = null, proof = () => null }) {
    this.base = base;
    this.place = place;
    this.keep = keep;
    this.proof = proof;
  }

  async ask(path, options = {}) {
    const proof = await this.proof(false);
    try {
      return await this.once(path, options, proof);
    } catch (refused) {
      const other = refused.status === 401 && (await this.proof(true));
      if (!other || other === proof) throw refused;
      return this.once(path, options, other);
    }
  }

  async once(path, { method = "GET", body, headers = {}, accept = "application/json" }, proof) {
    const sent = { accept, ...headers };
    const token = proof || this.keep?.token;
    if (token) sent.authorization = `Bearer ${token}`;
    if (body !== undefined) sent["content-type"] = "application/json";
    const response = await fetch(this.base + path, {
      method,
      headers: sent,
      body: body === undefined ? undefined : JSON.stringify(body),
      credentials: this.keep ? "omit" : "same-origin",
      cache: "no-store",
    });
    const given = response.headers.get("x-visitor");
    if (given && this.keep) this.keep.token = given;
    if (!response.ok) throw new Refused(response.status, await response.json().catch(() => null), response.headers);
    return response;
  }

  at(rest) {
    return `/visit/${encodeURIComponent(this.place)}${rest}`;
  }

  async read(path) {
    return (await this.ask(path)).json();
  }

  thread(before) {
    return this.read(this.at(before ? `?before=${encodeURIComponent(before)}` : ""));
  }

  newer(after) {
    return this.read(this.at(`/messages?after=${encodeURIComponent(after)}`));
  }

  words(voice) {
    return this.read(`/words/${encodeURIComponent(voice)}`);
  }

  async send(message) {
    const say = (body) => this.ask(this.at("/messages"), { method: "POST", body, accept: "text/event-stream" });
    try {
      return await say(message);
    } catch (refused) {
      if (refused.status !== 428 || !refused.challenge) throw refused;
      const answer = await solve(refused.challenge);
      return say({ ...message, proof: { challenge: refused.challenge, answer } });
    }
  }

  // With a request of the older kind: it alone tells how much has gone.
  async upload(file, onprogress) {
    const token = (await this.proof(false)) || this.keep?.token;
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("POST", this.base + this.at(`/uploads?name=${encodeURIComponent(file.name)}`));
      request.responseType = "json";
      request.setRequestHeader("accept", "application/json");
      request.setRequestHeader("content-type", "application/octet-stream");
      if (token) request.setRequestHeader("authorization", `Bearer ${token}`);
      request.upload.addEventListener("progress", (event) => event.lengthComputable && onprogress(event.loaded / event.total));
      request.addEventListener("load", () => {
        if (request.status < 300) return resolve(request.response);
        return reject(new Refused(request.status, request.response, { get: (name) => request.getResponseHeader(name) }));
      });
      request.addEventListener("error", () => reject(new TypeError("the line broke")));
      request.send(file);
    });
  }

  follow(run, after) {
    const headers = after ? { "last-event-id": after } : {};
    return this.ask(this.at(`/runs/${run}/stream`), { headers, accept: "text/event-stream" });
  }

  cancel(run) {
    return this.ask(this.at(`/runs/${run}/cancel`), { method: "POST" });
  }

  async answer(approval, yes) {
    const path = this.at(`/approvals/${approval.id}/${yes ? "grant" : "refuse"}`);
    return (await this.ask(path, { method: "POST", body: { digest: approval.digest } })).json();
  }

  link(phone) {
    return this.ask(this.at("/link"), { method: "POST", body: { phone } });
  }

  confirm(code) {
    return this.ask(this.at("/confirm"), { method: "POST", body: { code } });
  }
}
