"use strict";
/* Tables that are sorted and searched, a switch between light and dark. Without this
   script the page says the same. */
const fastcmp = (() => {
  const SEARCHED = 12; // rows of a table above which it can be searched

  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
  };

  /** Say something to who does not see the page. */
  const announce = (text) => {
    document.getElementById("announcement").textContent = text;
  };

  /** The first number in a text, or NaN. */
  const numberIn = (text) => {
    if (/^[^\d]*inf/.test(text)) return text.includes("-inf") ? -Infinity : Infinity;
    const found = text.replace(/(\d),(?=\d{3})/g, "$1").match(/[-+\u2212]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?/i);
    return found ? Number(found[0].replace("\u2212", "-")) : NaN;
  };

  const collator = new Intl.Collator("en", { numeric: true });

  const valueOf = (row, column) => {
    const cell = row.cells[column];
    return cell ? cell.dataset.value ?? cell.textContent.trim() : "";
  };

  /** Sort the rows by a column, 1 upwards or -1 downwards; gaps come last. */
  const sortRows = (rows, column, isNumber, sign) => {
    const keyed = rows.map((row, place) => {
      const text = valueOf(row, column);
      return { row, place, key: isNumber ? numberIn(text) : text };
    });
    const isGap = ({ key }) => key === "" || Number.isNaN(key);
    const compare = isNumber
      ? (x, y) => (x.key < y.key ? -1 : x.key > y.key ? 1 : 0)
      : (x, y) => collator.compare(x.key, y.key);
    keyed.sort((x, y) =>
      isGap(x) - isGap(y) || (isGap(x) ? 0 : sign * compare(x, y)) || x.place - y.place);
    return keyed.map(({ row }) => row);
  };

  /** Let the headings of a table sort it. */
  const sortable = (table) => {
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const headings = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    headings.forEach((heading, column) => {
      if (!heading.textContent.trim() && !heading.dataset.value) return;
      const button = make("button", { type: "button" }, ...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const before = heading.getAttribute("aria-sort");
        const sign = before === "ascending" ? -1 : before === "descending" ? 0 : 1;
        headings.forEach((other) => other.removeAttribute("aria-sort"));
        const isNumber = heading.classList.contains("num");
        const sorted = sign ? sortRows(rows, column, isNumber, sign) : rows;
        body.append(...sorted);
        const way = { 1: "ascending", "-1": "descending" }[sign];
        if (way) heading.setAttribute("aria-sort", way);
        announce(way ? `Sorted by ${button.textContent}, ${way}` : "In the first order");
      });
    });
  };

  /** Put a field above a long table that shows only rows with all words typed. */
  const searchable = (table) => {
    const rows = [...table.tBodies[0].rows];
    if (rows.length <= SEARCHED) return;
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const field = make("input", { type: "search", autocomplete: "off" });
    const count = make("span", {}, `${rows.length} rows`);
    field.addEventListener("input", () => {
      const words = field.value.toLowerCase().split(/\s+/);
      let shown = 0;
      rows.forEach((row, i) => {
        row.hidden = !words.every((word) => texts[i].includes(word));
        shown += !row.hidden;
      });
      count.textContent = shown < rows.length ? `${shown} of ${rows.length} rows` : `${rows.length} rows`;
      announce(count.textContent);
    });
    const box = make("div", { class: "search" }, make("label", {}, "Search", field), count);
    (table.closest(".table") ?? table).before(box);
  };

  /** Let the keyboard reach what is scrolled sideways, and only that. */
  const scrollable = (box) => {
    const update = () => {
      if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
      else box.removeAttribute("tabindex");
    };
    new ResizeObserver(update).observe(box);
    update();
  };

  const switchTheme = (button) => {
    const root = document.documentElement;
    const system = matchMedia("(prefers-color-scheme: dark)");
    const isDark = () => (root.dataset.theme ?? (system.matches ? "dark" : "light")) === "dark";
    const label = () => { button.textContent = isDark() ? "Light colours" : "Dark colours"; };
    button.addEventListener("click", () => {
      root.dataset.theme = isDark() ? "light" : "dark";
      try { localStorage.setItem("fastcmp-theme", root.dataset.theme); } catch { /* not kept */ }
      label();
    });
    system.addEventListener("change", label);
    label();
    button.hidden = false;
  };

  document.querySelectorAll("table[data-sortable]").forEach((table) => {
    sortable(table);
    searchable(table);
  });
  document.querySelectorAll(".table").forEach(scrollable);
  switchTheme(document.querySelector(".theme"));
  return { announce, make, scrollable, searchable, sortable };
})();
