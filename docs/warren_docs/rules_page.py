"""The tables of the rules of `progress` in docs/evaluation.md; the rest of the page is written."""

from pathlib import Path

from warren.words import duration
from warren_core.evaluation.progress import RULES
from warren_core.evaluation.rule import BY, meanings

PAGE = Path(__file__).parents[1] / "evaluation.md"


def pages() -> dict[str, str]:
    """The page with what the code says of its rules."""
    rules = ["| rule | in a sentence | what it learns | when it speaks |", "|---|---|---|---|"]
    rules += [f"| {r.name} | {r.sentence} | {r.learns} | {r.speaks} |" for r in RULES]
    rows = ["| parameter | of | is | what it means |", "|---|---|---|---|"]
    for rule in RULES:
        for name in rule.parameters:
            value, (unit, text) = getattr(BY, name), meanings()[name]
            shown = duration(value) if unit == "ms" else f"{value:g} {unit}"
            rows.append(f"| `{name}` | {rule.name} | {shown} | {text} |")
    page = PAGE.read_text()
    for name, table in (("rules", rules), ("parameters", rows)):
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = page.split(begin)
        page = "\n".join([before + begin, *table, "", end + rest.split(end)[1]])
    return {PAGE.name: page}
