// The desk: one conversation as it goes on, or the list of all. Without this script the pages are whole, and are loaded anew.
import { dots, el, newId, pause } from "./dom.js";
import { events, inTime } from "./events.js";

// A sign that one types is good for six seconds, and given half as often.
const SIGN = 3000;
// A list is read again no more often than this, since whoever reads it is noted.
const AGAIN = 5000;
const LONGEST_REST = 10000;
// Addresses of files end a quarter of an hour after they were read, or later.
const FRESH = 10 * 60 * 1000;
// What was being written as the page was loaded anew.
const WRITTEN = "munshi:desk:written:";

// A page that nobody looks at holds no stream: a browser has few connections to a server, and people have many tabs.
async function looked() {
  while (document.hidden) await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
}

// Reads a stream, from behind an event that the page has, until `heard` says that it is over, or the server that it may not be read any more.
async function follow(path, workspace, after, heard) {
  let last = after;
  for (let tries = 0; ; tries += 1) {
    await looked();
    const turn = new AbortController();
    const hide = () => document.hidden && turn.abort();
    document.addEventListener("visibilitychange", hide);
    try {
      const headers = { accept: "text/event-stream", "x-munshi-tenant": workspace, "last-event-id": last };
      const asked = fetch(path, { headers, cache: "no-store", signal: turn.signal });
      const response = await inTime(asked, () => turn.abort());
      if (response.status >= 400 && response.status < 500 && response.status !== 429) return;
      if (!response.ok) throw new TypeError(`The server answered ${response.status}.`);
      for await (const { name, data, id } of events(response)) {
        tries = 0;
        if (id) last = id;
        if (name === "error" && !data.retryable) return;
        if (name !== "error" && heard(name, data)) return;
      }
    } catch {
      // Whoever has no connection just now, or does not look, goes on behind the last event.
    } finally {
      document.removeEventListener("visibilitychange", hide);
    }
    await pause(Math.min(500 * 2 ** Math.min(tries, 6), LONGEST_REST));
  }
}

