"""`python -m warren_docs.budgets [--lower]`: hold the repository to the budgets in pyproject.toml.

A budget only falls. Who raises one writes the day and the reason into `raised`, and pays for it
with another one: sums do not rise. `--lower` sets each to what stands. A rule of `progress` has to
be worth something, by the table that `make plots` writes.
"""

import ast
import io
import json
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from warren_core.evaluation.progress import RULES
from warren_core.evaluation.track import Figure, Mark

ROOT = Path(__file__).parents[2]
FOLDER = re.compile(r"(?:(?:services|shared|deploy|tests)/)?[^/]+")
PAGES = ("settings", "metrics", "topics", "tables")
TABLE = re.compile(r"^\[tool\.warren\.budgets\.\w+\]\n.*?(?=^\[(?!tool\.warren)|\Z)", re.M | re.S)
#: A row of what a rule is worth: its name, and points of F1 in each half of the kinds.
WORTH = re.compile(r"^\| ([^|]+) \| (-?\d+\.\d) \| (-?\d+\.\d) \|$", re.M)
#: Points of F1 that a rule has to be worth in one half at least; less is chance.
LEAST = 0.5
Budgets = dict[str, dict[str, int]]
#: Words for which the field has a term: notified, is stuck, again, requested.
STRANGE = {"told", "stands", "anew", "goes", "asked", "brief", "course", "whoever", "nobody"}


def git(*arguments: str) -> str:
    """Return what git prints; nothing where it fails, as without a commit before."""
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout


def size(text: str) -> tuple[int, int]:
    """Return the statements and the nodes of a module, without its docstrings."""
    nodes = list(ast.walk(ast.parse(text)))
    values = [node.value for node in nodes if isinstance(node, ast.Expr)]
    docstrings = sum(isinstance(v, ast.Constant) and isinstance(v.value, str) for v in values)
    statements = sum(isinstance(node, ast.stmt) for node in nodes)
    return statements - docstrings, len(nodes) - 2 * docstrings


def literals(text: str) -> int:
    """Return the number of numeric literals in a module, 0 and 1 apart."""
    values = [node.value for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Constant)]
    return sum(type(value) in (int, float) and value not in (0, 1) for value in values)


