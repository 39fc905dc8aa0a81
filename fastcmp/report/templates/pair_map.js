"use strict";
const PairMap = (() => {
  const KINDS = ["tied", "better", "worse", "even", "untested"];
  const { make } = fastcmp;

  // A map of many models: each point is coloured by the decision about the pair there.
  return class {
    constructor(root, pairs, open, tell) {
      Object.assign(this, { root, pairs, open, tell, x: 0, y: 0, shown: pairs.n, row: 0, column: 1 });
      const label = "Map of all pairs. Arrow keys choose a pair, Enter shows it in full, plus and minus zoom, 0 shows all models.";
      this.canvas = make("canvas", { tabindex: 0, role: "application", "aria-label": label });
      const buttons = [["Zoom in", 0.5], ["Zoom out", 2], ["All models", Infinity]].map(([name, factor]) => {
        const button = make("button", { type: "button" }, name);
        button.addEventListener("click", () => this.zoom(factor));
        return button;
      });
      this.node = make("div", { class: "map" }, make("div", { class: "tools" }, ...buttons), this.canvas);
      this.listen();
    }

    listen() {
      const { canvas } = this;
      canvas.addEventListener("keydown", (event) => this.key(event));
      canvas.addEventListener("focus", () => this.draw());
      canvas.addEventListener("blur", () => this.draw());
      canvas.addEventListener("pointerdown", (event) => { this.held = { x: event.offsetX, y: event.offsetY, moved: false, left: this.x, top: this.y }; });
      canvas.addEventListener("pointermove", (event) => this.point(event));
      canvas.addEventListener("pointerup", () => {
        const moved = this.held?.moved;
        this.held = null;
        if (!moved && this.over) this.open(this.row, this.column);
      });
      canvas.addEventListener("pointerleave", () => { this.held = null; });
      canvas.addEventListener("wheel", (event) => {
        if (!event.ctrlKey && !event.metaKey) return;
        event.preventDefault();
        this.zoom(event.deltaY > 0 ? 1.25 : 0.8);
      }, { passive: false });
      new ResizeObserver(() => this.draw()).observe(this.node);
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
      new MutationObserver(() => this.draw()).observe(document.documentElement, { attributes: true });
    }

    point(event) {
      const { held, cell } = this;
      if (held && event.buttons && Math.hypot(event.offsetX - held.x, event.offsetY - held.y) > 4) {
        held.moved = true;
        this.x = held.left - (event.offsetX - held.x) / cell;
        this.y = held.top - (event.offsetY - held.y) / cell;
        this.draw();
        return;
      }
      const column = Math.floor(this.x + (event.offsetX - this.gutter) / cell), row = Math.floor(this.y + (event.offsetY - this.head) / cell);
      this.over = event.offsetX > this.gutter && event.offsetY > this.head && row < this.pairs.n && column < this.pairs.n && row !== column;
      if (this.over) this.choose(row, column);
    }

    key(event) {
      const jump = event.shiftKey ? 10 : 1;
      const step = { ArrowUp: [-jump, 0], ArrowDown: [jump, 0], ArrowLeft: [0, -jump], ArrowRight: [0, jump] }[event.key];
      const factor = { "+": 0.5, "-": 2, 0: Infinity }[event.key];
      if (step) {
        const last = this.pairs.n - 1, clip = (x) => Math.max(0, Math.min(last, x));
        let row = clip(this.row + step[0]), column = clip(this.column + step[1]);
        if (row === column) { row = clip(row + Math.sign(step[0])); column = clip(column + Math.sign(step[1])); }
        if (row !== column) this.choose(row, column, true);
      } else if (factor) this.zoom(factor);
      else if (event.key === "Enter" || event.key === " ") this.open(this.row, this.column);
      else return;
      event.preventDefault();
    }

    choose(row, column, follow = false) {
      if (!this.pairs.isReady) return;
      if (row === this.row && column === this.column && this.told) return;
      Object.assign(this, { row, column, told: true });
      if (follow) {
        this.x = Math.min(Math.max(this.x, column + 1 - this.shown), column);
        this.y = Math.min(Math.max(this.y, row + 1 - this.shown), row);
      }
      this.tell(this.pairs.brief(row, column));
      this.draw();
    }

    zoom(factor) {
      const before = this.shown;
      this.shown = Math.max(Math.min(6, this.pairs.n), Math.min(this.pairs.n, before * factor));
      this.x = this.column + 0.5 - (this.column + 0.5 - this.x) * this.shown / before;
      this.y = this.row + 0.5 - (this.row + 0.5 - this.y) * this.shown / before;
      this.draw();
    }

    colours() {
      const found = {};
      for (const kind of [...KINDS, "self"]) {
        const swatch = make("span", { class: `swatch ${kind}` });
        this.node.append(swatch);
        found[kind] = getComputedStyle(swatch).backgroundColor.match(/[\d.]+/g).slice(0, 3).map(Number);
        swatch.remove();
      }
      return [...KINDS, "self"].map((kind) => found[kind]);
    }

    draw() {
      if (!this.pairs.isReady || this.waiting) return;
      this.waiting = requestAnimationFrame(() => { this.waiting = 0; this.paint(); });
    }

    paint() {
      const { canvas, pairs } = this, n = pairs.n, ratio = window.devicePixelRatio || 1;
      const width = Math.min(this.node.clientWidth, 760);
      if (!width) return;
      this.head = 20;
      this.gutter = (width - 44) / this.shown >= 11 ? Math.min(170, width * 0.35) : 44;
      const side = width - this.gutter;
      this.cell = side / this.shown;
      this.x = Math.max(0, Math.min(n - this.shown, this.x));
      this.y = Math.max(0, Math.min(n - this.shown, this.y));
      canvas.width = width * ratio;
      canvas.height = (side + this.head) * ratio;
      canvas.style.width = `${width}px`;
      canvas.style.height = `${side + this.head}px`;
      canvas.style.touchAction = this.shown < n ? "none" : "pan-y";
      const context = canvas.getContext("2d");
      this.paintPoints(context, Math.floor(side * ratio), ratio);
      this.paintWords(context, side, ratio);
    }

    paintPoints(context, size, ratio) {
      const { pairs, cell } = this, colours = this.colours(), image = context.createImageData(size, size);
      const own = colours.length - 1, pixels = new Uint32Array(image.data.buffer);
      const words = colours.map(([red, green, blue]) => (255 << 24 | blue << 16 | green << 8 | red) >>> 0);
      const last = pairs.n - 1, place = (from) => Int32Array.from({ length: size }, (_, u) => Math.min(last, Math.floor(from + u / ratio / cell)));
      const rows = place(this.y), columns = place(this.x);
      const isLine = (of, u) => cell >= 6 && u > 0 && of[u] !== of[u - 1];
      for (let v = 0, k = 0; v < size; v++) {
        for (let u = 0; u < size; u++, k++) {
          const blank = rows[v] === columns[u] || isLine(rows, v) || isLine(columns, u);
          pixels[k] = words[blank ? own : pairs.decision(rows[v], columns[u])];
        }
      }
      context.putImageData(image, Math.round(this.gutter * ratio), Math.round(this.head * ratio));
    }

    paintWords(context, side, ratio) {
      const { pairs, x, y, cell, gutter, head } = this, style = getComputedStyle(this.node);
      context.scale(ratio, ratio);
      context.fillStyle = style.color;
      context.font = `${Math.min(12, Math.max(9, cell - 2))}px ${style.fontFamily}`;
      context.textBaseline = "middle";
      const every = Math.max(1, 10 ** Math.ceil(Math.log10(28 / cell)));
      for (let i = Math.floor(y); i < Math.min(pairs.n, y + this.shown); i++) {
        const at = Math.min(head + (i + 0.5 - y) * cell, head + side - 6);
        if (at < head || at > head + side) continue;
        const named = cell >= 11;
        if (!named && (i + 1) % every && i) continue;
        context.save();
        context.beginPath();
        context.rect(0, head - 8, gutter - 6, side + 8);
        context.clip();
        context.textAlign = named ? "left" : "right";
        context.fillText(named ? `${i + 1} ${pairs.data.names[i]}` : String(i + 1), named ? 0 : gutter - 6, at);
        context.restore();
      }
      context.textAlign = "center";
      for (let j = Math.floor(x); j < Math.min(pairs.n, x + this.shown); j++) {
        const at = gutter + (j + 0.5 - x) * cell;
        if (at < gutter || at > gutter + side || ((j + 1) % every && j)) continue;
        context.fillText(String(j + 1), Math.min(at, gutter + side - 14), head / 2);
      }
      context.strokeStyle = style.color;
      context.lineWidth = 2;
      const box = Math.max(cell, 5);
      if (document.activeElement === this.canvas || this.told) {
        context.strokeRect(gutter + (this.column + 0.5 - x) * cell - box / 2, head + (this.row + 0.5 - y) * cell - box / 2, box, box);
      }
    }
  };
})();
