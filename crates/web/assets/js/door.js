// The way to the server: what a visitor may ask for, with what they are known by.
import { solve } from "./proof.js";

// An upload that goes no further for so long goes no further at all; the server has no more to do with a file.
const STALLED = 90000;

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

  ask(path, options = {}) {
    return this.proved((proof) => this.once(path, options, proof));
  }

  // Once more with another proof, where the first has gone stale.
  async proved(attempt) {
    const proof = await this.proof(false);
    try {
      return await attempt(proof);
    } catch (refused) {
      const other = refused.status === 401 && (await this.proof(true));
      if (!other || other === proof) throw refused;
      return attempt(other);
    }
  }

  async once(path, { method = "GET", body, headers = {}, accept = "application/json", signal }, proof) {
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
      signal,
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

  // Everything that happens in the thread, behind what is known of it.
  live(after, signal) {
    return this.ask(this.at("/stream"), { headers: { "last-event-id": after }, accept: "text/event-stream", signal });
  }

  seen(message) {
    return this.ask(this.at("/seen"), { method: "POST", body: { message } });
  }

  typing() {
    return this.ask(this.at("/typing"), { method: "POST", body: {} });
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

  upload(file, onprogress, signal) {
    return this.proved((proof) => this.uploadOnce(file, { onprogress, signal, proof }));
  }

  // With a request of the older kind: it alone tells how much has gone. Where nothing goes for a while, the line is taken for broken.
  uploadOnce(file, { onprogress, signal, proof }) {
    const token = proof || this.keep?.token;
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const request = new XMLHttpRequest();
      let timer;
      const waits = () => {
        clearTimeout(timer);
        timer = setTimeout(() => request.abort(), STALLED);
      };
      const stop = () => request.abort();
      signal.addEventListener("abort", stop);
      request.open("POST", this.base + this.at(`/uploads?name=${encodeURIComponent(file.name)}`));
      request.responseType = "json";
      request.setRequestHeader("accept", "application/json");
      request.setRequestHeader("content-type", "application/octet-stream");
      if (token) request.setRequestHeader("authorization", `Bearer ${token}`);
      request.upload.addEventListener("progress", (event) => {
        waits();
        if (event.lengthComputable) onprogress(event.loaded / event.total);
      });
      request.addEventListener("loadend", () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
      });
      request.addEventListener("load", () => {
        if (request.status < 300) return resolve(request.response);
        return reject(new Refused(request.status, request.response, { get: (name) => request.getResponseHeader(name) }));
      });
      request.addEventListener("error", () => reject(new TypeError("the line broke")));
      request.addEventListener("abort", () => reject(signal.aborted ? signal.reason : new TypeError("the upload stalled")));
      waits();
      request.send(file);
      return undefined;
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

  consents() {
    return this.read(this.at("/consents"));
  }

  withdraw(consent) {
    return this.ask(this.at(`/consents/${consent}/withdraw`), { method: "POST" });
  }

  // By a phone or an email.
  link(kind, address) {
    return this.ask(this.at("/link"), { method: "POST", body: { [kind]: address } });
  }

  confirm(code) {
    return this.ask(this.at("/confirm"), { method: "POST", body: { code } });
  }
}
