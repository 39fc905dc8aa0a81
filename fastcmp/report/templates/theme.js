"use strict";
// Before the page is drawn: light or dark as chosen earlier, else as the system says.
try {
  const chosen = localStorage.getItem("fastcmp-theme");
  if (chosen) document.documentElement.dataset.theme = chosen;
} catch { /* nothing may be stored here */ }
