"use strict";
// The attentions of one model: a choice of maps, an overview of layers and heads, a large picture.
(() => {
  const hasHeads = (map, layer) => map.means || map.layers[layer].matrices.length > 1;
  // What is no attention has one layer, and no heads.
  const layerName = (map, layer) =>
    (map.layers.length > 1 || hasHeads(map, 0) ? `layer ${layer + 1}` : "");

  /**
   * Return the part of a page about a model's attentions.
   * `choice` is what was chosen before, `onChoice` is told the new choice, and `words()` gives the
   * strip of tokens.
   */
  viewer.attentions = (explanation, number, choice, onChoice, words) => {
    const maps = explanation.maps.filter((map) => map.layers.some((layer) => layer.matrices.length));
    const part = viewer.element("div", {});
    if (!maps.length) {
      part.append(viewer.element("p", { className: "note" }, "The model shows no attention here."));
      return { part, shown: () => null, choose: async () => {}, redraw: () => {} };
    }
    const id = `map-${number}`;
    const select = viewer.element("select", { id }, ...maps.map((map) =>
      viewer.element("option", { value: map.name }, map.title)));
    const overview = viewer.element("div", { className: "wide" });
    const title = viewer.element("h4", {});
    const large = viewer.element("div", {}), says = viewer.element("p", { className: "says", "aria-live": "polite" });
    const table = viewer.element("div", {});
    part.append(
      viewer.element("p", { className: "controls" }, viewer.element("label", { for: id }, "Attention "), select),
      overview, title, large, says, table,
    );
    let shown = null, drawn = [], box = null, turn = 0;

    const nameOf = (map, layer, matrix) => [
      map.title, layerName(map, layer), viewer.headName(matrix, hasHeads(map, layer)),
    ].filter(Boolean).join(", ");

    const showLarge = (map, layer, matrix) => {
      const name = nameOf(map, layer, matrix);
      shown = { map, matrix, name, layer };
      title.textContent = name;
      for (const button of overview.querySelectorAll("button")) {
        const own = Number(button.dataset.layer) === layer && button.dataset.head === String(matrix.head);
        button.setAttribute("aria-pressed", String(own));
        button.tabIndex = own ? 0 : -1;
      }
      const hint = `Greatest weight ${viewer.digits(matrix.highest)}. Point at a cell to read its weight.`;
      box = viewer.large(matrix, map, name, (row, column) => {
        if (row === undefined) {
          says.replaceChildren(hint);
          words().leave();
          return;
        }
        says.replaceChildren(...viewer.cellWords(matrix, map, row, column));
        words().pointAt(map, matrix.rows[row], matrix.columns[column]);
      });
      large.replaceChildren(box);
      says.replaceChildren(hint);
      table.replaceChildren(viewer.onDemand("The picture as a table", () => viewer.matrixTable(matrix, name)));
    };

    const showOverview = async (map) => {
      const layers = await Promise.all(map.layers.map((layer) => viewer.matrices(explanation, layer)));
      drawn = [];
      const heads = [...new Set(layers.flatMap((matrices) => matrices.map((matrix) => matrix.head)))];
      const several = heads.length > 1;
      const head = (own) => (own === null ? (several ? "mean" : "") : String(own));
      const rows = layers.map((matrices, layer) => viewer.element("tr", {},
        viewer.element("th", { scope: "row" }, layerName(map, layer)),
        ...heads.map((own) => {
          const matrix = matrices.find((one) => one.head === own);
          const cell = viewer.element("td", {});
          if (!matrix) return cell;
          const canvas = viewer.element("canvas", {});
          drawn.push([canvas, matrix]);
          const button = viewer.element("button", {
            type: "button", "aria-label": nameOf(map, layer, matrix), title: nameOf(map, layer, matrix),
          }, canvas);
          Object.assign(button.dataset, { layer, head: String(own) });
          button.addEventListener("click", () => choose({ name: map.name, layer, head: own }, true));
          cell.append(button);
          return cell;
        })));
      const header = viewer.element("tr", {}, viewer.element("td", {}),
        ...heads.map((own) => viewer.element("th", { scope: "col" }, head(own))));
      const hidden = drawn.length < 2;
      const caption = "Overview: a row for each layer, a column for each head";
      overview.replaceChildren(
        viewer.element("p", { className: "note", hidden }, caption),
        viewer.element("table", { className: "overview", hidden, "aria-label": caption },
          viewer.element("thead", {}, header), viewer.element("tbody", {}, ...rows)),
      );
      for (const [canvas, matrix] of drawn) viewer.drawSmall(canvas, matrix);
      return layers;
    };

    /** Show what is wanted, or the nearest that there is; `tell` the others. */
    const choose = async (wanted, tell = false) => {
      turn += 1;
      const own = turn;
      const map = maps.find((one) => one.name === wanted?.name)
        ?? (shown && maps.includes(shown.map) ? shown.map : null)
        ?? maps.find((one) => one.rows === "target" && one.columns === "source") ?? maps[0];
      const layers = await (shown?.map === map ? Promise.all(map.layers.map((l) => viewer.matrices(explanation, l)))
        : showOverview(map));
      if (own !== turn) return;
      select.value = map.name;
      let layer = Math.min(wanted?.layer ?? map.layers.length - 1, map.layers.length - 1);
      if (!layers[layer].length) layer = layers.findIndex((matrices) => matrices.length);
      const head = wanted?.head ?? null;
      const matrix = layers[layer].find((one) => one.head === head) ?? layers[layer][0];
      showLarge(map, layer, matrix);
      if (tell) onChoice({ name: map.name, layer, head: matrix.head });
    };

    select.addEventListener("change", () => choose({ name: select.value, layer: shown.layer, head: shown.matrix.head }, true));
    overview.addEventListener("keydown", (event) => {
      const button = event.target.closest("button");
      const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
      const step = steps[event.key];
      if (!button || !step) return;
      event.preventDefault();
      const rows = [...overview.querySelectorAll("tbody tr")].map((row) => [...row.querySelectorAll("td")]);
      const cell = button.parentElement, r = rows.findIndex((row) => row.includes(cell));
      const next = rows[r + step[0]]?.[rows[r].indexOf(cell) + step[1]]?.querySelector("button");
      if (!next) return;
      next.focus();
      next.click();
    });
    const redraw = () => {
      for (const [canvas, matrix] of drawn) viewer.drawSmall(canvas, matrix);
      box?.redraw();
    };
    return { part, shown: () => shown, choose, redraw, ready: choose(choice) };
  };
})();
