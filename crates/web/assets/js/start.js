// The start page: opens what comes ready, and tries a key.
async function post(path, body) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw Object.assign(new Error(answer?.error?.message), { status: response.status });
  return answer;
}

// People hear it in the words of the page; the reason is for whoever looks into the console.
function refusal(error, words) {
  console.warn(error);
  const named = { 400: words.invalid, 409: words.taken, 422: words.invalid }[error.status];
  return named || (error.status ? words.failed : words.offline);
}

function telling(box, kind, ...lines) {
  const strong = document.createElement("strong");
  strong.textContent = lines[0];
  const rest = lines.slice(1).filter(Boolean).map((line) => {
    const node = document.createElement(line.includes("\n") ? "pre" : "p");
    node.textContent = line;
    return node;
  });
  box.className = `note stack ${kind}`;
  box.replaceChildren(strong, ...rest);
  box.hidden = false;
}

function openings() {
  document.querySelectorAll("[data-open]").forEach((button) => {
    button.addEventListener("click", async () => {
      button.disabled = true;
      try {
        location.assign((await post("/start/open", { tenant: button.dataset.open })).page);
      } catch (error) {
        const box = document.getElementById("said");
        telling(box, "bad", refusal(error, box.dataset));
        button.disabled = false;
      }
    });
  });
}

function trying() {
  const form = document.getElementById("try");
  if (!form) return;
  const { provider, model, key } = form.elements;
  const suggest = () => (model.value = provider.selectedOptions[0]?.dataset.model || "");
  provider.addEventListener("change", suggest);
  if (!model.value) suggest();
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const box = document.getElementById("tried");
    const button = form.querySelector("[type=submit]");
    button.disabled = true;
    telling(box, "", form.dataset.asking);
    try {
      const tried = await post("/start/key", { provider: provider.value, model: model.value, key: key.value });
      telling(box, tried.works ? "good" : "bad", tried.message, tried.hint, tried.settings);
    } catch (error) {
      telling(box, "bad", refusal(error, form.dataset));
    }
    button.disabled = false;
  });
}

openings();
trying();
