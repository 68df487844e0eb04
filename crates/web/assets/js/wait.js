// A page that waits for something that happens elsewhere: it is looked at again and again, and shown anew once it no longer
// says what it waits for. Whoever reads it is not disturbed meanwhile.
const EVERY = 3000;

async function lookAgain() {
  if (document.hidden) return;
  try {
    const answer = await fetch(location.href, { cache: "no-store" });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (!page.querySelector("[data-waits]")) location.reload();
  } catch {
    // Who has no connection just now is asked again.
  }
}

setInterval(lookAgain, EVERY);
document.addEventListener("visibilitychange", lookAgain);
