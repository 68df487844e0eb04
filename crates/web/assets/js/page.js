// The page of one binding: everything it needs to begin stands in its `data-` attributes.
import { Chat } from "./chat.js";
import { el } from "./dom.js";
import { Door } from "./door.js";
import { View } from "./view.js";

export function openPage() {
  const root = document.getElementById("chat");
  if (!root) return;
  const { place, name, voice, words } = root.dataset;
  const view = new View(root, { name });
  const chat = new Chat({ door: new Door({ place }), view, place, words: JSON.parse(words), voice });
  const menu = document.getElementById("language");
  const show = (code) => {
    document.documentElement.lang = code.replace("-latn", "-Latn");
    menu.value = code.replace("-latn", "");
    menu.setAttribute("aria-label", chat.words.language);
    document.querySelector(".who p").textContent = chat.words.about.replace("{name}", name);
    document.querySelector("[data-switch-theme]").setAttribute("aria-label", chat.words.theme);
  };
  chat.onvoice = show;
  const { title } = document;
  chat.onunread = (count) => (document.title = count ? `(${count}) ${title}` : title);
  const signIn = () => el("a", { href: `/account/sign-in?next=${encodeURIComponent(location.pathname)}` }, chat.words["sign-in"]);
  chat.onclosed = () => view.closed(chat.words.members, signIn());
  menu.addEventListener("change", () => chat.speak(menu.value, true));
  show(chat.voice);
  chat.start();
  if (matchMedia("(hover: hover)").matches) view.text.focus();
}

openPage();
