"""Our reader against another one, over notes that nobody wrote.

Where the two may differ is left out of the notes: comments and formulas, which are Obsidian's own; bars in wikilinks
in tables; and lines indented by four or more that go on lazily with the text of a quote or of an item in another:
there the reference implementation of CommonMark (commonmark.js) was seen to agree with ours and not with the judge.
"""

from __future__ import annotations

import os
import re

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from obsidian_mcp.vault.links.body import in_body
from tests.support import judge
from tests.vault.compare import body_of, readings

PREFIXES = ["", "", "", "> ", ">", "- ", "1. ", "  ", "    ", "\t", "* ", "> > ", "   ", "2) ", "+ ", " "]
PIECES = """
[[A]] · [[B]] · text · ``` · ~~~ · ```` · ` · `` · # H · --- · === · - - - · <div> · </div> · <pre> · </pre> · <!--
· --> · [x](B.md) · ![p](P.png) · | a | b | · |---|---| · | [[C]] ` | b | · \\ · a [x](<C d.md> 't') · <b> · ``` js · -
· 1. · <span title="[[D]]"> · x `[[F]]` y · * · *** · [a [b](c.md)](d.md) · `[[H]] · [[I]]` · <script> · </script> · a|b
· -|- · ![a [[K]]](L.png) · [[N](O.md) · [x][r] · [ · ] · <https://a.b/[[Q]]> · <? · ?>
""".replace("\n", " ").split(" · ")
_CONTAINER = re.compile(r">|\d[.)]|^ +[-+*]|[-+*] +[-+*]|^ {4,}")


def lines() -> st.SearchStrategy[str]:
    prefix, piece = st.sampled_from(PREFIXES), st.sampled_from([*(piece.strip() for piece in PIECES), ""])
    return st.builds("{}{}{} {}".format, prefix, st.one_of(st.just(""), prefix), piece, st.one_of(st.just(""), piece))


def goes_on_lazily(note: str) -> bool:
    """Whether a line indented by four could go on with the text of something that it is not in."""
    block: list[str] = []
    for line in note.expandtabs(4).split("\n"):
        if not line.strip():
            block = []
            continue
        if line.startswith("    ") and any(map(_CONTAINER.search, block)):
            return True
        block.append(line)
    return False


@settings(max_examples=400 * int(os.environ.get("OBSIDIAN_MCP_LONGER", "1")), deadline=None)
@given(st.lists(lines(), min_size=1, max_size=9).map("\n".join))
def test_what_is_a_link_and_what_is_code_is_judged_alike(note: str) -> None:
    assume(not goes_on_lazily(note))
    assert [link.target for link in in_body(note)] == [*judge.links(note)[0]]


def test_real_notes_are_compared_in_the_same_way() -> None:
    note = b"---\na: 1\n---\n| [[A|x]] |\n|---|\n\n$5 [[B]] %% [[C]]\r\n\r\n[r]: D.md\n\n[y][r]\n"
    assert readings(body_of(note)) == (["A", "B", "C"], ["A", "B", "C"])
