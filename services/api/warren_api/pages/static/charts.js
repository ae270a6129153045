// Charts of one page share a crosshair; dragging over one leads to the time that was dragged over.
// A pointer is a mouse, a pen or a finger. Without this, hovers and links say and do the same.
"use strict";

import { zone } from "./refresh.js";

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const SHORTEST_MS = 600_000; // the page shows no less
let from = null;

/** The chart below the pointer, and the share of its width at which the pointer is. */
function under(event) {
  const svg = event.target.closest?.("svg.chart");
  if (!svg) return null;
  const box = svg.getBoundingClientRect();
  return { svg, share: Math.min(Math.max((event.clientX - box.left) / box.width, 0), 1) };
}

/** What the chart says at that share of its width: the words of its hover there. */
function said(svg, share) {
  const x = share * svg.viewBox.baseVal.width;
  const hover = [...svg.querySelectorAll(".hover")].find((each) => {
    const start = Number(each.getAttribute("x"));
    return x >= start && x <= start + Number(each.getAttribute("width"));
  });
  return inZone(hover?.textContent ?? "", svg);
}

/** A time of day in UTC at the beginning of what a chart says, on the clock of the page. */
function inZone(text, svg) {
  const end = Number(svg.closest(".charts")?.dataset.end);
  const [utc, day, time] = /^(\d\d \w{3} )?(\d\d:\d\d(?::\d\d)?) UTC/.exec(text) ?? [];
  if (!utc || !end) return text;
  const newest = new Date(end);
  let at = new Date(`${day ?? `${newest.getUTCDate()} ${MONTHS[newest.getUTCMonth()]} `}${newest.getUTCFullYear()} ${time} UTC`);
  if (at > newest) at = day ? new Date(at.setUTCFullYear(at.getUTCFullYear() - 1)) : new Date(at - 86_400_000);
  const date = day ? { day: "numeric", month: "short" } : {};
  const seconds = time.length > 5 ? { second: "2-digit" } : {};
  const local = at.toLocaleString([], { ...date, hour: "2-digit", minute: "2-digit", ...seconds, hourCycle: "h23", timeZone: zone() });
  return local + text.slice(utc.length);
}

/** What a browser shows itself where the pointer rests. */
function retitle(event) {
  const svg = event.target.closest?.("svg.chart"), title = event.target.querySelector?.("title");
  if (svg && title && event.target !== svg) title.textContent = inZone(title.textContent, svg);
}

function cross(share) {
  for (const svg of document.querySelectorAll(".charts svg.chart")) {
    const x = share === null ? -1 : share * svg.viewBox.baseVal.width;
    for (const end of ["x1", "x2"]) svg.querySelector(".cross").setAttribute(end, x);
    const readout = svg.closest("figure").querySelector(".readout");
    if (readout) readout.textContent = share === null ? "" : said(svg, share);
  }
}

function zoom(svg, one, other) {
  const charts = svg.closest(".charts[data-start]");
  if (!charts) return;
  const start = Number(charts.dataset.start), length = Number(charts.dataset.end) - start;
  const [a, b] = [one, other].sort((x, y) => x - y).map((share) => Math.round(start + share * length));
  if ((b - a) / length < 0.02) return; // a click
  const half = Math.max(SHORTEST_MS - (b - a), 0) / 2;
  location.search = new URLSearchParams({ from: Math.round(a - half), to: Math.round(b + half) });
}

document.addEventListener("pointerover", retitle);
document.addEventListener("pointermove", (event) => cross(under(event)?.share ?? null));
document.addEventListener("pointerdown", (event) => { from = event.button === 0 ? under(event) : null; });
document.addEventListener("pointerup", (event) => {
  const to = under(event);
  if (from && to?.svg === from.svg) zoom(to.svg, from.share, to.share);
  from = null;
});
