// Replaces the live part of a page every two seconds by a fresh fragment of itself.
"use strict";

const PERIOD_MS = 2000;
const live = document.getElementById("live");
const lost = document.getElementById("lost");
const beat = document.getElementById("beat");
const announcement = document.getElementById("announcement");
const filter = document.getElementById("filter");
let heardAt = Date.now();
let newest = 0;
let loggedOut = false;

/** What the search field asks for, from its first page on. */
function asked() {
  const pairs = [...new FormData(filter)].filter(([, value]) => value !== "");
  const text = new URLSearchParams(pairs).toString();
  return text ? `?${text}` : "";
}

/** Times on the clock in the reader's zone; where the pointer rests they are UTC. */
function localise(root) {
  for (const time of root.querySelectorAll("time.clock")) {
    const at = new Date(time.dateTime);
    if (!Number.isNaN(at.getTime())) time.textContent = at.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  }
}

/** Someone is copying something out of the table. */
function selecting() {
  const selection = document.getSelection();
  return selection && !selection.isCollapsed && live.contains(selection.anchorNode);
}

function show(html) {
  const focused = live.contains(document.activeElement)
    ? document.activeElement.getAttribute("href") : null;
  const left = live.querySelector(".table")?.scrollLeft ?? 0;
  live.innerHTML = html;
  localise(live);
  const table = live.querySelector(".table");
  if (table) table.scrollLeft = left;
  if (focused) live.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  const { announcement: text, title } = live.firstElementChild?.dataset ?? {};
  if (text && announcement.textContent !== text) announcement.textContent = text;
  if (title) document.title = title;
}

function showSilence() {
  const seconds = Math.round((Date.now() - heardAt) / 1000);
  const silent = seconds >= 3 * PERIOD_MS / 1000;
  beat.classList.toggle("silent", silent);
  lost.hidden = !silent;
  const text = `Warren has not answered for ${seconds} s. What you see is that old.`;
  if (silent && lost.textContent !== text) lost.textContent = text;
}

/** The session is over: what is shown stays, and is no longer renewed. */
function showLogin() {
  beat.classList.add("silent");
  lost.hidden = false;
  if (lost.querySelector("a")) return;
  const link = document.createElement("a");
  link.href = `${lost.dataset.login}?next=${encodeURIComponent(location.pathname + location.search)}`;
  link.textContent = "Log in again";
  lost.replaceChildren("You are no longer logged in. What you see is not renewed. ", link);
}

async function refresh() {
  const turn = ++newest;
  try {
    const answer = await fetch(live.dataset.fragment + location.search, {
      headers: { Accept: "text/html" },
      signal: AbortSignal.timeout(5 * PERIOD_MS),
    });
    loggedOut = answer.status === 401 && "login" in lost.dataset;
    if (!answer.ok && answer.status !== 404) throw new Error(String(answer.status));
    const html = await answer.text();
    heardAt = Date.now();
    if (turn !== newest || selecting()) return; // a later answer counts
    show(html);
    beat.classList.remove("pulse");
    requestAnimationFrame(() => beat.classList.add("pulse"));
  } catch {
    // The banner says so; the next turn tries again.
  }
}

async function run() {
  if (!document.hidden) await refresh();
  if (loggedOut) showLogin(); else showSilence();
  setTimeout(run, PERIOD_MS);
}

if (filter) {
  const apply = () => {
    history.replaceState(null, "", location.pathname + asked());
    refresh();
  };
  filter.addEventListener("input", apply);
  filter.addEventListener("submit", (event) => { event.preventDefault(); apply(); });
  filter.classList.add("scripted");
}
document.addEventListener("visibilitychange", () => { if (live && !document.hidden) refresh(); });
localise(document);
if (live) setTimeout(run, PERIOD_MS);
