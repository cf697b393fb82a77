// The search by error text on the page of the rules: the judge's page finds the rule. The text is behind `#`, which browsers do not send.
"use strict";
for (const form of document.querySelectorAll("form.find-rule")) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = form.querySelector("textarea").value.trim();
    if (text) location.href = `${form.action}#${new URLSearchParams({ text })}`;
  });
}
