// A conversation under way: what is sent, what is heard, and what happens when the line breaks or the page is loaded
// again. The server has every message before it is answered, so all that is kept here is what it has not confirmed yet.
import { newId, pause } from "./dom.js";
import { Refused } from "./door.js";
import { offerConsents } from "./consents.js";
import { offerLink } from "./link.js";
import { isLast, LiveStream } from "./live.js";
import { keepIn, store, stores } from "./stores.js";
import { Turns } from "./turns.js";
import { Unread } from "./unread.js";
import { Uploads } from "./uploads.js";

const LONGEST = 15000;
// Addresses of files end a quarter of an hour after they were read, or later.
const FRESH = 10 * 60 * 1000;
const AWAY = 60 * 1000;

// Of which numbering a cursor is: `2.17` is of the second, a number alone of the first.
const numbering = (cursor) => (cursor?.includes(".") ? cursor.split(".")[0] : "0");

export class Chat {
  constructor({ door, view, place, words, voice }) {
    this.door = door;
    this.view = view;
    view.on = this;
    this.stores = stores();
    this.names = { draft: `munshi:${place}:draft`, out: `munshi:${place}:out`, voice: "munshi:voice" };
    this.queue = Promise.resolve();
    this.turns = new Turns(this);
    this.uploads = new Uploads(this);
    this.unread = new Unread({ view, door, on: this });
    this.line = new LiveStream({ door, name: `munshi:${door.base}${place}`, on: this });
    this.setWords(words, voice);
    this.tabs = "BroadcastChannel" in window ? new BroadcastChannel(`munshi:${place}`) : null;
    // Who was nobody yet when a page was opened may have spoken in another tab since.
    this.tabs?.addEventListener("message", () => this.line.isUp || this.refresh());
    addEventListener("online", () => {
      this.line.reopen();
      this.wake();
    });
    document.addEventListener("visibilitychange", () => this.look());
    setInterval(() => this.renew(), FRESH / 10);
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
    if (text && this.thread?.shows_typing && this.view.presence.isDue()) this.door.typing().catch(() => {});
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
      this.isStale = true;
      return;
    }
    this.refreshing = true;
    try {
      for (let tries = 0; ; tries += 1) {
        try {
          this.readAt = Date.now();
          this.show(await this.whole(await this.door.thread()), { isFirst });
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
      if (this.isStale) {
        this.isStale = false;
        this.refresh();
      }
    }
  }

  // More may have come meanwhile than one answer holds.
  async whole(thread) {
    const newest = this.isOther(thread) ? 0 : this.view.newestNumber();
    let { before } = thread;
    while (newest && before && thread.messages[0]?.number > newest + 1) {
      const earlier = await this.door.thread(before);
      thread.messages.unshift(...earlier.messages);
      before = earlier.before;
    }
    return thread;
  }

  // Somebody looks at the page again. Where it was away for long, so may have been the whole device, and the line is dead and does not
  // know it yet.
  look() {
    if (document.hidden) {
      this.leftAt = Date.now();
      return;
    }
    this.wake();
    this.line.hail();
    if (!this.line.isUp || Date.now() - this.leftAt > AWAY) this.refresh();
    else this.renew();
  }

  renew() {
    if (Date.now() - this.shownAt > FRESH && this.view.isShown() && this.view.hasFiles()) this.refresh();
  }

  // What the server says is for whoever built the page; people hear it in their own words.
  refused(error) {
    console.warn(error);
    this.view.notice(this.words.error);
  }

  // The thread whole, or as the line tells it: with what is new of its messages.
  show(thread, { isFirst = false, isNews = false } = {}) {
    const isAnew = isFirst || (!isNews && this.isOther(thread));
    if (isAnew) this.view.clear();
    if (!isNews) {
      this.isMoved = false;
      this.shownAt = Date.now();
    }
    if (isAnew || (!isNews && this.before === undefined)) this.setBefore(thread.before);
    this.thread = thread;
    thread.messages.forEach((message) => this.receive(message, isAnew));
    if (isAnew) this.unread.begin(this.view.newestNumber(), thread.seen);
    else this.unread.read(thread.seen);
    const taken = new Set(thread.messages.map((message) => message.message_id));
    this.setOutgoing(this.outgoing().filter((item) => !taken.has(item.id)));
    const open = new Set(thread.approvals.map((approval) => approval.id));
    this.view.asking().filter((id) => !open.has(id)).forEach((id) => this.view.asked(id));
    thread.approvals.forEach((approval) => this.view.ask(approval));
    this.turns.settle(thread.running);
    const newest = thread.messages[thread.messages.length - 1];
    if (newest && !thread.running.length && !this.turns.live.size && !this.outgoing().length) this.view.suggest(newest.suggestions || []);
    if (!thread.messages.length && isFirst && !this.outgoing().length) this.view.suggest([this.words["suggest-help"]]);
    if (isFirst && thread.messages.length && !this.chosen) this.speak(thread.voice, false);
    this.view.presence.show(thread);
    this.largest = thread.largest_file;
    const isSomebody = Boolean(thread.session);
    // A file belongs to somebody: who is new says something first.
    this.view.tray.button.hidden = !thread.open || !isSomebody;
    if (!thread.open) this.onclosed?.();
    if (thread.link) offerLink(this, this.view.composer, thread.link_with);
    offerConsents(this, thread.consents, this.view.composer);
    if (isFirst) this.view.ready(!thread.messages.length && !this.outgoing().length);
    if (isSomebody) this.line.join(thread.session);
    else if (isAnew) this.line.leave();
  }

  // Another thread than before: somebody has proved who they are, is somebody else by now, or nobody any more. One that became one with
  // another keeps its id where it stays, and has other numbers.
  isOther({ session, cursor }) {
    const before = this.thread;
    if (this.isMoved) return true;
    return Boolean(before?.session) && (before.session !== session || numbering(before.cursor) !== numbering(cursor));
  }

  receive(message, isOld) {
    const isNew = this.view.message(message);
    if (message.speaker === "person") return;
    if (isNew) this.turns.store(message.run);
    if (isOld) return;
    if (isNew) this.view.sayAloud(message.id);
    this.unread.came(message.number);
  }

  // How far the thread stands here.
  cursor() {
    return this.thread.cursor || String(this.view.newestNumber());
  }

  // An event of the line.
  heard(event) {
    const { name, data } = event;
    if (name === "thread") this.news(data);
    else if (isLast(event)) this.move();
    else if (data.run) this.turns.hear(event);
  }

  move() {
    this.isMoved = true;
    this.refresh();
  }

  // What was asked for before and comes only now may be older than this.
  news(thread) {
    if (this.refreshing) this.isStale = true;
    if (this.isOther(thread)) this.move();
    else if (thread.messages[0]?.number > this.view.newestNumber() + 1) this.refresh();
    else this.show(thread, { isNews: true });
  }

  replayed(turns) {
    this.turns.replay(turns);
  }

  missed() {
    this.refresh();
  }

  lost() {
    this.turns.followAll();
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

  attach(file) {
    return this.uploads.attach(file);
  }

  say(text, files = []) {
    // Who is new gets a token for both: the secret is sent again with the message, and kept no longer than that.
    const { seen } = this.begun || { seen: this.view.seen() };
    const item = { id: newId(), secret: newId(), text, seen, files };
    this.setOutgoing([...this.outgoing(), item]);
    this.draft("");
    this.view.divide(null);
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
        this.turns.follow(response.headers.get("x-run-id"), response);
        this.listenNow();
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

  // The way to the server is open: nothing waits any longer. Who has only become somebody has a thread to listen to now.
  listenNow() {
    this.wake();
    if (this.line.turn) this.line.hail();
    else this.refresh();
  }

  undelivered(item, error) {
    this.view.doing(null);
    console.warn(error);
    this.view.failed(item.id, this.words[{ 403: "members", 429: "too-many" }[error.status] || "failed"]);
  }

  // Waits longer each time, and no longer than until the network is back.
  async rest(tries) {
    // Not all at the same moment, where many wait for a server.
    const wait = Math.min(LONGEST, 500 * 2 ** Math.min(tries, 5)) * (0.75 + Math.random() / 2);
    let woken;
    const early = new Promise((resolve) => (woken = resolve));
    this.wakes = [...(this.wakes || []), woken];
    await Promise.race([pause(wait), early]);
    this.wakes = this.wakes.filter((one) => one !== woken);
  }

  wake() {
    (this.wakes || []).forEach((wake) => wake());
  }

  async answer(approval, yes) {
    try {
      const answered = await this.door.answer(approval, yes);
      this.view.asked(approval.id);
      this.view.aloud.textContent = yes ? this.words.granted : this.words.refused;
      if (answered.run) this.turns.follow(answered.run);
      this.tabs?.postMessage("answered");
      return true;
    } catch (error) {
      if (error instanceof Refused) this.refused(error);
      else this.view.notice(this.words.offline);
      if (error.status === 409 || error.status === 404) this.refresh();
      return false;
    }
  }
}
