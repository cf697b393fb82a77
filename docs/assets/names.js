// Names and roles that the theme's scripts leave out: the buttons of a code block, and tables that scroll.
"use strict";
(() => {
  let blocks = 0;
  const corrected = () => {
    document.querySelectorAll("nav.md-code__nav:not([aria-label])").forEach((nav) => {
      nav.setAttribute("aria-label", `Code ${++blocks}`);
    });
    document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((table) => { table.tabIndex = 0; });
  };
  new MutationObserver(corrected).observe(document.body, { childList: true, subtree: true });
  corrected();
})();
