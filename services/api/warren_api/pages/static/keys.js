// Keys for the list of groups: / leads to the search, j and k from group to group.
"use strict";

const field = document.getElementById("q");
const LINKS = ".groups tbody th a";

/** The link of the next group, or of the one before; from outside the list, the first. */
function step(by) {
  const links = [...document.querySelectorAll(LINKS)];
  const row = document.activeElement?.closest("tr");
  const at = row ? links.findIndex((link) => row.contains(link)) : -1;
  const next = at < 0 ? links[0] : links[Math.min(Math.max(at + by, 0), links.length - 1)];
  next?.focus();
  next?.closest("tr").scrollIntoView({ block: "nearest" });
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target === field) {
    if (event.key === "Escape") field.blur();
    return;
  }
  if (event.target.closest("input, select, textarea")) return;
  const does = { "/": () => { field?.focus(); field?.select(); }, j: () => step(1), k: () => step(-1) }[event.key];
  if (!does) return;
  event.preventDefault();
  does();
});
