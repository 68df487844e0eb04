// Files on their way to the server, before the message that carries them.

// Of three that one person may, so that another tab has one.
const UPLOADS = 2;

export class Uploads {
  constructor(chat) {
    this.chat = chat;
    this.under = 0;
    this.waiting = [];
  }

  // A file goes at once; the message that carries it waits for it.
  async attach(file) {
    const { tray } = this.chat.view;
    const chip = tray.add(file.name);
    if (this.chat.largest && file.size > this.chat.largest) return tray.refuse(chip, this.chat.words["attach-large"]);
    const { signal } = chip.stop;
    await this.takeTurn();
    try {
      tray.keep(chip, await this.upload(file, (share) => tray.progress(chip, share), signal));
    } catch (error) {
      // What was taken off the tray is not spoken of.
      if (signal.aborted) return undefined;
      console.warn(error);
      tray.refuse(chip, this.chat.words[{ 413: "attach-large", 415: "attach-kind", 422: "attach-kind" }[error.status] || "attach-failed"]);
    } finally {
      this.giveTurn();
    }
    return undefined;
  }

  // Where files of this person, or too many of others, are still being taken, that is over in a moment.
  async upload(file, onprogress, signal) {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.chat.door.upload(file, onprogress, signal);
      } catch (error) {
        if (error.status !== 429 || error.retryAfter || tries > 3) throw error;
        await this.chat.rest(tries);
      }
    }
  }

  // The server takes few files of one person at a time: those beyond wait here.
  takeTurn() {
    if (this.under < UPLOADS) {
      this.under += 1;
      return undefined;
    }
    return new Promise((resolve) => this.waiting.push(resolve));
  }

  giveTurn() {
    const next = this.waiting.shift();
    if (next) next();
    else this.under -= 1;
  }
}
