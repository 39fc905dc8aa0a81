"use strict";
// Pairs of models: unpacks what report/matrix.py packed, and shows it.
(() => {
  const MIRRORED = [0, 2, 1, 3, 4];
  const { make, scrollable } = fastcmp;
  const SVG = "http://www.w3.org/2000/svg";

  function draw(tag, attributes) {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return element;
  }

  async function inflate(letters) {
    const packed = Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
    const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  // Whole numbers whose first bytes stand before all second ones; NaN where all bits are 1.
  async function wholes(column) {
    const bytes = await inflate(column.packed);
    const { width, least } = column;
    const n = bytes.length / width;
    return { n, at(k) {
      let code = 0;
      for (let plane = width - 1; plane >= 0; plane--) code = code * 256 + bytes[plane * n + k];
      return code === 256 ** width - 1 ? NaN : code + least;
    } };
  }

  function unrounded(code, { digits, first }) {
    if (!code) return code;
    const tens = 10 ** (digits - 1), size = Math.abs(code) - 1;
    const exponent = first + Math.floor(size / (9 * tens)) - digits + 1;
    return Math.sign(code) * Number(`${size % (9 * tens) + tens}e${exponent}`);
  }

  function unpackedPvalue(code) {
    if (!(code > 10000)) return code / 10000;
    const exponent = Math.ceil((code - 10000) / 90), leading = 10 + 90 * exponent - (code - 10000);
    return Number(`${leading}e${-exponent - 1}`);
  }

  const asCount = (x) => x.toLocaleString("en");
  const asNumber = (x) => (Number.isNaN(x) ? "not known" : String(Number(x.toPrecision(4))));

  function asPvalue(p) {
    if (Number.isNaN(p)) return "not known";
    if (p === 0 || p === 1) return String(p);
    return p >= 0.001 ? p.toFixed(4) : p.toExponential(1);
  }

  class Pairs {
    constructor(data) {
      this.data = data;
      this.n = data.names.length;
    }

    load() {
      this.loading ??= this.unpack();
      return this.loading;
    }

    async unpack() {
      const { data } = this;
      this.decisions = await inflate(data.decisions);
      const steps = await wholes(data.keys);
      this.keys = new Float64Array(steps.n);
      for (let k = 0, key = 0; k < steps.n; k++) this.keys[k] = key += steps.at(k);
      this.swapped = await wholes(data.swapped);
      this.numbers = {};
      for (const name of Object.keys(data.numbers)) this.numbers[name] = await wholes(data.numbers[name]);
      this.rows = [];
      for (const row of data.rows) this.rows.push({ ...row, of: await wholes(row) });
      this.isReady = true;
    }

    // Code of the decision about a row's model beside a column's; both in order of rank.
    decision(row, column) {
      const low = Math.min(row, column), high = Math.max(row, column);
      const code = this.decisions[low * (2 * this.n - low - 1) / 2 + high - low - 1];
      return row < column ? code : MIRRORED[code];
    }

    // Place of a pair among those whose numbers are here; -1 for others.
    find(row, column) {
      const key = Math.min(row, column) * this.n + Math.max(row, column);
      let low = 0, high = this.keys.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.keys[middle] < key) low = middle + 1; else high = middle;
      }
      return this.keys[low] === key ? low : -1;
    }

    // Difference of the first and the second of the record, and its interval.
    differences(k, first, second) {
      const { difference, low, high } = this.data.numbers;
      const step = difference.step, scores = this.data.scores;
      const gap = scores[first] === null || scores[second] === null ? 0 : scores[first] - scores[second];
      const steps = this.numbers.difference.at(k) + Math.floor(gap / step + 0.5);
      const base = Number.isNaN(steps) ? 0 : steps;
      const scale = step * this.data.scale;
      const ends = [base + low.sign * this.numbers.low.at(k), base + high.sign * this.numbers.high.at(k)];
      return { middle: steps * scale, low: ends[0] * scale, high: ends[1] * scale };
    }

    value(row, k) {
      const code = row.of.at(k) + (row.from ? this.expected(row.from, k) : 0);
      if (row.kind === "words") return row.words[code];
      if (row.kind === "pvalue") return unpackedPvalue(code);
      return row.kind === "rounded" ? unrounded(code, row) : code;
    }

    // What a count is expected to be: only the difference from that is packed.
    expected(from, k) {
      const [a, b] = ["only_a", "only_b"].map((name) => this.rows.find((row) => row.name === name));
      if (from === "lesser") return Math.min(this.value(a, k), this.value(b, k));
      const low = Math.floor(this.keys[k] / this.n), high = this.keys[k] % this.n;
      const gap = this.data.correct[low] - this.data.correct[high];
      return this.value(a, k) - (this.swapped.at(k) ? -gap : gap);
    }

    scored(x) {
      return this.data.scale === 100 ? `${(100 * x).toFixed(2)}%` : String(Number(x.toPrecision(6)));
    }

    signed(x) {
      const decimals = Math.max(0, -Math.round(Math.log10(this.data.numbers.difference.step * this.data.scale)));
      const text = Math.abs(x).toFixed(Math.min(decimals, 12));
      return (x < 0 && Number(text) ? "−" : "+") + text;
    }

    // All that is known of a pair, first and second as in the record.
    about(row, column) {
      const k = this.find(row, column);
      if (k < 0) return { first: row, second: column, code: this.decision(row, column), k };
      const better = Math.min(row, column), worse = Math.max(row, column);
      const [first, second] = this.swapped.at(k) ? [worse, better] : [better, worse];
      return { first, second, code: this.decision(first, second), k, ...this.differences(k, first, second) };
    }

    decided({ first, second, code }) {
      const [a, b] = [this.data.names[first], this.data.names[second]];
      return [
        `${a} and ${b} are not significantly different at ${this.data.alpha}.`,
        `${a} is significantly better than ${b} at ${this.data.alpha}.`,
        `${b} is significantly better than ${a} at ${this.data.alpha}.`,
        `${a} and ${b} differ significantly at ${this.data.alpha}, but are equal on average.`,
        `${a} and ${b} were not tested, or the test has no answer.`,
      ][code];
    }

    brief(row, column) {
      const pair = this.about(row, column);
      if (pair.k < 0) return this.decided(pair);
      const adjusted = this.rows.find((each) => each.name === "pvalue_adjusted");
      const sign = pair.first === row ? 1 : -1;
      const difference = Number.isNaN(pair.middle) ? "" :
        `${this.data.names[row]} minus ${this.data.names[column]}: ${this.signed(sign * pair.middle)}${this.data.unit}. `;
      return `${this.decided(pair)} ${difference}Adjusted p: ${asPvalue(this.value(adjusted, pair.k))}.`;
    }
  }

  function line(parts, name, text) {
    parts.append(make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, text)));
  }

  function tableOfTwo(pairs, pair, onlyA, onlyB) {
    const { correct, samples, names } = pairs.data;
    const both = correct[pair.first] - onlyA;
    const cells = [[both, onlyA], [onlyB, samples - both - onlyA - onlyB]];
    const head = make("tr", {}, make("td"), make("th", { scope: "col" }, "second right"), make("th", { scope: "col" }, "second wrong"));
    const rows = ["first right", "first wrong"].map((name, i) =>
      make("tr", {}, make("th", { scope: "row" }, name), ...cells[i].map((x) => make("td", {}, asCount(x)))));
    return make("table", { class: "two" }, make("caption", {}, `Samples: ${names[pair.first]} first, ${names[pair.second]} second`),
      make("thead", {}, head), make("tbody", {}, ...rows));
  }

  // The difference with its interval, beside 0 and the margins.
  function picture(pairs, pair) {
    const margin = pairs.data.margin === null ? null : pairs.data.margin * pairs.data.scale;
    const known = [pair.low, pair.high].every(Number.isFinite) ? [pair.low, pair.high] : [];
    const marks = margin === null ? [0] : [0, -margin, margin];
    const all = [pair.middle, ...known, ...marks];
    let low = Math.min(...all), high = Math.max(...all);
    const pad = 0.2 * (high - low) || 1;
    low -= pad; high += pad;
    const place = (x) => `${(100 * (x - low) / (high - low)).toFixed(2)}%`;
    const svg = draw("svg", { class: "difference", "aria-hidden": "true" });
    const write = (x, y, kind, words) => {
      const text = draw("text", { x: place(x), y, class: kind });
      text.textContent = words;
      svg.append(text);
    };
    marks.forEach((x, i) => {
      svg.append(draw("line", { class: i ? "margin" : "zero", x1: place(x), x2: place(x), y1: "20%", y2: "78%" }));
      write(x, "98%", "mark", i ? pairs.signed(x) : "0");
    });
    if (known.length) {
      svg.append(draw("line", { class: "range", x1: place(known[0]), x2: place(known[1]), y1: "50%", y2: "50%" }));
      write(known[0], "32%", "low", pairs.signed(known[0]));
      write(known[1], "32%", "high", pairs.signed(known[1]));
    }
    svg.append(draw("circle", { cx: place(pair.middle), cy: "50%", r: 5 }));
    return svg;
  }

  function inFull(pairs, pair) {
    const { names, interval, unit, measure, lower } = pairs.data;
    const found = make("div", {}, make("p", { class: "decided" }, pairs.decided(pair)));
    const body = make("tbody");
    const shown = [["First", names[pair.first]], ["Second", names[pair.second]]];
    for (const [name, text] of shown) line(body, name, make("bdi", {}, text));
    ["first", "second"].forEach((name, i) => {
      const score = pairs.data.scores[[pair.first, pair.second][i]];
      if (score !== null) line(body, `${measure} of the ${name}`, pairs.scored(score));
    });
    if (pair.k < 0) {
      found.append(make("table", { class: "pair" }, body), make("p", { class: "note" }, "The numbers of this pair are not in this page."));
      return found;
    }
    const value = (name) => {
      const row = pairs.rows.find((each) => each.name === name);
      return row === undefined ? NaN : pairs.value(row, pair.k);
    };
    if (!Number.isNaN(pair.middle)) {
      found.append(picture(pairs, pair));
      line(body, `Difference of ${measure}, first minus second${lower ? " (lower is better)" : ""}`, pairs.signed(pair.middle) + unit);
    }
    if (!Number.isNaN(pair.low + pair.high)) line(body, interval, `${pairs.signed(pair.low)} to ${pairs.signed(pair.high)}`);
    for (const row of pairs.rows) {
      const x = pairs.value(row, pair.k);
      const text = row.kind === "words" ? x : row.kind === "pvalue" ? asPvalue(x) : row.kind === "rounded" ? asNumber(x) : Number.isNaN(x) ? "not known" : asCount(x);
      line(body, row.label, text);
    }
    found.append(make("table", { class: "pair" }, body));
    if (pairs.data.correct && !Number.isNaN(value("only_a"))) found.append(tableOfTwo(pairs, pair, value("only_a"), value("only_b")));
    return found;
  }

  // One dialog for each comparison; it gives the focus back when it is closed.
  function dialogOf(root, pairs) {
    const uid = root.dataset.uid;
    const close = make("button", { type: "button" }, "Close");
    const inside = make("div");
    const head = make("header", {}, make("h2", { id: `${uid}-pair` }, "The pair in full"), close);
    const dialog = make("dialog", { class: "pair", "aria-labelledby": `${uid}-pair` }, head, inside);
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
    root.append(dialog);
    return async (row, column) => {
      await pairs.load();
      inside.replaceChildren(inFull(pairs, pairs.about(row, column)));
      dialog.showModal();
    };
  }

  // Two fields to choose models: lists, or of very many models fields that suggest names.
  function formOf(root, pairs, open) {
    const { names } = pairs.data, uid = root.dataset.uid;
    const places = new Map(names.map((name, i) => [name, i]));
    const many = names.length > 1000;
    const status = make("p", { class: "note", role: "status" });
    const form = make("form", { class: "choose" });
    if (many) form.append(make("datalist", { id: `${uid}-names` }, ...names.map((name) => make("option", { value: name }))));
    const fields = ["First model", "Second model"].map((label, i) => {
      const id = `${uid}-m${i}`;
      const field = many ? make("input", { id, list: `${uid}-names`, autocomplete: "off" })
        : make("select", { id }, ...names.map((name) => make("option", { value: name }, name)));
      field.value = names[Math.min(i, names.length - 1)];
      form.append(make("label", { for: id }, label), field);
      return field;
    });
    form.append(make("button", { type: "submit" }, "Show the pair in full"), status);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const [row, column] = fields.map((field) => places.get(field.value));
      const wrong = row === undefined || column === undefined ? "There is no such model." : row === column ? "Choose two models." : "";
      status.textContent = wrong;
      if (!wrong) open(row, column);
    });
    return form;
  }

  // A table of few models: one cell is in the order of Tab, arrows go to the others.
  function useTable(table, pairs, open, tell) {
    table.setAttribute("role", "grid");
    const cells = [...table.querySelectorAll("td[data-row]")];
    const at = new Map(cells.map((cell) => [`${cell.dataset.row},${cell.dataset.column}`, cell.firstElementChild]));
    cells.forEach((cell, i) => {
      const row = Number(cell.dataset.row), column = Number(cell.dataset.column), { names } = pairs.data;
      const button = make("button", { type: "button", tabindex: i ? -1 : 0, "aria-label": `${names[row]} beside ${names[column]}: ${cell.title}` }, ...cell.childNodes);
      cell.removeAttribute("title");
      cell.replaceChildren(button);
      at.set(`${row},${column}`, button);
      const say = () => tell(button.getAttribute("aria-label"));
      button.addEventListener("click", () => open(row, column));
      button.addEventListener("mouseenter", say);
      button.addEventListener("focus", say);
      button.addEventListener("keydown", (event) => {
        const [down, right] = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key] ?? [0, 0];
        if (!down && !right) return;
        event.preventDefault();
        const next = at.get(`${row + down},${column + right}`) ?? at.get(`${row + 2 * down},${column + 2 * right}`);
        if (!next) return;
        button.tabIndex = -1;
        next.tabIndex = 0;
        next.focus();
      });
    });
  }

  function usePairs(root) {
    if (typeof DecompressionStream === "undefined") {
      root.append(make("p", { class: "note" }, "This browser is too old to show each pair in full: it cannot unpack the numbers. Any from 2023 on can."));
      return;
    }
    const pairs = new Pairs(JSON.parse(root.querySelector("script").textContent));
    const readout = make("p", { class: "readout", "aria-live": "polite" }, "Point at a pair to read it; press or click it to see it in full.");
    const tell = (text) => { readout.textContent = text; };
    const open = dialogOf(root, pairs);
    const table = root.querySelector("table.matrix");
    if (table) useTable(table, pairs, open, tell);
    else {
      const map = new PairMap(root, pairs, open, tell);
      root.append(map.node);
      setTimeout(() => pairs.load().then(() => map.draw()));
    }
    root.append(readout, formOf(root, pairs, open));
  }

  // Rows of very many models that stand in no table, found by a part of their names.
  function useSearch(root) {
    const { columns, name, rows } = JSON.parse(root.querySelector("script").textContent);
    const field = root.querySelector("input"), status = root.querySelector("[role=status]");
    const body = make("tbody");
    const head = make("tr", {}, ...columns.map((text) => make("th", { scope: "col" }, text)));
    const table = make("table", { class: "board" }, make("caption", { class: "unseen" }, "Models found"), make("thead", {}, head), body);
    table.hidden = true;
    const box = make("div", { class: "table tall", role: "group", "aria-label": "Models found, table" }, table);
    root.append(box);
    scrollable(box);
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase();
      const found = wanted ? rows.filter((row) => row[name].toLowerCase().includes(wanted)) : [];
      table.hidden = !found.length;
      status.textContent = wanted ? `${asCount(found.length)} found${found.length > 50 ? ", the best 50 shown" : ""}.` : "";
      body.replaceChildren(...found.slice(0, 50).map((row) => make("tr", {}, ...row.map((text, j) =>
        j === name ? make("th", { scope: "row" }, make("bdi", {}, text)) : make("td", {}, text)))));
    });
    root.hidden = false;
  }

  document.querySelectorAll(".pairs").forEach(usePairs);
  document.querySelectorAll(".more").forEach(useSearch);
})();
