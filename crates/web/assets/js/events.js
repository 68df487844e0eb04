// Server-sent events out of an answer, one after another.
const SILENCE = 45000;

function readEvent(block) {
  const event = { id: null, name: "message", data: null };
  const data = [];
  for (const line of block.split("\n")) {
    const at = line.indexOf(":");
    if (at <= 0) continue;
    const value = line.slice(at + 1).replace(/^ /, "");
    const field = line.slice(0, at);
    if (field === "id") event.id = value;
    else if (field === "event") event.name = value;
    else if (field === "data") data.push(value);
  }
  if (!data.length) return null;
  event.data = JSON.parse(data.join("\n"));
  return event;
}

// The server says something every quarter of a minute; a line that is silent for longer is dead, whatever it says.
export async function inTime(wanted, stop) {
  let timer;
  const dead = new Promise((_, reject) => {
    timer = setTimeout(() => {
      reject(new TypeError("the line is silent"));
      stop?.();
    }, SILENCE);
  });
  try {
    return await Promise.race([wanted, dead]);
  } finally {
    clearTimeout(timer);
  }
}

export async function* events(response) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let held = "";
  try {
    for (;;) {
      const { value, done } = await inTime(reader.read());
      if (done) return;
      held += decoder.decode(value, { stream: true }).replace(/\r/g, "");
      for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n")) {
        const event = readEvent(held.slice(0, end));
        held = held.slice(end + 2);
        if (event) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
