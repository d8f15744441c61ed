"use strict";
// The controls of the viewer, and a panel for each model.
(() => {
  const place = document.getElementById("viewer");
  if (!place) return;
  const { models, sentences } = JSON.parse(document.getElementById("document").textContent);
  const control = (name) => document.getElementById(name);
  const choices = models.map(() => null);
  let panels = [], current = 0;

  const candidates = (explanation) => viewer.onDemand(
    `Hypotheses of the search, with scores (${explanation.candidates.length})`,
    () => viewer.table("Hypotheses, best first", ["no.", "score", "translation"],
      explanation.candidates.map(([text, score], i) => [
        String(i + 1), score.toFixed(4), viewer.quoted(text || "(empty)"),
      ])));

  const panel = (explanation, number) => {
    const model = models[number];
    const total = explanation.log_probabilities.reduce((sum, own) => sum + own, 0);
    let attention = null;
    const words = viewer.strip(explanation, () => attention?.shown());
    attention = viewer.attentions(explanation, number, choices[number], (choice) => {
      choices[number] = choice;
      if (!control("together")?.checked) return;
      panels.forEach((other, i) => {
        if (i === number || !other) return;
        choices[i] = choice;
        other.choose(choice);
      });
    }, () => words);
    const kind = explanation.is_own ? "Translation" : "Given translation";
    const scored = explanation.is_own && explanation.candidates.length
      ? `score ${explanation.candidates[0][1].toFixed(4)}, ` : "";
    const what = explanation.predicts_jumps ? "log-probability of its jumps" : "log-probability";
    const part = viewer.element("section", { className: "model", "aria-label": model.name },
      viewer.element("h2", {}, model.name),
      viewer.element("p", { className: "note" }, model.about),
      ...(explanation.notes ?? []).map((note) => viewer.element("p", { className: "note" }, note)),
      viewer.element("p", {}, `${kind}: `, viewer.quoted(explanation.target || "(empty)"),
        viewer.element("span", { className: "note" }, ` ${scored}${what} ${total.toFixed(4)}`)),
      words.part,
      viewer.onDemand("Tokens, links and segments as tables", () => viewer.wordTables(explanation)),
    );
    if (explanation.candidates.length) part.append(candidates(explanation));
    part.append(viewer.element("h3", {}, "Attention"), attention.part);
    if (explanation.left_out.length) {
      part.append(viewer.element("p", { className: "note" },
        `Left out, since the page would be too large: ${explanation.left_out.join("; ")}.`));
    }
    return { ...attention, part };
  };

  const show = async () => {
    const sentence = sentences[current], chosen = control("model")?.value ?? "all";
    const shown = models.map((_, i) => chosen === "all" || chosen === String(i));
    panels = sentence.explanations.map((own, i) => (shown[i] ? panel(own, i) : null));
    const parts = panels.filter(Boolean);
    const several = parts.length > 1 ? " several" : "";
    place.replaceChildren(
      viewer.element("p", {}, "Source: ", viewer.quoted(sentence.source)),
      ...(sentence.reference ? [viewer.element("p", {}, "Reference: ", viewer.quoted(sentence.reference))] : []),
      viewer.element("div", { className: `models${several}` }, ...parts.map((one) => one.part)),
    );
    control("sentence").value = String(current);
    control("previous").disabled = current === 0;
    control("next").disabled = current === sentences.length - 1;
    await Promise.all(parts.map((one) => one.ready));
    place.dataset.shown = String(current);
  };
  const go = (number) => {
    current = Math.max(0, Math.min(sentences.length - 1, number));
    show();
  };
  const redraw = () => {
    viewer.forgetColours();
    panels.forEach((one) => one?.redraw());
  };

  control("choose").hidden = false;
  control("choose").addEventListener("submit", (event) => event.preventDefault());
  control("sentence").addEventListener("change", (event) => go(Number(event.target.value)));
  control("previous").addEventListener("click", () => go(current - 1));
  control("next").addEventListener("click", () => go(current + 1));
  control("model")?.addEventListener("change", show);
  new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  // Paper is light.
  const root = document.documentElement;
  let theme;
  window.addEventListener("beforeprint", () => {
    theme = root.dataset.theme;
    root.dataset.theme = "light";
    redraw();
  });
  window.addEventListener("afterprint", () => {
    if (theme === undefined) delete root.dataset.theme;
    else root.dataset.theme = theme;
    redraw();
  });
  show();
})();
