// Files on their way to a message: a button, a line for each, how far it has come, and why one is not taken.
import { el, icon, ICONS } from "./dom.js";

// A phone turns its own kind of picture into JPEG where that is what is asked for.
const TAKEN = ".jpg,.jpeg,.png,.gif,.webp,.pdf,.txt,.csv,.docx,.xlsx,.pptx,.odt,.ods,.mp3,.m4a,.ogg,.wav,.amr,.mp4,image/jpeg,image/png,application/pdf,text/plain";
const MOST = 20;

export class Tray {
  constructor(view) {
    this.view = view;
    this.chips = [];
    this.picker = el("input", { type: "file", multiple: true, accept: TAKEN, hidden: true, onchange: () => this.picked() });
    this.button = el("button", { type: "button", class: "attach", "data-label": "attach", hidden: true, onclick: () => this.picker.click() }, icon(...ICONS.attach));
    this.node = el("ul", { class: "tray", hidden: true });
  }

  picked() {
    const files = [...this.picker.files].slice(0, MOST - this.chips.length);
    this.picker.value = "";
    files.forEach((file) => this.view.on.attach(file));
  }

  add(name) {
    const chip = { name, file: null, isOver: false, stop: new AbortController() };
    const label = this.view.words["attach-remove"].replace("{name}", name);
    chip.bar = el("progress", { max: "1", value: "0", "aria-label": name });
    const remove = el("button", { type: "button", "aria-label": label, onclick: () => this.remove(chip) }, icon(...ICONS.close));
    chip.node = el("li", {}, el("span", { class: "name", dir: "auto" }, name), chip.bar, remove);
    this.chips.push(chip);
    this.node.append(chip.node);
    this.changed();
    return chip;
  }

  progress(chip, share) {
    chip.bar.value = share;
  }

  keep(chip, file) {
    chip.file = file;
    chip.isOver = true;
    chip.bar.remove();
    this.changed();
  }

  refuse(chip, words) {
    chip.isOver = true;
    chip.bar.replaceWith(el("span", { class: "why" }, words));
    this.view.aloud.textContent = `${chip.name}: ${words}`;
    this.changed();
  }

  remove(chip) {
    chip.stop.abort();
    this.chips = this.chips.filter((one) => one !== chip);
    chip.node.remove();
    this.changed();
    this.view.text.focus();
  }

  changed() {
    this.node.hidden = !this.chips.length;
    this.view.typed(false);
  }

  isBusy() {
    return this.chips.some((chip) => !chip.isOver);
  }

  files() {
    return this.chips.map((chip) => chip.file).filter(Boolean);
  }

  // What goes with the message. What was refused has been read by now.
  take() {
    const files = this.files();
    this.chips.forEach((chip) => chip.node.remove());
    this.chips = [];
    this.node.hidden = true;
    return files;
  }
}

const address = (url, base) => new URL(url, base || location).href;

// A picture as the server made it anew, or a name to be downloaded.
export function fileThing(file, base) {
  const name = file.name || file.media_type;
  const open = { class: "file", href: address(file.url, base), download: file.name || "", rel: "noopener" };
  if (!file.preview) return el("p", { class: "card" }, el("a", open, name));
  const { url, width, height } = file.preview;
  const image = el("img", { src: address(url, base), width, height, alt: name, loading: "lazy" });
  return el("figure", {}, el("a", open, image));
}

// What stands there already gets the newest address; a picture that has come needs none.
export function renewFile(node, file, base) {
  node.querySelector("a.file").href = address(file.url, base);
  const image = node.querySelector("img");
  if (image && file.preview && !image.naturalWidth) image.src = address(file.preview.url, base);
}
