// Asks every two seconds for a fresh fragment of the page, and makes its live part as that is.
import { morph } from "./morph.js";

const PERIOD_MS = 2000;
const TYPED_MS = 150; // of nobody typing, until what was typed is asked for
const HOUR_AND_MINUTE = { hour: "2-digit", minute: "2-digit", hourCycle: "h23" };
const live = document.getElementById("live");
const lost = document.getElementById("lost");
const alarm = document.getElementById("alarm");
const age = document.getElementById("age");
const beat = document.getElementById("beat");
const announcement = document.getElementById("announcement");
const filter = document.getElementById("filter");
let shown = "";
let shownAt = Date.now();
let askedInVainSince = null; // not counting the time while nobody could see the page
let hiddenAt = Date.now();
let warned = "";
let asking = null;
let next;

/** What the search field asks for, from its first page on. */
function asked() {
  const pairs = [...new FormData(filter)].filter(([, value]) => value !== "");
  const text = new URLSearchParams(pairs).toString();
  return text ? `?${text}` : "";
}

/** The zone that the reader wants times in: their own, or UTC. */
export const zone = () => localStorage.getItem("zone") === "UTC" ? "UTC" : Intl.DateTimeFormat().resolvedOptions().timeZone;

/** Times on the clock in that zone, of another day with the day; where the pointer rests they are UTC. */
function localise(root) {
  const timeZone = zone(), today = new Date();
  const part = (at, options) => at.toLocaleDateString("en", { ...options, timeZone });
  for (const time of root.querySelectorAll("time.clock")) {
    const at = new Date(time.dateTime);
    if (Number.isNaN(at.getTime())) continue;
    const day = part(at, {}) === part(today, {}) && !time.matches(".dated") ? {} : { day: "numeric", month: "short" };
    if (part(at, { year: "numeric" }) !== part(today, { year: "numeric" })) day.year = "numeric";
    time.textContent = at.toLocaleString([], { ...day, ...HOUR_AND_MINUTE, timeZone });
  }
  untilNine(root);
}

/** Nine in the morning of that zone instead of UTC's, as the server is asked for it. */
function untilNine(root) {
  const [hour, minute] = new Date().toLocaleTimeString("en", { ...HOUR_AND_MINUTE, timeZone: zone() }).split(":").map(Number);
  const now = new Date();
  const ahead = hour * 60 + minute - now.getUTCHours() * 60 - now.getUTCMinutes();
  const nine = (9 * 60 - ahead + 2880) % 1440;
  const utc = `${Math.floor(nine / 60)}:${String(nine % 60).padStart(2, "0")}`;
  for (const choice of root.querySelectorAll(".menu button, .asking option")) {
    if (!choice.textContent.includes("ntil 09:00")) continue;
    choice.value = utc;
    choice.textContent = choice.textContent.replace(" UTC", "");
  }
}

/** Says in which zone times are, and changes it. */
function nameZone() {
  const named = document.getElementById("zone");
  const button = Object.assign(document.createElement("button"), { type: "button", id: "zone", className: "zone" });
  button.textContent = `Times in ${zone()}`;
  button.title = zone() === "UTC" ? "Show times in your own zone" : "Show times in UTC";
  button.addEventListener("click", () => {
    localStorage.setItem("zone", zone() === "UTC" ? "" : "UTC");
    localise(document);
    nameZone();
    document.getElementById("zone").focus();
  });
  named.replaceWith(button);
}

/** Where the reader has begun and ended to select something. */
function selected() {
  const { anchorNode, anchorOffset, focusNode, focusOffset, isCollapsed } = document.getSelection();
  return isCollapsed ? null : { anchorNode, anchorOffset, focusNode, focusOffset };
}

/** Selects that again, as far as it is still there: a row that was moved, a text that has changed. */
function selectAgain(was) {
  const now = selected();
  if (!was || Object.keys(was).every((part) => now?.[part] === was[part])) return;
  const ends = [[was.anchorNode, was.anchorOffset], [was.focusNode, was.focusOffset]];
  if (!ends.every(([node]) => node.isConnected)) return;
  document.getSelection().setBaseAndExtent(
    ...ends.flatMap(([node, offset]) => [node, Math.min(offset, (node.nodeValue ?? node.childNodes).length)]),
  );
}

/** Leads the reader back to a link that has moved. */
function focusAgain(was) {
  if (document.activeElement === was) return;
  const href = was.getAttribute("href");
  const again = was.isConnected || !href ? was : live.querySelector(`a[href="${CSS.escape(href)}"]`);
  again?.focus({ preventScroll: true });
}

