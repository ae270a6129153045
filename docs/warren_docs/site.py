"""The docs as a site: the repository's Markdown, as it lies there, built by Zensical.

No page loads anything from elsewhere. `llms.txt` lists the pages for readers that are programs
(https://llmstxt.org).
"""

import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONFIGURATION = ROOT / "docs/zensical.toml"
SHOWN = ("*.md", "*.yml", "docs/*.png", "deploy/grafana/*.json", "deploy/helm/*")
_TITLE = re.compile("^# (.+)", re.M)


def main(into: Path) -> None:
    """Write the site to `into`/html. Ends the process with 1 when a link leads nowhere."""
    shutil.rmtree(into, ignore_errors=True)
    pages = into / "pages"
    listed = subprocess.check_output(["git", "ls-files", "-z", *SHOWN], cwd=ROOT, text=True)
    for name in filter(None, listed.split("\0")):
        to = pages / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, to)
    (pages / "llms.txt").write_text("\n".join(llms(pages)) + "\n")
    shutil.copy(CONFIGURATION, into)
    built = subprocess.run(
        ["zensical", "build", "--strict", "--config-file", into / CONFIGURATION.name],
        capture_output=True,
        text=True,
        check=False,
    )
    if built.returncode:
        sys.exit(f"{built.stdout}{built.stderr.partition('Traceback')[0]}")


def llms(pages: Path) -> Iterator[str]:
    """Lines: each page that the navigation names, by its title."""
    project = tomllib.loads(CONFIGURATION.read_text())["project"]
    yield f"# {project['site_name']}\n\n> {project['site_description']}"
    for section in project["nav"]:
        for title, names in section.items():
            yield f"\n## {title}\n"
            for name in names:
                found = _TITLE.search((pages / name).read_text())
                assert found is not None, f"{name} has no title"
                page = name.replace("README.md", "index.md").removesuffix(".md")
                yield f"- [{found[1]}]({page}.html)"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
