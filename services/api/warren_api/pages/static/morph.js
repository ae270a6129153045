// Makes elements as others are, and keeps those that stay: with focus, selection, scroll position and tooltip.

const isElement = (node) => node.nodeType === Node.ELEMENT_NODE;

/** What an element is among its siblings, whatever it says: its id or data-key, or where it leads; a row, where its head does. */
function keyOf(element) {
  const leads = element.nodeName === "TR" ? element.querySelector("th a") : element;
  return element.id || element.dataset.key || leads?.getAttribute("href") || "";
}

/** By which names a node is found again: at first as one that looks alike, then, without a key, as any of its kind. */
const NAMES = [
  (node) => isElement(node) ? `${node.nodeName} ${keyOf(node) || `.${node.getAttribute("class")}`}` : node.nodeName,
  (node) => isElement(node) && !keyOf(node) ? node.nodeName : null,
];

/** For each node of `wanted` the one of `present` that becomes it, where there is one. */
function pair(present, wanted) {
  const pairs = new Map();
  for (const nameOf of NAMES) {
    const taken = new Set(pairs.values());
    const left = new Map();
    for (const node of present) {
      const name = taken.has(node) ? null : nameOf(node);
      if (name !== null) left.set(name, [...(left.get(name) ?? []), node]);
    }
    for (const node of wanted) {
      const found = pairs.has(node) ? undefined : left.get(nameOf(node))?.shift();
      if (found) pairs.set(node, found);
    }
  }
  return pairs;
}

function morphAttributes(target, source) {
  // Whether something is unfolded is the reader's.
  const isTheirs = (name) => target.nodeName === "DETAILS" && name === "open";
  for (const { name } of [...target.attributes]) {
    if (!source.hasAttribute(name) && !isTheirs(name)) target.removeAttribute(name);
  }
  for (const { name, value } of source.attributes) {
    if (target.getAttribute(name) !== value && !isTheirs(name)) target.setAttribute(name, value);
  }
}

/** Puts `children` into this order. An element that is moved loses focus and scroll position, so as few are as may be. */
function place(parent, children) {
  if (children.every((node, at) => node === parent.childNodes[at])) return;
  for (const node of [...parent.childNodes]) if (!isElement(node)) node.remove();
  const elements = children.filter(isElement);
  const focused = elements.findIndex((element) => element.contains(document.activeElement));
  const rest = focused >= 0 ? focused : Math.max(elements.findIndex((element) => element.parentNode === parent), 0);
  if (elements.length && elements[rest].parentNode !== parent) parent.append(elements[rest]);
  for (let at = rest - 1; at >= 0; at--) {
    if (elements[at].nextElementSibling !== elements[at + 1]) elements[at + 1].before(elements[at]);
  }
  for (let at = rest + 1; at < elements.length; at++) {
    if (elements[at].previousElementSibling !== elements[at - 1]) elements[at - 1].after(elements[at]);
  }
  for (let at = children.length - 1; at >= 0; at--) {
    if (!isElement(children[at])) parent.insertBefore(children[at], children[at + 1] ?? null);
  }
}

/** Makes all that is in `target` as it is in `source`, which is used up. */
export function morph(target, source) {
  const wanted = [...source.childNodes];
  const pairs = pair([...target.childNodes], wanted);
  const staying = new Set(pairs.values());
  for (const node of [...target.childNodes]) if (!staying.has(node)) node.remove();
  place(target, wanted.map((node) => pairs.get(node) ?? node));
  for (const [fresh, kept] of pairs) {
    if (isElement(kept)) {
      morphAttributes(kept, fresh);
      morph(kept, fresh);
    } else if (kept.nodeValue !== fresh.nodeValue) kept.nodeValue = fresh.nodeValue;
  }
}
