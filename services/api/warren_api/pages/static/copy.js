// Buttons that copy: what they name, what is at an address, or the page's address. They are there only where they work.
"use strict";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button.copy");
  if (!button) return;
  const { copy, copyFrom } = button.dataset;
  await navigator.clipboard.writeText(copyFrom ? await (await fetch(copyFrom)).text() : copy || location.href);
  const label = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 1500);
});
if (navigator.clipboard) document.documentElement.classList.add("copies");