// The page as the server shows it by now.
async function loadAgain(path) {
  const answer = await fetch(path, { cache: "no-store" });
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

class DeskSession {
  constructor(root) {
    this.root = root;
    this.data = root.dataset;
    // `2.17` is the seventeenth of the second numbering: messages get other numbers when two threads become one.
    this.number = Number(this.data.after.split(".").pop());
    this.people = JSON.parse(this.data.people);
    this.deliveries = JSON.parse(this.data.deliveries);
    this.thread = document.getElementById("thread");
    this.typing = document.getElementById("typing");
    this.lost = document.getElementById("lost");
    // What the server put there; a browser may have brought back somebody's own words.
    this.proposed = document.getElementById("write")?.defaultValue || "";
    this.unsure = new Map();
    document.addEventListener("input", (event) => event.target.id === "write" && this.sign());
    document.addEventListener("submit", (event) => this.submit(event));
    this.restore();
  }

  async start() {
    setInterval(() => !document.hidden && this.thread.querySelector(".things") && this.refresh(), FRESH);
    const path = `/v1/sessions/${this.data.session}/stream`;
    await follow(path, this.data.workspace, this.data.after, (name, data) => this.hear(name, data));
    this.lost.hidden = false;
  }

  hear(name, data) {
    if (name === "message") this.add(data);
    else if (name === "state") this.show(data);
    else if (name === "moved") this.move(data.session);
    return name === "moved";
  }

  // The page is loaded anew, and what somebody has begun to write goes along.
  move(session) {
    const isOwn = ({ id, value }) => value && (id !== "write" || value !== this.proposed);
    const written = [...document.querySelectorAll("#joining textarea")].filter(isOwn).map(({ id, value }) => [id, value]);
    try {
      sessionStorage.setItem(WRITTEN + session, JSON.stringify(written));
    } catch {
      // A browser that keeps nothing.
    }
    location.assign(`/account/desk/${session}`);
  }

  restore() {
    try {
      const name = WRITTEN + this.data.session;
      const written = JSON.parse(sessionStorage.getItem(name) || "[]");
      sessionStorage.removeItem(name);
      for (const [id, value] of written) {
        const box = document.getElementById(id);
        // They come before what the agent proposes, which stands above.
        if (box && (!box.value || box.value === this.proposed)) box.value = value;
      }
    } catch {
      // The same.
    }
  }

  name(id) {
    return this.people[id] || this.data.colleague;
  }

  add(message) {
    if (message.number <= this.number) return;
    this.number = message.number;
    const ours = message.colleague ? this.name(message.colleague) : this.data.persona;
    const who = message.speaker === "person" ? this.data.visitor : ours;
    const time = new Date(message.said_at).toLocaleTimeString(document.documentElement.lang, { hour: "numeric", minute: "2-digit" });
    const head = el("p", { class: "quiet small" }, el("strong", {}, who), ` · ${time}`);
    const item = el("li", { class: "card stack", id: `said-${message.id}`, "data-number": message.number }, head);
    for (const line of message.text.split("\n")) item.append(el("p", {}, line));
    // Whoever reads its end goes on reading its end.
    const isAtEnd = this.thread.getBoundingClientRect().bottom < innerHeight + 200;
    const before = this.thread.offsetHeight;
    this.thread.append(item);
    if (isAtEnd) scrollBy(0, this.thread.offsetHeight - before);
    if (who === this.data.persona) this.fold(item, message.run);
    // The page has the addresses of its files.
    if (message.attachments.length) this.refresh();
    if (message.speaker === "person") this.see(message.id);
  }

  // What stands on a page that somebody looks at is read.
  async see(message) {
    await looked();
    const headers = { "x-munshi-tenant": this.data.workspace, "x-munshi-form": this.data.form, "content-type": "application/json" };
    const body = JSON.stringify({ message });
    fetch(`/v1/sessions/${this.data.session}/seen`, { method: "POST", headers, body }).catch(() => {});
  }

  // What tools did for an answer.
  async fold(item, run) {
    const answer = await fetch(`/v1/runs/${run}`, { headers: { "x-munshi-tenant": this.data.workspace }, cache: "no-store" });
    if (!answer.ok) return;
    const { steps } = await answer.json();
    for (const { body } of steps.filter((step) => step.body?.tool)) {
      const mark = body.ok ? "✓" : "✗";
      const inside = [body.arguments, body.result].map((part) => el("pre", {}, JSON.stringify(part, null, 2)));
      item.append(el("details", {}, el("summary", { class: "small" }, `${this.data.acted}: ${body.tool} ${mark}`), ...inside));
    }
  }

  show({ approvals, held_by: held, draft, typing, whispers, unsent }) {
    this.mark(unsent);
    const names = typing.filter((id) => id !== this.data.own).map((id) => this.name(id));
    this.typing.hidden = !names.length;
    this.typing.replaceChildren(dots(), el("span", {}, this.data.types.replace("{name}", names.join(", "))));
    const proposed = String(draft ?? "");
    if (proposed !== this.data.draft && held === this.data.own) this.propose(proposed);
    this.data.draft = proposed;
    const asked = [...approvals].sort().join(" ");
    const isSame = asked === this.data.approvals && (held || "") === this.data.held;
    if (isSame && String(whispers) === this.data.whispers) return;
    this.data.approvals = asked;
    this.data.held = held || "";
    this.data.whispers = String(whispers);
    this.refresh();
  }

  // What has not left yet, or was refused, says so.
  mark(unsent) {
    const found = new Map(unsent.map((one) => [`said-${one.message}`, this.describe(one)]));
    for (const item of this.thread.querySelectorAll("li:not(.whisper)")) {
      const text = found.get(item.id);
      const line = item.querySelector(".delivery");
      if (!text) line?.remove();
      else if (line) line.textContent = text;
      else item.append(el("p", { class: "quiet small delivery" }, text));
    }
  }

  describe({ state, not_before: time, detail }) {
    const isTimed = state === "waiting" && time;
    const words = this.deliveries[isTimed ? "leaves" : state] || "";
    const shape = { day: "numeric", month: "short", hour: "numeric", minute: "2-digit" };
    const at = isTimed ? new Date(time).toLocaleString(document.documentElement.lang, shape) : "";
    return [words.replace("{time}", at), state === "failed" ? detail : ""].filter(Boolean).join(" ");
  }

  // What is asked and who has it changes seldom: the server says it anew. What somebody has begun to write stays.
  async refresh() {
    const turn = (this.turn || 0) + 1;
    this.turn = turn;
    const page = await loadAgain(`/account/desk/${this.data.session}`).catch(() => null);
    // What was asked for since is newer.
    if (turn !== this.turn || !page?.getElementById("desk")) return;
    const written = [...document.querySelectorAll("#joining textarea")].map((box) => [box.id, box.value, box === document.activeElement]);
    for (const part of ["stands", "questions", "joining"]) document.getElementById(part).replaceWith(page.getElementById(part));
    for (const [id, value, isFocused] of written) {
      const box = document.getElementById(id);
      if (box) box.value = value;
      if (isFocused) box?.focus();
    }
    // A box that is there only now has what the server put into it.
    if (!written.some(([id]) => id === "write")) this.proposed = document.getElementById("write")?.defaultValue || "";
    this.addWhispers(page);
    this.addFiles(page);
  }

  // What the agent was told stands behind the message that it was told after.
  addWhispers(page) {
    for (const item of page.querySelectorAll("#thread .whisper")) {
      if (document.getElementById(item.id)) continue;
      const number = Number(item.dataset.number);
      const next = [...this.thread.children].find((one) => Number(one.dataset.number) > number);
      this.thread.insertBefore(item, next || null);
    }
  }

  // Files that came with a message, and newer addresses for those that are shown: an address ends. A picture that has come needs none.
  addFiles(page) {
    for (const things of page.querySelectorAll("#thread .things")) {
      const item = document.getElementById(things.parentElement.id);
      const shown = item?.querySelector(".things");
      if (item && !shown) item.append(things);
      if (shown) for (const file of things.children) this.renew(shown, file);
    }
  }

  renew(shown, file) {
    const old = shown.querySelector(`[data-file="${file.dataset.file}"]`);
    if (!old) return;
    old.querySelector("a").href = file.querySelector("a").href;
    const image = old.querySelector("img");
    if (image && !image.naturalWidth) image.src = file.querySelector("img").src;
  }

  // What the agent proposes to whoever has the conversation takes the place of what it proposed before, and of nobody's own words.
  async propose(proposed) {
    if (!proposed) return this.suggest("", false);
    const headers = { "x-munshi-tenant": this.data.workspace };
    const answer = await fetch(`/v1/sessions/${this.data.session}/draft`, { headers, cache: "no-store" }).catch(() => null);
    const { text } = answer?.ok ? await answer.json() : {};
    if (text && this.data.draft === proposed) this.suggest(text, false);
  }

  sign() {
    const now = Date.now();
    if (now - (this.signedAt || 0) < SIGN) return;
    this.signedAt = now;
    const headers = { "x-munshi-tenant": this.data.workspace, "x-munshi-form": this.data.form };
    fetch(`/v1/sessions/${this.data.session}/typing`, { method: "POST", headers }).catch(() => {});
  }

  // Words are sent, and drafts asked for, without loading the page anew.
  async submit(event) {
    const form = event.target;
    if (!form.matches("[data-quick]")) return;
    event.preventDefault();
    const button = form.querySelector("[type=submit]");
    if (button.disabled) return;
    button.disabled = true;
    const failed = document.getElementById("failed");
    failed.hidden = true;
    try {
      const body = new URLSearchParams(new FormData(form));
      const box = form.querySelector("textarea");
      if (box) body.set("key", this.keyOf(form.action, box.value));
      const asked = fetch(form.action, { method: "POST", headers: { accept: "application/json" }, body });
      // A draft takes as long as the agent thinks.
      const answer = await (box ? inTime(asked) : asked);
      if (answer.redirected || !answer.ok) throw new TypeError(`The server answered ${answer.status}.`);
      if (answer.status === 204) this.sent(form.action, box.id, body.get("text"));
      else this.suggest((await answer.json()).text, true);
    } catch (error) {
      console.warn(error);
      failed.hidden = false;
    }
    button.disabled = false;
  }

  // The same words are sent under the same key until it is known that they came: of an answer that was lost nobody knows.
  keyOf(action, text) {
    const last = this.unsure.get(action);
    if (last?.text === text) return last.key;
    const key = newId();
    this.unsure.set(action, { text, key });
    return key;
  }

  sent(action, id, text) {
    this.unsure.delete(action);
    // What is written since stays; the box may be another by now.
    const box = document.getElementById(id);
    if (box && box.value.replace(/\r?\n/g, "\n") === text.replace(/\r?\n/g, "\n")) box.value = "";
    // A message comes by the stream; what the agent was told is no message.
    if (action.endsWith("/whisper")) this.refresh();
  }

  suggest(text, isAsked) {
    const box = document.getElementById("write");
    const draft = document.getElementById("draft");
    const isFree = box && (!box.value.trim() || box.value === this.proposed);
    draft.hidden = !text || isFree;
    draft.querySelector("blockquote").textContent = text;
    if (!isFree) return;
    this.proposed = text;
    box.value = text;
    if (isAsked) box.focus();
  }
}

class DeskList {
  constructor(root) {
    this.data = root.dataset;
    this.readAt = 0;
  }

  async start() {
    await follow("/v1/stream", this.data.workspace, this.data.after, (name, data) => this.hear(data));
    document.getElementById("lost").hidden = false;
  }

  hear({ id, messages, held_by: held, line, waiting_since: waiting, unread }) {
    // The first: who stands in the line stands there before they stand among the latest.
    const shown = document.querySelector(`[data-session="${id}"]`)?.dataset;
    const isSame = shown && shown.held === (held || "") && shown.line === (line || "") && shown.waiting === (waiting || "");
    const isKnown = isSame && Number(shown.messages) === messages && Number(shown.unread) === (unread || 0);
    if (isKnown || this.isDue) return;
    this.isDue = true;
    this.refresh();
  }

  async refresh() {
    await pause(Math.max(200, this.readAt + AGAIN - Date.now()));
    await looked();
    this.isDue = false;
    this.readAt = Date.now();
    const page = await loadAgain("/account/desk").catch(() => null);
    const lists = page?.getElementById("lists");
    if (lists) document.getElementById("lists").replaceWith(lists);
  }
}

export function openDesk() {
  const session = document.getElementById("desk");
  const list = document.getElementById("desk-list");
  if (session) new DeskSession(session).start();
  // A further page stays as it is while it is read.
  if (list && !location.search) new DeskList(list).start();
}

openDesk();
