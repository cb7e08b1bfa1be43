from __future__ import annotations

import posixpath
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_mcp.errors import InvalidArguments
from obsidian_mcp.vault.links.link_names import key_of_path, mark, names_in
from obsidian_mcp.vault.links.link_rewrites import Move
from obsidian_mcp.vault.links.resolver import Resolver
from obsidian_mcp.vault.links.writing import apply
from tests.support import resolver as independent


def mended(text: str, source: str, old: str, new: str, paths: list[str], link_format: str = "shortest") -> str:
    move = Move.plan(old, new, Resolver(paths), link_format)
    return apply(text, move.rewrites(source, text))


RENAMES = {
    "a wikilink": ("[[Old]]", "[[New]]"),
    "an alias": ("[[Old|x]]", "[[New|x]]"),
    "an embed with a heading": ("![[Old#Part]]", "![[New#Part]]"),
    "a nested heading": ("[[Old#A#B|x]]", "[[New#A#B|x]]"),
    "a block": ("[[Old#^id]]", "[[New#^id]]"),
    "another case": ("[[oLD]]", "[[New]]"),
    "with extension": ("[[Old.md]]", "[[New.md]]"),
    "with a path": ("[[Sub/Old]]", "[[New]]"),
    "in a table": ("| [[Old\\|x]] |", "| [[New\\|x]] |"),
    "a Markdown link": ("[x](Old.md)", "[x](New.md)"),
    "a Markdown link without extension": ("[x](Old)", "[x](New)"),
    "a relative Markdown link": ("[x](./Sub/Old.md#h)", "[x](New.md#h)"),
    "in angle brackets": ("[x](<Old.md> 't')", "[x](<New.md> 't')"),
    "a definition": ("[l]: Old.md", "[l]: New.md"),
    "a property": ('---\na: "[[Old]]"\n---\n', '---\na: "[[New]]"\n---\n'),
    "another note is left alone": ("[[Older]] [[Other]]", "[[Older]] [[Other]]"),
    "not in a code fence": ("```\n[[Old]]\n```", "```\n[[Old]]\n```"),
    "every other byte stays": ("\ufeffa\r\n[[Old]]  \r\n\tb", "\ufeffa\r\n[[New]]  \r\n\tb"),
}


@pytest.mark.parametrize(("before", "after"), RENAMES.values(), ids=RENAMES)
def test_a_renamed_note_keeps_its_links(before: str, after: str) -> None:
    assert mended(before, "Source.md", "Sub/Old.md", "Sub/New.md", ["Source.md", "Sub/Old.md", "Other.md"]) == after


CASES: dict[str, tuple[tuple[str, str], tuple[str, str, str], str, list[str]]] = {
    # (text before, after), (the note it stands in, the file's old path, its new one), link format, the other files
    "a move needs no change where the name is enough": (("[[N]]", "[[N]]"), ("S.md", "N.md", "A/N.md"), "shortest", []),
    "a path is mended": (("[[A/N]]", "[[N]]"), ("S.md", "A/N.md", "B/N.md"), "shortest", []),
    "of two paths in different case each is the one that is written": (
        ("[[a/n]] [[A/N]]", "[[a/m]] [[A/N]]"),
        ("S.md", "a/n.md", "a/m.md"),
        "absolute",
        ["A/N.md"],
    ),
    "a path in full": (("[[A/N]]", "[[B/N]]"), ("S.md", "A/N.md", "B/N.md"), "absolute", []),
    "a path from here": (("[[A/N]]", "[[../B/N]]"), ("C/S.md", "A/N.md", "B/N.md"), "relative", []),
    "a name that is taken needs a path": (("[[N]]", "[[A/M]]"), ("S.md", "N.md", "A/M.md"), "shortest", ["M.md"]),
    "a space is encoded": (("[x](N.md)", "[x](A/M%201.md)"), ("S.md", "N.md", "A/M 1.md"), "absolute", []),
    "a new note captures no link": (("[[M]]", "[[A/M]]"), ("S.md", "N.md", "M.md"), "shortest", ["A/M.md"]),
    "a note beside the link captures none": (
        ("[[M]]", "[[A/M]]"),
        ("C/S.md", "N.md", "C/M.md"),
        "shortest",
        ["A/M.md"],
    ),
    "an alias is kept when captured": (("[[M|x]]", "[[A/M|x]]"), ("S.md", "N.md", "M.md"), "shortest", ["A/M.md"]),
    "the moved note's own links": (
        ("[x](../P.png)", "[x](../../P.png)"),
        ("A/N.md", "A/N.md", "B/C/N.md"),
        "relative",
        ["P.png"],
    ),
    "the moved note's neighbour": (
        ("[[M]]", "[[A/M]]"),
        ("A/N.md", "A/N.md", "B/N.md"),
        "shortest",
        ["A/M.md", "B/M.md"],
    ),
    "the moved note's link to a note below it": (
        ("[[M]]", "[[A/sub/M]]"),
        ("A/N.md", "A/N.md", "B/N.md"),
        "shortest",
        ["A/sub/M.md", "B/sub/M.md"],
    ),
    "a note below the link captures none": (
        ("[[M]]", "[[B/M]]"),
        ("A/S.md", "N.md", "A/sub/M.md"),
        "shortest",
        ["B/M.md"],
    ),
    "the moved note's link to itself": (("[[A/N#h]]", "[[N#h]]"), ("A/N.md", "A/N.md", "B/N.md"), "shortest", []),
    "a picture": (("![[A/P.png|100]]", "![[Q.png|100]]"), ("S.md", "A/P.png", "A/Q.png"), "shortest", []),
    "a link that led nowhere stays": (
        ("[[Nope]] [x](Nope.md)", "[[Nope]] [x](Nope.md)"),
        ("S.md", "N.md", "A/N.md"),
        "shortest",
        [],
    ),
}


