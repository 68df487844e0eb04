// A conversation under way: what is sent, what is heard, and what happens when the line breaks or the page is loaded
// again. The server has every message before it is answered, so all that is kept here is what it has not confirmed yet.
import { newId, pause } from "./dom.js";
import { events } from "./events.js";
import { Refused } from "./door.js";
import { offerConsents } from "./consents.js";
import { offerLink } from "./link.js";

const LONGEST = 15000;
// How often it is asked what was put into the thread by itself.
const NEWS = 5000;
// Of three that one person may, so that another tab has one.
const UPLOADS = 2;
// Addresses of files end a quarter of an hour after they were read, or later.
const FRESH = 10 * 60 * 1000;

export function store(kind, name) {
  try {
    return JSON.parse(kind.getItem(name));
  } catch {
    return null;
  }
}

export function keepIn(kind, name, value) {
  try {
    if (value === null) kind.removeItem(name);
    else kind.setItem(name, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing still talks.
  }
}

// The browser's stores, or one that forgets where they are forbidden.
export function stores() {
  const none = { getItem: () => null, setItem: () => {}, removeItem: () => {} };
  const open = (name) => {
    try {
      return window[name];
    } catch {
      return none;
    }
  };
  return { tab: open("sessionStorage") || none, browser: open("localStorage") || none };
}

export class Chat {
  constructor({ door, view, place, words, voice }) {
    this.door = door;
    this.view = view;
    view.on = this;
    this.stores = stores();
    this.names = { draft: `munshi:${place}:draft`, out: `munshi:${place}:out`, voice: "munshi:voice" };
    this.live = new Map();
    this.last = new Map();
    this.queue = Promise.resolve();
    this.uploads = { under: 0, waiting: [] };
    this.setWords(words, voice);
    this.tabs = "BroadcastChannel" in window ? new BroadcastChannel(`munshi:${place}`) : null;
    this.tabs?.addEventListener("message", () => this.refresh());
    addEventListener("online", () => this.wake());
    document.addEventListener("visibilitychange", () => document.hidden || this.refresh());
    setInterval(() => this.look(), NEWS);
  }

  get chosen() {
    return store(this.stores.browser, this.names.voice);
  }

  setWords(words, voice) {
    this.words = words;
    this.voice = voice;
    this.view.speak(words, voice);
  }

  // The language somebody picks holds; until then it is the one they write in.
  async speak(voice, isChosen) {
    if (isChosen) keepIn(this.stores.browser, this.names.voice, voice);
    if (voice === this.voice) return;
    try {
      this.setWords(await this.door.words(voice), voice);
      this.onvoice?.(voice);
    } catch {
      // The old words are good enough.
    }
  }

  async start() {
    const draft = store(this.stores.tab, this.names.draft);
    if (draft) this.view.draft(draft);
    if (this.chosen) this.speak(this.chosen, false);
    await this.refresh(true);
    for (const item of this.outgoing()) this.deliver(item);
  }

  // What is written answers what was there when it was begun, not what came meanwhile.
  draft(text) {
    this.begun = text ? this.begun || { seen: this.view.seen() } : null;
    keepIn(this.stores.tab, this.names.draft, text || null);
  }

  outgoing() {
    return store(this.stores.tab, this.names.out) || [];
  }

  setOutgoing(items) {
    keepIn(this.stores.tab, this.names.out, items.length ? items : null);
  }

  // The thread as the server has it. What is shown already is not shown twice.
  async refresh(isFirst = false) {
    if (this.refreshing) {
      this.stale = true;
      return;
    }
    this.refreshing = true;
    try {
      for (let tries = 0; ; tries += 1) {
        try {
          this.show(await this.door.thread(), isFirst);
          // The line is there again; what else was told stays.
          if (this.view.note.textContent === this.words.offline) this.view.notice("");
          return;
        } catch (error) {
          if (error.isFinal) return this.refused(error);
          if (!isFirst) return;
          this.view.notice(this.words.offline);
          await this.rest(tries);
        }
      }
    } finally {
      this.refreshing = false;
      if (this.stale) {
        this.stale = false;
        this.refresh();
      }
    }
  }

  // Others' questions and late results come by themselves. Where nothing did, the server is asked for nothing else.
  async look() {
    const newest = this.view.newestId();
    if (!newest || this.looking || this.refreshing || this.live.size || !this.view.isShown()) return;
    if (Date.now() - this.shownAt > FRESH && this.view.hasFiles()) return this.refresh();
    this.looking = true;
    const news = await this.door.newer(newest).catch(() => null);
    this.looking = false;
    if (news?.messages.length) await this.refresh();
    return undefined;
  }

  // What the server says is for whoever built the page; people hear it in their own words.
  refused(error) {
    console.warn(error);
    this.view.notice(this.words.error);
  }

  show(thread, isFirst) {
    this.thread = thread;
    this.shownAt = Date.now();
    thread.messages.forEach((message) => this.view.message(message));
    const taken = new Set(thread.messages.map((message) => message.message_id));
    this.setOutgoing(this.outgoing().filter((item) => !taken.has(item.id)));
    if (isFirst || this.before === undefined) this.setBefore(thread.before);
    const open = new Set(thread.approvals.map((approval) => approval.id));
    this.view.asking().filter((id) => !open.has(id)).forEach((id) => this.view.asked(id));
    thread.approvals.forEach((approval) => this.view.ask(approval));
    const newest = thread.messages[thread.messages.length - 1];
    if (newest && !thread.running.length && !this.live.size && !this.outgoing().length) this.view.suggest(newest.suggestions || []);
    if (!thread.messages.length && isFirst && !this.outgoing().length) this.view.suggest([this.words["suggest-help"]]);
    thread.running.forEach((run) => this.follow(run));
    if (isFirst && thread.messages.length && !this.chosen) this.speak(thread.voice, false);
    this.largest = thread.largest_file;
    // A file belongs to somebody: who is new says something first.
    this.view.tray.button.hidden = !thread.open || !thread.messages.length;
    if (!thread.open) this.onclosed?.();
    if (thread.link) offerLink(this, this.view.composer);
    offerConsents(this, thread.consents, this.view.composer);
    if (isFirst) this.view.ready(!thread.messages.length && !this.outgoing().length);
  }

  setBefore(before) {
    this.before = before || null;
    this.view.earlier.hidden = !this.before;
  }

  async earlier() {
    const thread = await this.door.thread(this.before).catch(() => null);
    if (!thread) return;
    const height = this.view.log.scrollHeight;
    thread.messages.forEach((message) => this.view.message(message));
    this.setBefore(thread.before);
    this.view.log.scrollTop += this.view.log.scrollHeight - height;
  }

  // A file goes at once; the message that carries it waits for it.
  async attach(file) {
    const tray = this.view.tray;
    const chip = tray.add(file.name);
    if (this.largest && file.size > this.largest) return tray.refuse(chip, this.words["attach-large"]);
    const { signal } = chip.stop;
    await this.takeTurn();
    try {
      tray.keep(chip, await this.upload(file, (share) => tray.progress(chip, share), signal));
    } catch (error) {
      // What was taken off the tray is not spoken of.
      if (signal.aborted) return undefined;
      console.warn(error);
      tray.refuse(chip, this.words[{ 413: "attach-large", 415: "attach-kind", 422: "attach-kind" }[error.status] || "attach-failed"]);
    } finally {
      this.giveTurn();
    }
    return undefined;
  }

  // Where files of this person, or too many of others, are still being taken, that is over in a moment.
  async upload(file, onprogress, signal) {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.door.upload(file, onprogress, signal);
      } catch (error) {
        if (error.status !== 429 || error.retryAfter || tries > 3) throw error;
        await this.rest(tries);
      }
    }
  }

  // The server takes few files of one person at a time: those beyond wait here.
  takeTurn() {
    if (this.uploads.under < UPLOADS) {
      this.uploads.under += 1;
      return undefined;
    }
    return new Promise((resolve) => this.uploads.waiting.push(resolve));
  }

  giveTurn() {
    const next = this.uploads.waiting.shift();
    if (next) next();
    else this.uploads.under -= 1;
  }

  say(text, files = []) {
    // Who is new gets a token for both: the secret is sent again with the message, and kept no longer than that.
    const { seen } = this.begun || { seen: this.view.seen() };
    const item = { id: newId(), secret: newId(), text, seen, files };
    this.setOutgoing([...this.outgoing(), item]);
    this.draft("");
    return this.deliver(item);
  }

  again(id) {
    this.outgoing().filter((one) => one.id === id).forEach((item) => this.deliver(item));
  }

  // One after another, as they were written: what waited for the line is not overtaken by what was written later.
  deliver(item) {
    this.view.say(item.id, item.text, item.files);
    this.queue = this.queue.then(() => this.send(item));
    return this.queue;
  }

  // Sends until it is taken. The same id is taken once, however often it has to be sent.
  async send(item) {
    this.view.doing(this.words.thinking);
    for (let tries = 0; ; tries += 1) {
      try {
        const locale = this.chosen || undefined;
        const { id: message_id, secret, seen } = item;
        const response = await this.door.send({
          text: item.text,
          message_id,
          secret,
          locale,
          seen,
          attachments: (item.files || []).map((file) => file.id),
        });
        this.setOutgoing(this.outgoing().filter((one) => one.id !== item.id));
        this.view.sent(item.id);
        this.view.notice("");
        this.tabs?.postMessage("sent");
        this.follow(response.headers.get("x-run-id"), response);
        return;
      } catch (error) {
        const isOurs = error instanceof Refused && error.status < 500;
        if (isOurs || (error instanceof Refused && tries > 3)) return this.undelivered(item, error);
        this.view.notice(this.words.offline);
        this.view.doing(null);
        await this.rest(tries);
      }
    }
  }

  undelivered(item, error) {
    this.view.doing(null);
    console.warn(error);
    this.view.failed(item.id, this.words[{ 403: "members", 429: "too-many" }[error.status] || "failed"]);
  }

  // Waits longer each time, and no longer than until the network is back.
  async rest(tries) {
    const wait = Math.min(LONGEST, 500 * 2 ** Math.min(tries, 5));
    let woken;
    const early = new Promise((resolve) => (woken = resolve));
    this.wakes = [...(this.wakes || []), woken];
    await Promise.race([pause(wait), early]);
    this.wakes = this.wakes.filter((one) => one !== woken);
  }

  wake() {
    (this.wakes || []).forEach((wake) => wake());
  }

  async follow(run, response = null) {
    if (!run || this.live.has(run)) return response?.body?.cancel();
    const live = { run, text: "", silent: 0 };
    this.live.set(run, live);
    this.doing(run, this.words.thinking);
    for (let tries = 0; ; tries += 1) {
      try {
        const answer = response || (await this.door.follow(run, this.last.get(run)));
        response = null;
        this.view.notice("");
        live.silent += 1;
        for await (const event of events(answer)) {
          live.silent = 0;
          tries = 0;
          if (event.id) this.last.set(run, event.id);
          if (this.heard(live, event)) return this.ended(live);
        }
        if (live.silent > 1) break;
      } catch (error) {
        response = null;
        if (error.isFinal) break;
        this.view.notice(this.words.offline);
      }
      await this.rest(tries);
    }
    this.ended(live);
    return this.refresh();
  }

  // Whether it was the last.
  heard(live, { name, data }) {
    const { run } = live;
    if (name === "token") {
      live.text += data.text;
      this.paint(live);
      this.doing(run, "");
    } else if (name === "reset") {
      live.text = "";
      this.paint(live);
    } else if (name === "thinking") {
      if (!live.text) this.doing(run, data.what === "waiting" ? this.words.waiting : this.words.thinking);
    } else if (name === "doing") this.doing(run, data.words);
    else if (name === "attached") this.view.attach(run, data.attachments);
    else if (name === "approval") live.asks = true;
    else if (name === "suggestions") live.suggestions = data.suggestions;
    else if (name === "done") {
      this.paint(live, true);
      this.view.finish(run, data.message);
      if (data.voice && !this.chosen) this.speak(data.voice, false);
      return true;
    } else if (name === "error") {
      if (data.retryable) throw new TypeError(data.message);
      this.view.finish(run, null);
      this.view.notice(this.words.error);
      return true;
    }
    return false;
  }

  doing(run, words) {
    this.view.doing(words, () => this.stop(run));
  }

  // At most once a frame: words come faster than anybody reads.
  paint(live, isNow = false) {
    const draw = () => {
      live.drawing = false;
      if (this.live.get(live.run) === live) this.view.reply(live.run, live.text);
    };
    if (isNow) return draw();
    if (!live.drawing) {
      live.drawing = true;
      requestAnimationFrame(draw);
    }
    return undefined;
  }

  ended(live) {
    this.live.delete(live.run);
    if (!this.live.size) this.view.doing(null);
    this.view.suggest(live.suggestions || []);
    this.tabs?.postMessage("ended");
    // Whoever has spoken for the first time is somebody now, words may have asked a question or answered one, and others may
    // have put something in before the answer: the server knows, and tells it in the language that they have brought.
    if (!this.live.size) this.refresh();
  }

  async answer(approval, yes) {
    try {
      const answered = await this.door.answer(approval, yes);
      this.view.asked(approval.id);
      this.view.aloud.textContent = yes ? this.words.granted : this.words.refused;
      if (answered.run) this.follow(answered.run);
      this.tabs?.postMessage("answered");
      return true;
    } catch (error) {
      if (error instanceof Refused) this.refused(error);
      else this.view.notice(this.words.offline);
      if (error.status === 409 || error.status === 404) this.refresh();
      return false;
    }
  }

  async stop(run) {
    await this.door.cancel(run).catch(() => this.view.notice(this.words.offline));
  }
}
