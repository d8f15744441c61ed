"use strict";
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const kept = { get: () => null, set: () => {} };
  try {
    const storage = window.localStorage;
    kept.get = () => storage.getItem("t2t-phrase-theme");
    kept.set = (theme) => storage.setItem("t2t-phrase-theme", theme);
    kept.get();
  } catch {
    kept.get = () => null;  // Some browsers keep nothing for local files.
  }
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const show = () => { button.textContent = isDark() ? "Light mode" : "Dark mode"; };
  const theme = kept.get();
  if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  button.hidden = false;
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { kept.set(root.dataset.theme); } catch { /* the choice holds until the page is closed */ }
    show();
  });
  system.addEventListener("change", show);
  show();
})();
