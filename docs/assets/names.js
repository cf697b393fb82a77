// Names and roles that the theme leaves out: the buttons of a code block, tables that scroll, and sections whose title is a link.
"use strict";
(() => {
  let blocks = 0;
  const corrected = () => {
    document.querySelectorAll("nav.md-code__nav:not([aria-label])").forEach((nav) => {
      nav.setAttribute("aria-label", `Code ${++blocks}`);
    });
    document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])").forEach((table) => { table.tabIndex = 0; });
  };
  document.querySelectorAll("nav.md-nav[aria-labelledby]").forEach((nav) => {
    if (document.getElementById(nav.getAttribute("aria-labelledby"))?.textContent.trim()) return;
    nav.removeAttribute("aria-labelledby");
    nav.setAttribute("aria-label", nav.parentElement.querySelector("a").textContent.trim());
  });
  new MutationObserver(corrected).observe(document.body, { childList: true, subtree: true });
  corrected();
})();
