// Keys: ? shows those that the page has. All of them do what its links and buttons do as well.
"use strict";

const field = document.getElementById("q");
const keys = document.getElementById("keys");
const LINKS = "main tbody th a";
const TICKED = "tbody .tick :checked";

const row = () => document.activeElement?.closest("tbody tr");

/** The link of the next row, or of the one before; from outside the list, the first. */
function step(by) {
  const links = [...document.querySelectorAll(LINKS)];
  const at = row() ? links.findIndex((link) => row().contains(link)) : -1;
  const next = at < 0 ? links[0] : links[Math.min(Math.max(at + by, 0), links.length - 1)];
  next?.focus();
  next?.closest("tr").scrollIntoView({ block: "nearest" });
}

function unfold(open) {
  const details = row()?.querySelector("details");
  if (details) details.open = open ?? !details.open;
}

function tick() {
  row()?.querySelector(".tick input")?.click();
}

/** What does it on the page of a group or an incident. */
const own = (selector) => document.querySelector(`.subject ${selector}`);

/** Of the group that the page is about; else of those that are ticked, else of the row. */
function acknowledge() {
  const here = own('form[action^="/incidents/"] button:not([name])');
  if (here) return here.click();
  const scope = document.querySelector(TICKED) ? document.querySelector(".many") : row();
  const button = scope?.querySelector('button[value^="acknowledge"]');
  if (button) document.getElementById("many")?.requestSubmit(button);
}

/** Asks for how long. */
function silence() {
  const here = own('.menu[data-key="silence"]');
  if (here) return unfoldMenu(here);
  if (!document.querySelector(TICKED)) tick();
  const menu = document.querySelector(".many .menu");
  if (menu && document.querySelector(TICKED)) unfoldMenu(menu);
}

function unfoldMenu(menu) {
  menu.open = true;
  menu.querySelector("button, a")?.focus();
}

/** Closes menus; who was in one is led back to what opened it. */
function closeMenus() {
  for (const menu of document.querySelectorAll(".menu[open]")) {
    if (menu.contains(document.activeElement)) menu.querySelector("summary").focus();
    menu.open = false;
  }
}

/** Those of which the page has what they do something with. */
function showKeys() {
  for (const key of keys.querySelectorAll("[data-needs]")) key.hidden = !document.querySelector(key.dataset.needs);
  keys.showModal();
}

const DOES = {
  "/": () => { field?.focus(); field?.select(); },
  "?": showKeys,
  j: () => step(1),
  k: () => step(-1),
  x: tick,
  a: acknowledge,
  s: silence,
  ArrowRight: () => unfold(true),
  ArrowLeft: () => unfold(false),
  " ": () => unfold(),
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
  if (event.key === "Escape") closeMenus();
  if (event.target === field) {
    if (event.key !== "Escape") return;
    event.preventDefault(); // a browser would empty the field, and the list would stay as it is
    return field.blur();
  }
  if (event.target.closest("input:not([type=checkbox]), select, textarea")) return;
  const needsRow = event.key.startsWith("Arrow") || event.key === " ";
  if (needsRow && (!row() || event.target.closest("summary, button, input"))) return;
  const does = DOES[event.key];
  if (!does) return;
  event.preventDefault();
  does();
});

// A click with Shift ticks all from the box that was clicked before, or unticks them.
let before = null;
document.addEventListener("click", (event) => {
  const box = event.target.closest?.("tbody .tick input");
  if (!box) return;
  const all = [...boxes()], from = all.indexOf(before), to = all.indexOf(box);
  if (event.shiftKey && from >= 0) for (const each of all.slice(Math.min(from, to), Math.max(from, to) + 1)) each.checked = box.checked;
  before = box;
});

// One box ticks all that are shown.
const all = () => document.getElementById("all");
document.documentElement.classList.add("keyed");
document.addEventListener("change", (event) => {
  if (!event.target.closest(".tick")) return;
  if (event.target === all()) for (const box of boxes()) box.checked = all().checked;
  for (const box of boxes()) box.checked ? ticked.add(box.value) : ticked.delete(box.value);
  countTicked();
});
document.addEventListener("click", (event) => {
  if (event.target.id !== "untick") return;
  if (all()) all().checked = false;
  tickAgain(new Set());
});
document.addEventListener("submit", (event) => {
  if (event.target.id !== "many" || event.submitter?.name !== "ticked") return;
  ticked = new Set();
  sessionStorage.removeItem("ticked");
});

// Rows may leave the list and come back: by a search, a sort, another page of it.
const boxes = () => document.querySelectorAll("tbody .tick input");
let ticked = new Set();

function tickAgain(names) {
  ticked = names;
  for (const box of boxes()) box.checked = ticked.has(box.value);
  countTicked();
}

/** Only those that are shown are done something with: the bar says how many are not. */
function countTicked() {
  if (!document.getElementById("many")) return;
  sessionStorage.setItem("ticked", JSON.stringify([...ticked]));
  const bar = document.querySelector(".many");
  if (!bar) return;
  const shown = document.querySelectorAll(TICKED).length;
  bar.classList.toggle("away", ticked.size > shown);
  bar.querySelector(".ticked").textContent = shown;
  bar.querySelector(".unseen").textContent = ticked.size > shown ? `, ${ticked.size - shown} not shown` : "";
}
document.addEventListener("shown", () => tickAgain(ticked));
window.addEventListener("pageshow", () => tickAgain(new Set(JSON.parse(sessionStorage.getItem("ticked") ?? "[]"))));
