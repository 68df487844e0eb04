// <munshi-chat binding="…">: the same conversation on anybody's page. All of it stands in a closed shadow root: the page's
// styles do not reach in, ours do not leak out, and no inline style or script needs the page's leave.
import { Chat } from "./chat.js";
import { Door } from "./door.js";
import { el, icon, ICONS, pause } from "./dom.js";
import { keepIn, store, stores } from "./stores.js";
import { initial, tone, View } from "./view.js";

const SCRIPT = document.currentScript?.src || "";
const LANGUAGES = { en: "English", hi: "हिन्दी", bn: "বাংলা", gu: "ગુજરાતી", kn: "ಕನ್ನಡ", ml: "മലയാളം", mr: "मराठी", or: "ଓଡ଼ିଆ", pa: "ਪੰਜਾਬੀ", ta: "தமிழ்", te: "తెలుగు" };

function dress(shadow) {
  if ("adoptedStyleSheets" in shadow) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    shadow.adoptedStyleSheets = [sheet];
  } else shadow.append(el("style", {}, STYLE));
}

class MunshiChat extends HTMLElement {
  static observedAttributes = ["accent", "binding", "theme", "token", "open", "position"];

  #shadow = this.attachShadow({ mode: "closed", delegatesFocus: true });
  #token = null;
  #inner = null;
  #door;
  #words;
  #name;
  #panel;
  #launcher;
  #count;
  #menu;
  #chat;
  #view;
  #started = false;
  #refused = false;

  // Where the one before was refused from the start, this one may be good.
  set token(value) {
    this.#token = value;
    if (this.#refused) this.#begin();
  }

  connectedCallback() {
    if (this.#inner || !this.#place) return;
    dress(this.#shadow);
    this.#inner = el("div", { class: "munshi" });
    this.#shadow.append(this.#inner);
    this.#begin();
  }

  // A page may be there before its line is: tried again, each time after twice as long, up to a minute.
  async #begin(tries = 0) {
    this.#refused = false;
    try {
      await this.#build();
    } catch (error) {
      this.#inner.replaceChildren();
      console.warn(error);
      this.#refused = error.isFinal;
      if (error.isFinal) return;
      await pause(2 ** Math.min(tries, 6) * 1e3);
      this.#begin(tries + 1);
    }
  }

  // What the host has signed. Where it has gone stale the host is told, and may have set another then.
  #proof(isStale) {
    if (isStale) this.dispatchEvent(new CustomEvent("munshi-token"));
    const token = this.#token;
    return token?.call ? token(isStale) : token;
  }

  attributeChangedCallback(name, _, value) {
    if (name === "token") this.token = value;
    if (name === "binding" && this.isConnected) this.connectedCallback();
    if (!this.#inner) return;
    if (name === "open" && this.#panel) this.#show(value !== null);
    else this.#theme();
  }

  show() {
    this.setAttribute("open", "");
  }

  hide() {
    this.removeAttribute("open");
  }

  get #place() {
    return this.getAttribute("binding") || "";
  }

  #theme() {
    const inner = this.#inner;
    const theme = this.getAttribute("theme");
    if (theme === "light" || theme === "dark") inner.dataset.theme = theme;
    else delete inner.dataset.theme;
    inner.classList.toggle("left", this.getAttribute("position") === "left");
    inner.classList.toggle("inline", this.hasAttribute("inline"));
    const accent = this.getAttribute("accent");
    if (accent && CSS.supports("color", accent)) inner.style.setProperty("--accent", accent);
    else inner.style.removeProperty("--accent");
  }

  #keep() {
    const { browser } = stores();
    const name = `munshi:${this.#place}:visitor`;
    let held = null;
    return {
      get token() {
        return held || store(browser, name);
      },
      // A browser that keeps nothing knows it for as long as the page is open.
      set token(value) {
        held = value;
        keepIn(browser, name, value);
      },
    };
  }

  async #build() {
    const base = (this.getAttribute("server") || (SCRIPT && new URL(SCRIPT).origin) || "").replace(/\/$/, "");
    const proof = (isStale) => this.#proof(isStale);
    this.#door = new Door({ base, place: this.#place, keep: this.#keep(), proof });
    const thread = await this.#door.thread();
    const voice = this.getAttribute("language") || thread.voice;
    this.#words = await this.#door.words(voice);
    this.#name = thread.name;
    this.#frame(voice);
    this.#theme();
    this.#show(this.hasAttribute("open") || this.hasAttribute("inline"), false);
  }

  #frame(voice) {
    const open = this.#words.open.replace("{name}", this.#name);
    const face = el("span", { class: `face tone-${tone(this.#name)}`, "aria-hidden": "true" }, initial(this.#name));
    const shut = el("button", { type: "button", class: "shut-button", "aria-label": this.#words.close, onclick: () => this.hide() }, icon(...ICONS.close));
    const options = Object.entries(LANGUAGES).map(([code, name]) => el("option", { value: code, lang: code }, name));
    this.#menu = el("select", { "aria-label": this.#words.language, onchange: () => this.#chat.speak(this.#menu.value, true) }, ...options);
    const body = el("div", { class: "chat" });
    this.#panel = el("section", { class: "panel", role: "dialog", "aria-labelledby": "munshi-name", hidden: true });
    this.#panel.append(el("header", {}, face, el("h2", { id: "munshi-name" }, this.#name), this.#menu, shut), body);
    this.#panel.addEventListener("keydown", (event) => event.key === "Escape" && !this.hasAttribute("inline") && this.hide());
    this.#launcher = el("button", { type: "button", class: "launcher", "aria-label": open, "aria-expanded": "false", onclick: () => this.show() }, icon(...ICONS.talk));
    this.#count = el("span", { class: "count", "aria-hidden": "true", hidden: true });
    this.#launcher.append(this.#count);
    this.#inner.replaceChildren(this.#panel, this.#launcher);
    this.#talk(body, voice);
  }

  #talk(body, voice) {
    const view = new View(body, { name: this.#name, base: this.#door.base });
    this.#chat = new Chat({ door: this.#door, view, place: this.#place, words: this.#words, voice });
    this.#chat.onclosed = () => view.closed(this.#chat.words.members);
    this.#chat.onunread = (count) => this.#tell(count);
    this.#chat.onvoice = (code) => (this.#menu.value = code.replace("-latn", ""));
    this.#menu.value = voice.replace("-latn", "");
    this.#view = view;
  }

  // What came while the chat was closed: its button says how much.
  #tell(count) {
    const open = this.#words.open.replace("{name}", this.#name);
    this.#launcher.setAttribute("aria-label", count ? `${open} (${count})` : open);
    this.#count.textContent = count;
    this.#count.hidden = !count;
  }

  #show(isOpen, isAsked = true) {
    this.#panel.hidden = !isOpen;
    this.#launcher.hidden = isOpen;
    this.#launcher.setAttribute("aria-expanded", String(isOpen));
    if (isOpen && !this.#started) {
      this.#started = true;
      this.#chat.start();
    }
    if (this.#started) this.#chat.unread.look();
    if (isAsked) {
      if (isOpen) this.#view.text.focus();
      else this.#launcher.focus();
      this.dispatchEvent(new CustomEvent(isOpen ? "munshi-open" : "munshi-close"));
    }
  }
}

if (!customElements.get("munshi-chat")) customElements.define("munshi-chat", MunshiChat);
