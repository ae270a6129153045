// Buttons that copy: what they name, or the page's address. They are there only where they work.
"use strict";

document.addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy || location.href);
  const label = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 1500);
});
if (navigator.clipboard) document.documentElement.classList.add("copies");