/** Shows a fragment; false where the text is none, but somebody else's page. */
function show(html) {
  if (html !== shown) {
    const { content } = Object.assign(document.createElement("template"), { innerHTML: html });
    if (content.firstElementChild?.dataset.announcement === undefined) return false;
    localise(content);
    const selection = selected();
    const focused = document.activeElement;
    morph(live, content);
    selectAgain(selection);
    focusAgain(focused);
    document.dispatchEvent(new Event("shown"));
    shown = html;
  }
  const { announcement: text, title } = live.firstElementChild.dataset;
  if (text && announcement.textContent !== text) announcement.textContent = text;
  if (title && document.title !== title) document.title = title;
  if (warned === "") showState();
  return true;
}

/** Whether what is shown is how it is: the page itself may say that nothing is known. */
function showState() {
  const isOld = live.querySelector(".doubted") !== null;
  beat.classList.toggle("old", isOld);
  beat.textContent = isOld ? "Data is old" : "Live";
}

/** An alert is read out whenever its text changes: what changes all the time stands beside it. */
function warn(text, aside = "", ...links) {
  if (age.textContent !== aside) age.textContent = aside;
  if (warned === text) return;
  warned = text;
  beat.classList.toggle("silent", text !== "");
  if (text === "") showState();
  else beat.textContent = "Not live";
  lost.hidden = text === "";
  alarm.replaceChildren(text, ...links);
}

function showSilence() {
  if (document.hidden || alarm.querySelector("a")) return;
  const silentMs = askedInVainSince === null ? 0 : Date.now() - askedInVainSince;
  if (silentMs < 3 * PERIOD_MS) return;
  warn("Warren does not answer. What you see is old.", `Seen ${Math.round((Date.now() - shownAt) / 1000)}s ago.`);
}

/** The session is over: what is shown stays, and is no longer renewed. */
function showLogin() {
  const link = document.createElement("a");
  link.href = `${lost.dataset.login}?next=${encodeURIComponent(location.pathname + location.search)}`;
  link.textContent = "Log in again";
  warn("You are no longer logged in. What you see is not renewed. ", "", link);
}

/** Asks once, instead of what is being asked, and again in two seconds if somebody can see it. */
async function refresh() {
  clearTimeout(next);
  asking?.abort();
  const own = asking = new AbortController();
  const deadline = setTimeout(() => own.abort(), 5 * PERIOD_MS);
  askedInVainSince ??= Date.now();
  try {
    const answer = await fetch(live.dataset.fragment + location.search, {
      headers: { Accept: "text/html" },
      signal: own.signal,
    });
    const html = await answer.text(), before = shown;
    if (own !== asking) return;
    if (answer.status === 401 && "login" in lost.dataset) {
      askedInVainSince = null;
      showLogin();
    } else if ((answer.ok || [404, 503].includes(answer.status)) && show(html)) {
      shownAt = Date.now();
      askedInVainSince = null;
      warn("");
      if (shown === before) return; // nothing is painted
      beat.classList.remove("pulse");
      requestAnimationFrame(() => beat.classList.add("pulse"));
    }
  } catch {
    // The banner says so; the next turn tries again.
  } finally {
    clearTimeout(deadline);
    if (own === asking && !document.hidden) next = setTimeout(refresh, PERIOD_MS);
  }
}

/** Opens a page that has no live part once there is something to show. */
async function openPage() {
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (answer && answer.status < 500) location.replace(location.pathname + location.search);
  else setTimeout(openPage, PERIOD_MS);
}

/** Nobody is asked while nobody looks, and whoever comes back sees what was known last until there is an answer. */
function lookedAt() {
  if (document.hidden) {
    hiddenAt = Date.now();
    clearTimeout(next);
  } else {
    if (askedInVainSince !== null) askedInVainSince += Date.now() - hiddenAt;
    refresh();
  }
}

if (filter) {
  let typed;
  const apply = () => {
    clearTimeout(typed);
    // One entry for a search, however it was typed: back leads to what was shown before it.
    const url = location.pathname + asked();
    if (history.state?.isTyped) history.replaceState(history.state, "", url);
    else if (url !== location.pathname + location.search) history.pushState({ isTyped: true }, "", url);
    refresh();
  };
  filter.addEventListener("input", () => {
    clearTimeout(typed);
    typed = setTimeout(apply, TYPED_MS);
  });
  filter.addEventListener("submit", (event) => { event.preventDefault(); apply(); });
  window.addEventListener("popstate", () => {
    clearTimeout(typed);
    filter.elements.q.value = new URLSearchParams(location.search).get("q") ?? "";
    refresh();
  });
  filter.classList.add("scripted");
}
localise(document);
nameZone();
if (live) {
  showState();
  document.addEventListener("visibilitychange", lookedAt);
  setInterval(showSilence, PERIOD_MS / 2);
  if (!document.hidden) next = setTimeout(refresh, PERIOD_MS);
} else if (document.querySelector("[data-reading]")) setTimeout(openPage, PERIOD_MS);
