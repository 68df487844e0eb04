// What a conversation looks like. It knows nodes and words, and nothing of servers; `on`, which a chat sets, hears what people do.
import { dots, el, icon, picture, ICONS } from "./dom.js";
import { Presence } from "./presence.js";
import { Tray, fileThing, renewFile } from "./tray.js";
import { link, markdown, safeLink, TOOL_LINKS } from "./markdown.js";

const NEAR = 120;
// A message may end this far below the edge and is still read.
const FOLD = 16;
const TONES = 6;

export function tone(name) {
  let sum = 0;
  for (const letter of name) sum = (sum * 31 + letter.codePointAt(0)) % 9973;
  return sum % TONES;
}

export function initial(name) {
  return [...name.trim()][0]?.toUpperCase() || "·";
}

function tag(voice) {
  return voice ? voice.replace("-latn", "-Latn") : null;
}

export class View {
  constructor(root, { name, base }) {
    this.root = root;
    this.name = name;
    this.base = base;
    this.words = {};
    this.offered = [];
    this.voice = "en";
    this.byId = new Map();
    this.byOwn = new Map();
    this.byRun = new Map();
    this.build();
  }

  build() {
    this.earlier = el("button", { type: "button", class: "earlier", "data-word": "earlier", hidden: true, onclick: () => this.on.earlier() });
    this.opening = el("div", { class: "opening", hidden: true });
    this.thread = el("ol", { class: "thread" });
    this.doings = el("p", { class: "doing", hidden: true });
    this.asks = el("div", { class: "asks" });
    this.suggestions = el("div", { class: "suggestions", "data-label": "suggestions", role: "group", hidden: true });
    this.log = el("div", { class: "log", "data-label": "conversation", role: "log", "aria-live": "off", tabindex: "0" });
    this.presence = new Presence(this);
    this.log.append(this.earlier, this.opening, this.thread, this.doings, this.presence.typing, this.asks, this.suggestions);
    this.newest = el("button", { type: "button", class: "newest", "data-label": "new", hidden: true, onclick: () => this.toEnd(true) }, icon(...ICONS.down));
    this.note = el("p", { class: "notice", role: "status", hidden: true });
    this.aloud = el("div", { class: "unseen", role: "status", "aria-live": "polite" });
    this.text = el("textarea", { rows: "1", autocomplete: "off", enterkeyhint: "send", maxlength: "16000", dir: "auto", "data-label": "placeholder" });
    this.sender = el("button", { type: "submit", class: "send", "data-label": "send" }, icon(...ICONS.send));
    this.tray = new Tray(this);
    this.composer = el("form", { class: "composer", onsubmit: (event) => this.submit(event) }, this.tray.button, this.text, this.sender);
    this.root.append(this.presence.held, this.log, this.newest, this.note, this.tray.node, this.composer, this.aloud);
    this.text.addEventListener("input", () => this.typed());
    this.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.shiftKey && !event.isComposing) this.submit(event);
    });
    this.log.addEventListener("scroll", () => this.scrolled(), { passive: true });
    // Who is at the end stays there also when the box grows, the window shrinks or a picture comes.
    this.isAtEnd = true;
    const sizes = new ResizeObserver(() => {
      this.size = this.sizeNow();
      if (this.isAtEnd) this.toEnd(true);
    });
    [this.log, this.thread].forEach((node) => sizes.observe(node));
    this.typed(false);
  }

  speak(words, voice) {
    this.words = words;
    this.voice = voice;
    this.root.setAttribute("lang", tag(voice));
    this.label(this.root);
    // Questions that stand there already are asked in the words of now.
    [...this.asks.children].forEach((box) => this.ask(box.asked));
    this.presence.speak();
    this.opening.replaceChildren(
      el("span", { class: `face tone-${tone(this.name)}`, "aria-hidden": "true" }, initial(this.name)),
      el("p", { class: "hello" }, words.hello),
      el("p", { class: "quiet" }, words.about.replace("{name}", this.name)),
    );
  }

  // Gives a node, and those within, the words they name.
  label(node) {
    for (const one of [node, ...node.querySelectorAll("[data-word], [data-label]")]) {
      const { word, label } = one.dataset;
      if (word) one.textContent = this.words[word];
      if (label) one.setAttribute("aria-label", (one.placeholder = this.words[label]));
    }
  }

  // What stands in the box while somebody writes.
  typed(tell = true) {
    const lines = this.text.value.split("\n").reduce((sum, line) => sum + 1 + Math.floor(line.length / 44), 0);
    this.text.rows = Math.min(6, Math.max(1, lines));
    this.sender.disabled = this.tray.isBusy() || (!this.text.value.trim() && !this.tray.files().length);
    if (tell) this.on.draft(this.text.value);
  }

  submit(event) {
    event.preventDefault();
    if (this.sender.disabled) return;
    const files = this.tray.take();
    const text = this.text.value.trim() || files.map((file) => `📎 ${file.name || file.media_type}`).join("\n");
    // First, while it is known what stood there when it was begun.
    this.on.say(text, files);
    this.text.value = "";
    this.typed(false);
    this.text.focus();
  }

  draft(text) {
    this.text.value = text;
    this.typed(false);
  }

  isNear() {
    return this.log.scrollHeight - this.log.scrollTop - this.log.clientHeight < NEAR;
  }

  sizeNow() {
    return `${this.log.clientHeight} ${this.thread.offsetHeight}`;
  }

  // A late word of an earlier scroll may come after the sizes have changed: that is nobody who goes back to read.
  scrolled() {
    this.noteSeen();
    if (this.size !== this.sizeNow()) return;
    this.isAtEnd = this.isNear();
    if (this.isAtEnd) this.newest.hidden = true;
  }

  toEnd(always = false) {
    if (always || this.isNear() || this.pinned) this.log.scrollTop = this.log.scrollHeight;
    else this.newest.hidden = false;
  }

  // Whatever `change` adds, who was at the end stays there.
  keeping(change) {
    this.pinned = this.isNear();
    const made = change();
    this.toEnd();
    this.pinned = false;
    return made;
  }

  // A colleague is a person of the business: everybody sees that it is no machine who speaks.
  bubble(own, { text = "", language = null, said = null, colleague = null } = {}) {
    const who = el("span", { class: "unseen" }, `${own ? this.words.you : this.name}: `);
    const person = colleague && el("p", { class: "by" }, el("b", { dir: "auto" }, colleague), " · ", el("span", { "data-word": "person" }, this.words.person));
    const body = el("div", { class: "text", dir: "auto", lang: tag(language) });
    const kind = own ? "own" : colleague ? "theirs human" : "theirs";
    const item = el("li", { class: `said ${kind}` }, el("div", { class: "bubble" }, person || who, body));
    this.fill(item, text, own);
    if (said) this.date(item, said);
    return item;
  }

  fill(item, text, own) {
    const body = item.querySelector(".text");
    if (own) body.textContent = text;
    else body.replaceChildren(markdown(text));
  }

  date(item, said) {
    const time = new Date(said);
    const words = new Intl.DateTimeFormat(`${tag(this.voice)}-IN`, { hour: "numeric", minute: "2-digit" }).format(time);
    item.querySelector(".bubble").append(el("time", { datetime: time.toISOString() }, words));
  }

  put(item, number) {
    item.number = number;
    const after = [...this.thread.children].find((other) => (other.number ?? Infinity) > number);
    this.thread.insertBefore(item, after || null);
    this.opening.hidden = this.thread.childElementCount > 0;
  }

  // A message as the server keeps it: the same bubble where it is shown already. Whether the server's id of it is new here.
  message(stored) {
    const own = stored.speaker === "person";
    const colleague = stored.speaker === "colleague" ? stored.name || this.words.person : null;
    const isNew = !this.byId.has(stored.id);
    const begun = colleague ? null : this.byRun.get(stored.run);
    const known = this.byId.get(stored.id) || (own ? this.byOwn.get(stored.message_id) : begun);
    this.keeping(() => {
      const item = known || this.bubble(own, { language: stored.language, colleague });
      item.classList.remove("waiting", "failed", "live");
      if (own || item.raw !== stored.text) this.fill(item, stored.text, own);
      item.raw = stored.text;
      if (stored.language) item.querySelector(".text").setAttribute("lang", tag(stored.language));
      item.querySelector(".fault")?.remove();
      if (!item.querySelector("time")) this.date(item, stored.said_at);
      this.things(item, [...(stored.attachments || []), ...(stored.files || []).map((file) => ({ kind: "file", ...file }))]);
      this.byId.set(stored.id, item);
      item.stored = stored.id;
      if (begun === item) this.byRun.delete(stored.run);
      this.put(item, stored.number);
    });
    return isNew;
  }

  // What was said aloud to those who don't see it: news, and not what stood there when the page was opened.
  sayAloud(id) {
    const item = this.byId.get(id);
    this.aloud.textContent = `${item.querySelector(".by b")?.textContent || this.name}: ${item.querySelector(".text").textContent}`;
  }

  // What is kept elsewhere from now on stands here no more; what nobody has taken yet does.
  clear() {
    [...this.thread.children].filter((item) => item.stored || item === this.divider).forEach((item) => item.remove());
    this.byId.clear();
  }

  // A line above the first of theirs that has this number or a later one; none takes the line away.
  divide(number) {
    this.divider?.remove();
    const first = number && [...this.thread.children].find((item) => item.number >= number && item.matches(".theirs"));
    if (!first) return;
    this.divider = el("li", { class: "divider", "data-word": "new" }, this.words.new);
    this.keeping(() => this.put(this.divider, first.number - 0.5));
  }

  hasFiles() {
    return Boolean(this.thread.querySelector("a.file"));
  }

  // The number of the newest message that stands here as the server keeps it.
  newestNumber() {
    return [...this.thread.children].reverse().find((item) => item.stored && Number.isFinite(item.number))?.number || 0;
  }

  // The newest of theirs that somebody has read.
  lastRead() {
    this.noteSeen();
    const isRead = (item) => item.wasInSight && Number.isFinite(item.number) && item.matches(".theirs");
    return [...this.thread.children].reverse().find(isRead);
  }

  // The newest whose end was in sight: what came below the fold was not read by anybody.
  seen() {
    this.noteSeen();
    return [...this.thread.children].reverse().find((item) => item.stored && item.wasInSight)?.stored;
  }

  noteSeen() {
    if (!this.isShown()) return;
    const fold = this.log.getBoundingClientRect().bottom + FOLD;
    for (const item of [...this.thread.children].reverse()) {
      if (item.wasInSight) return;
      if (item.stored && item.getBoundingClientRect().bottom <= fold) item.wasInSight = true;
    }
  }

  isShown() {
    return !document.hidden && this.root.getClientRects().length > 0;
  }

  ready(isEmpty) {
    this.opening.hidden = !isEmpty;
    this.root.classList.add("ready");
    this.toEnd(true);
  }

  // One's own words before the server has them.
  say(id, text, files = []) {
    const item = this.byOwn.get(id) || this.bubble(true, { text });
    this.things(item, files.map((file) => ({ kind: "file", ...file })));
    item.classList.add("waiting");
    item.classList.remove("failed");
    item.querySelector(".fault")?.remove();
    this.byOwn.set(id, item);
    this.put(item, Infinity);
    this.suggest([]);
    this.toEnd(true);
  }

  sent(id) {
    const item = this.byOwn.get(id);
    if (!item) return;
    item.classList.remove("waiting");
    if (!item.querySelector("time")) this.date(item, Date.now());
  }

  failed(id, words) {
    const item = this.byOwn.get(id);
    if (!item) return;
    item.classList.remove("waiting");
    item.classList.add("failed");
    const again = el("button", { type: "button", onclick: () => this.on.again(id) }, this.words.again);
    this.keeping(() => item.querySelector(".bubble").append(el("p", { class: "fault" }, `${words} `, again)));
    this.aloud.textContent = words;
  }

  // The reply as far as it has come.
  reply(run, text) {
    this.keeping(() => {
      let item = this.byRun.get(run);
      if (!item) {
        if (!text) return;
        item = this.bubble(false);
        item.classList.add("live");
        this.byRun.set(run, item);
        this.put(item, Infinity);
      }
      item.raw = text;
      this.fill(item, text, false);
    });
  }

  finish(run, message) {
    const item = this.byRun.get(run);
    this.byRun.delete(run);
    if (!item) return;
    item.classList.remove("live");
    if (!item.raw && !item.querySelector(".things")) {
      item.remove();
      return;
    }
    if (message) this.byId.set(message, item);
    item.stored = message;
    if (!item.querySelector("time")) this.keeping(() => this.date(item, Date.now()));
    this.aloud.textContent = `${this.name}: ${item.querySelector(".text").textContent}`;
  }

  // What is being done at this moment, and the way to stop it; null hides the line.
  doing(words, stop) {
    const shown = this.doings.hidden ? null : this.doings.querySelector(".what").textContent;
    if (shown === words && !stop === !this.doings.querySelector("button")) return;
    this.keeping(() => {
      this.doings.hidden = words === null;
      const button = stop && el("button", { type: "button", onclick: stop }, this.words.stop);
      this.doings.replaceChildren(dots(), el("span", { class: "what" }, words || ""), button || "");
    });
  }

  // Pictures, QR codes and links that came with a reply: more may come with each tool, and the same again with the stored
  // message.
  things(item, attachments) {
    item.shown ||= new Map();
    const made = attachments.map((one) => {
      const isFile = one.kind === "file";
      const key = isFile ? one.id : JSON.stringify(one);
      const known = item.shown.get(key);
      if (known === undefined) item.shown.set(key, this.thing(one) || null);
      // The address of a file is another each time, and the old one ends.
      else if (known && isFile) renewFile(known, one, this.base);
      return known === undefined && item.shown.get(key);
    }).filter(Boolean);
    if (!made.length) return;
    if (!item.querySelector(".things")) item.querySelector(".text").after(el("div", { class: "things" }));
    item.querySelector(".things").append(...made);
  }

  attach(run, attachments) {
    this.keeping(() => {
      if (!this.byRun.has(run)) {
        const item = this.bubble(false);
        item.classList.add("live");
        this.byRun.set(run, item);
        this.put(item, Infinity);
      }
      const item = this.byRun.get(run);
      item.raw = item.raw || " ";
      this.things(item, attachments);
    });
  }

  thing(one) {
    const title = one.title || "";
    if (one.kind === "file") return fileThing(one, this.base);
    if (one.kind === "link") {
      // A page of our own server is elsewhere on others' pages.
      const url = new URL(one.url, this.base || location).href;
      return safeLink(url, TOOL_LINKS) && el("p", { class: "card" }, link(url, title || url, TOOL_LINKS));
    }
    if (one.kind === "qr") {
      const label = title || this.words.qr;
      const size = one.size + 8;
      const code = picture({ viewBox: `-4 -4 ${size} ${size}`, role: "img", "aria-hidden": "false", "aria-label": label, class: "qr", "shape-rendering": "crispEdges" }, one.path);
      const words = safeLink(one.text, TOOL_LINKS) ? link(one.text, label, TOOL_LINKS) : label;
      return el("figure", {}, code, el("figcaption", {}, words));
    }
    if (one.kind === "image") {
      const image = el("img", { src: `data:${one.media_type};base64,${one.data}`, alt: title });
      return el("figure", {}, image, title ? el("figcaption", {}, title) : null);
    }
  }

  // Where a question waits for this person it has its own two buttons, and nothing else is offered beside them.
  suggest(texts) {
    this.offered = texts;
    if (this.asks.querySelector(".answers")) texts = [];
    this.keeping(() => {
      const button = (text) => el("button", { type: "button", dir: "auto", onclick: () => this.pick(text) }, text);
      this.suggestions.replaceChildren(...texts.map(button));
      this.suggestions.hidden = !texts.length;
    });
  }

  pick(text) {
    this.suggest([]);
    this.on.say(text);
    this.text.focus();
  }

  // A question before an act, with its two answers where they are this person's to give.
  ask(approval) {
    const answer = (yes) => async (event) => {
      const buttons = event.currentTarget.parentElement.querySelectorAll("button");
      buttons.forEach((button) => (button.disabled = true));
      const done = await this.on.answer(approval, yes);
      buttons.forEach((button) => (button.disabled = false));
      if (done) this.text.focus();
    };
    const lines = [el("p", { dir: "auto" }, approval.words)];
    const label = this.words[approval.yours ? "ask-go-ahead" : "waiting-approval"];
    if (approval.yours) {
      const yes = el("button", { type: "button", class: "yes", onclick: answer(true) }, this.words["say-yes"]);
      const no = el("button", { type: "button", onclick: answer(false) }, this.words["say-no"]);
      lines.push(el("div", { class: "answers" }, yes, no));
    } else lines.push(el("p", { class: "quiet" }, label));
    const box = el("section", { class: "ask", "aria-label": label }, ...lines);
    box.asked = approval;
    const shown = this.card(approval.id);
    // Asked once is asked: whoever is at its buttons stays there.
    if (shown?.textContent === box.textContent) return;
    this.keeping(() => (shown ? shown.replaceWith(box) : this.asks.append(box)));
    this.suggest(this.offered);
    this.aloud.textContent = `${approval.words} ${label}`;
  }

  card(id) {
    return [...this.asks.children].find((box) => box.asked.id === id);
  }

  asked(id) {
    this.card(id)?.remove();
    this.suggest(this.offered);
  }

  asking() {
    return [...this.asks.children].map((box) => box.asked.id);
  }

  notice(words) {
    if (!words && !this.note.hidden) this.aloud.textContent = this.words.back;
    this.note.hidden = !words;
    this.note.textContent = words || "";
  }

  closed(words, action) {
    this.composer.replaceChildren(el("p", { class: "shut" }, `${words} `, action || ""));
  }
}
