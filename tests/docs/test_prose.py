"""What people read first stays short, and its links lead somewhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SIZES = {
    "README.md": 5_000,
    "ARCHITECTURE.md": 12_000,
    "CHANGELOG.md": 15_000,
    "docs/overview.png": 150_000,
}
TEXTS = [
    "README.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs/decisions/README.md",
    *(
        str(path.relative_to(ROOT))
        for pattern in (
            "docs/*.md",
            "docs/recipes/*.md",
            "*/README.md",
            "services/*/README.md",
            "deploy/*/README.md",
        )
        for path in sorted(ROOT.glob(pattern))
    ),
]
WORDS = 40


def sentences(text: str) -> Iterator[str]:
    """Sentences of paragraphs, list items and table cells; code and pictures are none."""
    text = re.sub(r"```.*?```", "\n\n", text, flags=re.DOTALL)
    for block in re.split(r"\n\s*\n|\n(?=\s*(?:[*|#-]|\d+\.) ?)", text):
        for cell in block.split(" | "):
            yield from re.split(r"(?<=[.?!])\s+", " ".join(cell.split()))


def anchors(text: str) -> set[str]:
    """As GitHub makes them of headings."""
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("name", SIZES)
def test_it_keeps_its_size(name: str) -> None:
    assert (ROOT / name).stat().st_size <= SIZES[name]


@pytest.mark.parametrize("name", TEXTS)
def test_no_sentence_is_long(name: str) -> None:
    long = [each for each in sentences((ROOT / name).read_text()) if len(each.split()) > WORDS]
    assert long == []


def test_a_long_sentence_is_found() -> None:
    short, long = "word " * 39 + "word.", "word " * 40 + "word."
    found = [len(each.split()) for each in sentences(f"# Head\n\n{short}\n* {long} {short}\n")]
    assert found == [2, 40, 42, 40]


@pytest.mark.parametrize("name", TEXTS)
def test_links_within_the_repository_lead_somewhere(name: str) -> None:
    page = ROOT / name
    for target in re.findall(r"\]\((?!\w+:)([^)\s]+)\)", page.read_text()):
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        if anchor:
            assert anchor in anchors(file.read_text()), target


def test_decisions_are_numbered_and_dated_and_say_why() -> None:
    index = (ROOT / "docs/decisions/README.md").read_text()
    # A number is not given twice, and not again once its page is gone.
    for page in sorted((ROOT / "docs/decisions").glob("[0-9]*.md")):
        text, number = page.read_text(), int(page.name[:4])
        assert re.match(rf"# {number}\. .+\n\n20\d\d-\d\d-\d\d\n", text), page.name
        heads = re.findall(r"^## (.+)$", text, re.MULTILINE)
        assert heads == ["Context", "Decision", "Consequences"], page.name
        assert f"({page.name})" in index
        assert not [each for each in sentences(text) if len(each.split()) > WORDS], page.name
