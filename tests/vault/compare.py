"""Our reader of links against the judge, over real notes: python -m tests.vault.compare FOLDER ...

What the judge does not know is made unreadable for both: comments, formulas, and bars in wikilinks in tables.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from obsidian_mcp.vault.links.body import in_body
from obsidian_mcp.vault.text import frontmatter_and_body
from tests.support import judge

MOST_TEXT = 300_000
_BAR = re.compile(r"(\[\[[^\[\]|\n]*[^\\|])\|")


def body_of(data: bytes) -> str:
    body = frontmatter_and_body(data)[1].decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
    lines = (_BAR.sub(r"\1\\|", line) if line.lstrip("> \t-").startswith("|") else line for line in body.split("\n"))
    return "\n".join(lines).replace("$", "S").replace("%%", "oo")


def readings(body: str) -> tuple[list[str], list[str]]:
    """Ours and the judge's, without the targets of definitions, which it tells apart from the others."""
    found, defined = judge.links(body)
    ours = [link.target for link in in_body(body)]
    return [target for target in ours if target not in defined], [target for target in found if target not in defined]


def main() -> None:
    notes = links = differ = 0
    for file in (file for folder in sys.argv[1:] for file in sorted(Path(folder).rglob("*.md")) if file.is_file()):
        body = body_of(file.read_bytes())
        if len(body) > MOST_TEXT:
            continue
        ours, others = readings(body)
        notes, links, differ = notes + 1, links + len(others), differ + (ours != others)
        if ours != others:
            print(f"{file}: {len(ours)} links, {len(others)} by the judge")
    print(f"{notes:,} notes, {links:,} links, {differ} read differently")
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()