def strange(text: str) -> int:
    """Return how many names in a module have a word for which the field has a term."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    names = (each.string for each in tokens if each.type == tokenize.NAME)
    words = (re.sub("([A-Z])", r"_\1", name).lower().split("_") for name in names)
    return sum(not STRANGE.isdisjoint(each) for each in words)


def standing() -> Budgets:
    """Return what stands now: sizes by package, rows of the catalogues, what `make test` took."""
    statements, nodes, odd = Counter[str](), Counter[str](), 0
    for name in git("ls-files", "-z", "-co", "--exclude-standard", "*.py").strip("\0").split("\0"):
        path = ROOT / name
        folder = FOLDER.match(str(path.parent.relative_to(ROOT)))
        if folder and path.exists():
            counts = size(path.read_text())
            statements[folder[0]] += counts[0]
            if not folder[0].startswith(("tests", "benchmarks")):
                odd += strange(path.read_text())
            nodes[folder[0]] += counts[1]
    pages = {name: (ROOT / f"docs/{name}.md").read_text() for name in PAGES}
    rules = (ROOT / "shared/warren_core/evaluation").glob("*.py")
    rows = {name: len(re.findall(r"^\| `", text, re.M)) for name, text in pages.items()} | {
        "tables": pages["tables"].count("\n## "),
        "rules": len(RULES),
        "names with words that are no terms": odd,
        "parameters": sum(len(rule.parameters) for rule in RULES),
        "remembered numbers of a partition": len(Mark) + len(Figure),
        "literals in the rules": sum(literals(path.read_text()) for path in rules),
    }
    file = ROOT / ".warren/suite.json"
    run = json.loads(file.read_text()).get("test") if file.exists() else None
    suite = {**run["started"], "CPU seconds": run["CPU seconds"]} if run else {}
    return {"statements": statements, "nodes": nodes, "rows": rows, "suite": suite}


def declared(text: str) -> tuple[Budgets, dict[str, str]]:
    """Return the budgets in a pyproject.toml, and why which of them were raised."""
    table = tomllib.loads(text).get("tool", {}).get("warren", {}).get("budgets", {})
    return {kind: table[kind] for kind in table if kind != "raised"}, table.get("raised", {})


def total(numbers: dict[str, int], part: str) -> int:
    """Return the sum of the product, or that of tests and benchmarks."""
    checks = ("tests", "benchmarks")
    return sum(n for name, n in numbers.items() if name.startswith(checks) == (part == "tests"))


def complaints(stands: Budgets, text: str, before: str) -> list[str]:
    """Return what is above its budget, and budgets that rose without a new reason or a payment."""
    (now, raised), (then, raised_before) = declared(text), declared(before)
    said = [f"the budgets of {kind} are gone" for kind in then if kind not in now]
    for kind, limits in now.items():
        for name, number in sorted(stands[kind].items()):
            if number > limits.get(name, 0):
                said.append(f"{name}: {number} {kind}, the budget is {limits.get(name, 0)}")
        earlier = then.get(kind, limits)
        for name, limit in limits.items():
            reason = f"{kind} of {name}"
            if limit > earlier.get(name, 0) and raised.get(reason) == raised_before.get(reason):
                said.append(f"{name}: the budget of {kind} rose, and `raised` has no new reason")
        for part in ("product", "tests") if kind in ("statements", "nodes") else ():
            if total(limits, part) > total(earlier, part):
                said.append(f"{part}: the sum of {kind} rose, another package has to pay")
    return said


def worthless(page: str, rules: list[str]) -> list[str]:
    """Return what docs/evaluation.md does not say of the rules, and those worth too little."""
    worth = {name: max(float(half), float(other)) for name, half, other in WORTH.findall(page)}
    return [
        *(
            f"rule {name}: not measured yet, run `make plots`"
            for name in rules
            if name not in worth
        ),
        *(
            f"rule {name}: measured, but gone: run `make plots`"
            for name in worth
            if name not in rules
        ),
        *(
            f"rule {name}: worth less than {LEAST} points of F1 in both halves"
            for name, points in worth.items()
            if points < LEAST
        ),
    ]


def lowered(text: str, stands: Budgets) -> str:
    """Return the pyproject.toml with each budget set to what stands, where that is less."""
    now, raised = declared(text)
    tables = {
        kind: {n: min(c, now.get(kind, counts).get(n, 0)) for n, c in sorted(counts.items())}
        for kind, counts in stands.items()
        if kind != "suite"
    }
    every: dict[str, Mapping[str, object]] = {**tables, "suite": now.get("suite", {})}
    written = [
        "\n".join(
            (
                f"[tool.warren.budgets.{kind}]",
                *(f'"{n}" = {json.dumps(v)}' for n, v in rows.items()),
            )
        )
        for kind, rows in (every | {"raised": raised}).items()
    ]
    return TABLE.sub("", text).rstrip() + "\n\n" + "\n\n".join(written) + "\n"


def main() -> int:
    """Print what stands beside its budget; return 1 where something is above it."""
    file, stands = ROOT / "pyproject.toml", standing()
    if "--lower" in sys.argv:
        file.write_text(lowered(file.read_text(), stands))
    text = file.read_text()
    before = git("show", "HEAD:pyproject.toml")
    before = git("show", "HEAD~1:pyproject.toml") if before == text else before
    for kind, limits in declared(text)[0].items():
        print(kind)
        for part in ("product", "tests") if kind in ("statements", "nodes") else ():
            print(f"  all of {part:29}{total(stands[kind], part):9} of {total(limits, part)}")
        for name, limit in limits.items():
            print(f"  {name:36}{stands[kind].get(name, 0):9} of {limit}")
    said = complaints(stands, text, before)
    said += worthless((ROOT / "docs/evaluation.md").read_text(), [rule.name for rule in RULES])
    print(*(f"refused: {line}" for line in said), sep="\n", file=sys.stderr)
    return 1 if said else 0


if __name__ == "__main__":
    sys.exit(main())