@pytest.mark.parametrize(("texts", "paths", "style", "others"), CASES.values(), ids=CASES)
def test_a_moved_file_keeps_every_link(
    texts: tuple[str, str], paths: tuple[str, str, str], style: str, others: list[str]
) -> None:
    source, old, new = paths
    assert mended(texts[0], source, old, new, sorted({source, old, *others}), style) == texts[1]


NAMES: dict[str, tuple[str, tuple[str, str]]] = {
    # the new name, the text before and after
    "a backtick where none stands": ("a`b", ("[[Old]]", "[[a`b]]")),
    "a backtick after another": ("a`b", ("don`t [[Old|x]]", "don`t [x](a%60b.md)")),
    "a backtick without an alias": ("a`b", ("don`t ![[Old#H i]]", "don`t ![a&#96;b > H i](a%60b.md#H%20i)")),
    "a link in code": ("a`b", ("` [[Old]] ` [[B]]", r"` [[Old]] ` [[B]]")),
    "a dollar sign": ("a$b", ("$x [[Old]] y", "$x [a&#36;b](a%24b.md) y")),
    "a dollar sign in a destination": ("a$b", ("$x [y](Old.md)", "$x [y](a%24b.md)")),
    "brackets around a word": ("[d] plan", ("[[Old]]", "[[/[d] plan]]")),
    "brackets in angle brackets": ("plan [d]", ("[x](<Old.md>)", "[x](<plan %5Bd%5D.md>)")),
}


@pytest.mark.parametrize(("name", "texts"), NAMES.values(), ids=NAMES)
def test_a_link_is_written_so_that_it_is_read_as_one(name: str, texts: tuple[str, str]) -> None:
    assert mended(texts[0], "S.md", "Old.md", f"{name}.md", ["S.md", "Old.md", "B.md"]) == texts[1]


def test_a_name_that_a_property_cannot_carry_is_refused() -> None:
    with pytest.raises(InvalidArguments):
        mended("---\na: see [[N]]\n---\n", "S.md", "S.md", "N.md", ["S.md", "Re: mail/N.md"])


def test_escapes_of_a_property_are_written_as_escapes() -> None:
    text = '---\na: "[[Caf\\xE9]] x"\n---\n'
    assert mended(text, "S.md", "Café.md", 'N "1".md', ["S.md", "Café.md"]) == '---\na: "[[N \\"1\\"]] x"\n---\n'


def test_an_apostrophe_keeps_a_quoted_property_whole() -> None:
    text = "---\na: '[[Old]]'\nb: \"[[Old]]\"\n---\n"
    after = mended(text, "S.md", "Old.md", "Bob's.md", ["S.md", "Old.md"])
    assert after == "---\na: '[[Bob''s]]'\nb: \"[[Bob's]]\"\n---\n"


def test_a_spelling_that_a_link_cannot_carry_is_not_used() -> None:
    paths = ["S.md", "C# notes/Note.md", "Re: mail/Other.md"]
    assert mended("[x](Other.md)", "S.md", "S.md", "Other.md", [*paths]) == "[x](Re%3A%20mail/Other.md)"
    with pytest.raises(InvalidArguments):
        mended("[[Note]]", "S.md", "S.md", "Note.md", [*paths])


def test_a_canvas_follows() -> None:
    text = '{"nodes":[{"file":"A/N.md", "x":1},{"file":"A/O.md"}]}'
    after = mended(text, "C.canvas", "A/N.md", 'B/"N".md', ["C.canvas", "A/N.md", "A/O.md"])
    assert after == '{"nodes":[{"file":"B/\\"N\\".md", "x":1},{"file":"A/O.md"}]}'
    card = '{"nodes":[{"type":"text","text":"\\"[[A/N|x]]\\"\\n[y](A/N.md)"},{"type":"group","background":"A/N.md"}]}'
    after = mended(card, "C.canvas", "A/N.md", "A/é 1.md", ["C.canvas", "A/N.md"])
    assert after == card.replace("A/N|", "é 1|").replace("(A/N.md)", "(é%201.md)").replace("A/N.md", "A/é 1.md")
    other = mended('{"file":"Cafe\u0301.md"}', "C.canvas", "Café.md", "B.md", ["C.canvas", "Café.md"])
    assert other == '{"file":"B.md"}'


