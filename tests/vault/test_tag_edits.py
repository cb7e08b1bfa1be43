from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from obsidian_mcp.vault import frontmatter
from obsidian_mcp.vault.tag_edits import NotReadBack, is_tag, renamed, renaming, search_for
from obsidian_mcp.vault.tags import tags_in

NOTES = {
    # before, after, in how many places
    "a tag": ("See #old.", "See #new.", 1),
    "in another case": ("#Old and #OLD", "#new and #new", 2),
    "its children, whose own names stay": ("#old/X #Old/x/Y", "#new/X #new/x/Y", 2),
    "a longer name is another tag": ("#older #old-er #x/old", "#older #old-er #x/old", 0),
    "in emphasis, a cell and a heading": ("**#old** _see #old_\n# H #old\n", "**#new** _see #new_\n# H #new\n", 3),
    "in a table": ("|#old|b|\n|---|---|\n| c |#old|", "|#new|b|\n|---|---|\n| c |#new|", 2),
    "in quotes and lists": ("> - #old\n>   x #old", "> - #new\n>   x #new", 2),
    "in the text of a link": ("[a #old](b.md#old)", "[a #new](b.md#old)", 1),
    "in a comment": ("%% #old %%", "%% #new %%", 1),
    "not in code": ("`#old`\n```\n#old\n```\n\n    #old", "`#old`\n```\n#old\n```\n\n    #old", 0),
    "not in a link": ("[[a#old]] <!-- #old --> $#old$", "[[a#old]] <!-- #old --> $#old$", 0),
    "not where no tag begins": ("a#old (#old)", "a#old (#old)", 0),
    "one right after another": ("#old#old/x", "#new#new/x", 2),
    "every other byte": ("\ufeffa\r\n#old  \r\n\tb", "\ufeffa\r\n#new  \r\n\tb", 1),
    "a property": ("---\ntags: [old, x]\n---\n#old", "---\ntags: [new, x]\n---\n#new", 2),
    "a list of them": ("---\ntags:\n  - Old/a\n  - x\n---\n", "---\ntags:\n  - new/a\n  - x\n---\n", 1),
    "another property": ("---\na: old\ntags: [x]\n---\n", "---\na: old\ntags: [x]\n---\n", 0),
    "properties that can't be read": ("---\ntags: [old\n---\n#old", "---\ntags: [old\n---\n#new", 1),
}


@pytest.mark.parametrize(("before", "after", "count"), NOTES.values(), ids=NOTES)
def test_a_tag_is_renamed_wherever_it_is_one(before: str, after: str, count: int) -> None:
    assert renamed(before, renaming("old", "new")) == (after, count)
    assert search_for("old")(before.encode()) or not count


def test_a_nested_tag_is_renamed_without_its_parent() -> None:
    assert renamed("#a #a/b #a/b/c #a/bc", renaming("a/b", "z"))[0] == "#a #z #z/c #a/bc"
    assert renamed("#a #a/x", renaming("a", "a/b"))[0] == "#a/b #a/b/x"


def test_case_and_unicode_form_do_not_count() -> None:
    text = "#Cafe\u0301/x and #CAFÉ"
    assert renamed(text, renaming("café", "tea"))[0] == "#tea/x and #tea"
    assert search_for("café")(text.encode())
    assert search_for("café")(b'---\ntags: ["caf\\u00e9"]\n---\n')
    assert not search_for("café")(b"#cafe")


def test_only_the_spelling_may_change() -> None:
    assert renamed("#Work #work #work/x", renaming("work", "Work")) == ("#Work #Work #Work/x", 2)


def test_a_name_that_is_read_otherwise_where_it_stands_is_refused() -> None:
    with pytest.raises(NotReadBack):
        renamed("_see #old and_", renaming("old", "new_"))


@pytest.mark.parametrize(
    ("name", "fits"), [("a", True), ("a/b-c_1", True), ("2024", False), ("a b", False), ("a/", False)]
)
def test_what_can_be_a_tag(name: str, fits: bool) -> None:
    assert is_tag(name) is fits


PIECES = [
    "#a",
    "#A/x",
    "#ab",
    "`#a`",
    "**#a**",
    "x",
    "[#a](b)",
    "[[c#a]]",
    "\n",
    "\n\n",
    "> ",
    "- ",
    "| ",
    "```\n",
    "%%",
    " ",
]


@settings(max_examples=400)
@given(st.lists(st.sampled_from(PIECES), max_size=14).map("".join))
def test_there_and_back_is_the_same_note(text: str) -> None:
    after, count = renamed(text, renaming("a", "zzz"))
    body = frontmatter.place(text)[2]
    assert not any(tag.lower().split("/")[0] == "a" for tag in tags_in(after, body))
    back, again = renamed(after, renaming("zzz", "a"))
    assert (back.lower(), again) == (text.lower(), count)
