// What came while nobody looked: how much it is, where it begins, and how far somebody has read by now.
const SETTLES = 500;

export class Unread {
  constructor({ view, door, on }) {
    this.view = view;
    this.door = door;
    this.on = on;
    this.begin(0);
    this.count = 0;
    view.log.addEventListener("scroll", () => this.note(), { passive: true });
    document.addEventListener("visibilitychange", () => this.look());
  }

  // What a page shows first is not news; where somebody read elsewhere up to here, it says so.
  begin(newest, seen) {
    this.newest = newest;
    this.told = seen || 0;
    this.waiting = [];
    if (seen && seen < newest) this.view.divide(seen + 1);
    this.note();
  }

  came(number) {
    if (number <= this.newest) return;
    this.newest = number;
    if (this.view.isShown()) return;
    if (!this.waiting.length) this.view.divide(number);
    this.waiting.push(number);
    this.show();
  }

  // Read on another device, or in another tab.
  read(number) {
    this.told = Math.max(this.told, number || 0);
    this.waiting = this.waiting.filter((one) => one > this.told);
    this.show();
    this.note();
  }

  look() {
    if (this.view.isShown()) this.waiting = [];
    else if (!this.waiting.length) this.view.divide(null);
    this.show();
    this.note();
  }

  show() {
    if (this.count === this.waiting.length) return;
    this.count = this.waiting.length;
    this.on.onunread?.(this.count);
  }

  // Tells the server once the page stands still.
  note() {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.tell(), SETTLES);
  }

  async tell() {
    const last = this.view.lastRead();
    if (!last || last.number <= this.told) return;
    const before = this.told;
    this.told = last.number;
    await this.door.seen(last.stored).catch(() => {
      if (this.told === last.number) this.told = before;
    });
  }
}