BASES = {
    "a link": ('filters: file.hasLink(link("Old"))', True),
    "a path in quotes": ("x: 'A/Old.md'", True),
    "a string in a string": ("formulas:\n  a: 'file.name == \"Old\"'", True),
    "a wikilink": ('a: "[[Old|x]]"', True),
    "another name": ('a: link("Older")', False),
    "not in quotes": ("a: Old", False),
}


@pytest.mark.parametrize(("text", "names"), BASES.values(), ids=BASES)
def test_a_base_may_name_the_file(text: str, names: bool) -> None:
    move = Move.plan("A/Old.md", "A/New.md", Resolver(["A/Old.md", "Older.md", "B.base"]), "shortest")
    assert move.is_named_in("B.base", text) is names
    assert (mark(key_of_path("A/Old.md")) in names_in("B.base", text.encode())) is names


# The law, over vaults that nobody chose

# What stands around a link; those in code are spelled so that the second resolver takes them for none.
AROUND = [
    "LINK",
    "- x\nLINK",
    "- LINK\n```\n`LINK`\n```\nLINK",
    "> - LINK\n>   ~~~\n>   `LINK`\n>\n> LINK",
    "| a ` |\n|---|\n| LINK |",
    "1. x\n\n   LINK\n\n       `LINK`",
    "<pre>\n```\n`LINK`\n</pre>\nLINK",
    "%%\n`LINK`\n%%\nLINK",
]
STEMS = ["a", "b", "A", "n 1", "é", "e\u0301", "ß", "p.png", "x.y"]
FOLDERS = ["", "a", "b", "a/b", "a/c d", "c d", "é", "ab"]


def paths() -> st.SearchStrategy[list[str]]:
    one = st.builds(
        lambda folder, stem: posixpath.join(folder, stem if stem.endswith(".png") else f"{stem}.md"),
        st.sampled_from(FOLDERS),
        st.sampled_from(STEMS),
    )
    return st.lists(one, min_size=2, max_size=7, unique_by=independent_key)


def independent_key(path: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).lower())


def link_lines(path: str, way: str, form: str) -> str:
    bare = path[:-3] if path.endswith(".md") else path
    ways = {
        "name": posixpath.basename(bare),
        "path": bare,
        "whole": path,
        "root": f"/{bare}",
        "up": f"../{bare}",
        "here": f"./{bare}",
        "upper": bare.upper(),
    }
    target = ways[way]
    encoded = target.replace(" ", "%20")
    forms = {
        "wiki": f"[[{target}]]",
        "alias": f"![[{target}#h|x]]",
        "markdown": f"[x]({encoded})",
        "angle": f"[x](<{target}>)",
    }
    return forms[form]


@st.composite
def vaults(draw: st.DrawFn) -> tuple[list[str], dict[str, str], str, str, str]:
    files = draw(paths())
    targets = st.sampled_from([*files, "nowhere.md", "a.md", "b/b.md"])
    ways = st.sampled_from(["name", "path", "whole", "root", "up", "here", "upper"])
    forms = st.sampled_from(["wiki", "alias", "markdown", "angle"])
    link = st.builds(link_lines, targets, ways, forms)
    lines = st.lists(st.builds(str.replace, st.sampled_from(AROUND), st.just("LINK"), link), max_size=4)
    notes = {path: "\n\n".join(draw(lines)) for path in files if path.endswith(".md")}
    old = draw(st.sampled_from(files))
    extension = posixpath.splitext(old)[1]
    stem = draw(st.sampled_from([stem for stem in STEMS if not stem.endswith(".png")]))
    new = posixpath.join(draw(st.sampled_from(FOLDERS)), f"{stem}{extension}")
    return files, notes, old, new, draw(st.sampled_from(["shortest", "relative", "absolute"]))


@settings(max_examples=400, deadline=None)
@given(vaults())
def test_every_link_leads_where_it_led(vault: tuple[list[str], dict[str, str], str, str, str]) -> None:
    files, notes, old, new, style = vault
    if any(independent.same(new, path) for path in files):
        return
    after = [new if path == old else path for path in files]
    move = Move.plan(old, new, Resolver(files), style)
    for path, text in notes.items():
        there = new if path == old else path
        result = apply(text, move.rewrites(path, text))
        assert len(result.split("\n")) == len(text.split("\n"))
        for line, line_after in zip(text.split("\n"), result.split("\n"), strict=True):
            target, target_after = independent.target_of(line), independent.target_of(line_after)
            if target is None or target_after is None:
                assert line == line_after
                continue
            led = independent.leads_to(target, path, files)
            leads = independent.leads_to(target_after, there, after)
            if led is None:
                assert line == line_after
            else:
                assert leads == (new if led == old else led), (line, line_after)
                if independent.leads_to(target, there, after) == leads:
                    assert line == line_after
