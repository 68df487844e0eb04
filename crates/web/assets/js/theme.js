// Light, dark, or as the device says; runs before the first paint, so that nothing flashes.
const THEME = "munshi-theme";

function chosenTheme() {
  try {
    return localStorage.getItem(THEME);
  } catch {
    return null;
  }
}

function showTheme(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
}

function shownTheme() {
  const chosen = document.documentElement.dataset.theme;
  return chosen || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

showTheme(chosenTheme());
addEventListener("storage", (event) => event.key === THEME && showTheme(event.newValue));
document.addEventListener("click", (event) => {
  const button = event.target instanceof Element && event.target.closest("[data-switch-theme]");
  if (!button) return;
  const next = shownTheme() === "dark" ? "light" : "dark";
  showTheme(next);
  try {
    localStorage.setItem(THEME, next);
  } catch {
    // Kept for this page alone.
  }
});
