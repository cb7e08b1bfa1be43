"""The CLI's command lines, as values.

`vault=` counts only as the first argument; anywhere else it is ignored in
silence and the focused vault is used. A missing or empty `path=` means the note
that is open in the app, for `delete` too, so every target here is a VaultPath,
which cannot be empty. A flag is sent or not: `overwrite=false` would count as set.
"""

from __future__ import annotations

import re

from obsidian_mcp.vault.path import VaultPath

MOST_CONTENT = 3000  # bytes in one value; above about 3.5 KB Windows drops it in silence

Command = list[str]


def files() -> Command:
    return ["files"]


def file(path: VaultPath) -> Command:
    return ["file", f"path={path}"]


def read(path: VaultPath) -> Command:
    return ["read", f"path={path}"]


def create(path: VaultPath, content: str, overwrite: bool) -> Command:
    command = ["create", f"path={path}"]
    if content:
        command.append(f"content={content}")
    return [*command, "overwrite"] if overwrite else command


def append(path: VaultPath, addition: str) -> Command:
    return ["append", f"path={path}", f"content={addition}", "inline"]


def prepend(path: VaultPath, addition: str) -> Command:
    return ["prepend", f"path={path}", f"content={addition}", "inline"]


def delete(path: VaultPath, permanent: bool) -> Command:
    command = ["delete", f"path={path}"]
    return [*command, "permanent"] if permanent else command


def move(path: VaultPath, target: VaultPath) -> Command:
    """`rename` where it says what is meant; its handling of a dot in the new name is not documented.

    To `move` a target without extension is a folder, in which the file keeps its name.
    """
    if path.folder == target.folder and path.extension == target.extension and "." not in target.stem:
        return ["rename", f"path={path}", f"name={target.stem}"]
    if not target.extension and target.filename == path.filename:
        return ["move", f"path={path}", f"to={target.folder or '/'}"]
    return ["move", f"path={path}", f"to={target}"]


def open_note(path: VaultPath, new_tab: bool) -> Command:
    command = ["open", f"path={path}"]
    return [*command, "newtab"] if new_tab else command


# One expression, always the same: nothing that a person or a client says may get into it.
_ACTIVE = (
    "(()=>{const w=app.workspace,a=w.activeEditor,v=a&&a.editor?a:(w.getMostRecentLeaf()||{}).view||{},"
    'e=v.editor,f=v.file||w.getActiveFile(),m=v.getMode?v.getMode():"source",'
    "r={vault:app.vault.getName(),base:app.vault.adapter.getBasePath(),path:f?f.path:null,mode:m};"
    'if(f&&e&&m!=="preview"){const p=x=>{const c=e.getCursor(x);return{line:c.line,character:c.ch}};'
    'r.text=e.getSelection();r.from=p("from");r.to=p("to");r.head=p("head")}'
    "return JSON.stringify(r)})()"
)


def active() -> Command:
    """The active note, its selection and cursor, as JSON. In reading mode the selection is stale and left out."""
    return ["eval", f"code={_ACTIVE}"]


def daily_path() -> Command:
    return ["daily:path"]


def vault_path() -> Command:
    return ["vault", "info=path"]


_MANGLED = re.compile(r"\\[nt]|\r|\x00")


def can_carry(content: str) -> bool:
    """Whether `content=` would arrive whole.

    The CLI turns backslash-n and backslash-t into a newline and a tab, and has
    no escape for them. Real newlines and tabs arrive.
    """
    return not _MANGLED.search(content) and len(content.encode()) <= MOST_CONTENT


def for_vault(vault: str, command: Command) -> list[str]:
    return [f"vault={vault}", *command]


# Questions about the vault as a whole. None has `limit=`: it cuts an order that follows no key.


def search(query: str) -> Command:
    return ["search:context", f"query={query}", "format=json"]


def can_ask(query: str) -> bool:
    """Whether `query=` would arrive whole."""
    try:
        return "\0" not in query and len(query.encode()) <= MOST_CONTENT
    except UnicodeEncodeError:  # half a character
        return False


def tags() -> Command:
    return ["tags", "counts", "format=json"]


def properties() -> Command:
    return ["properties", "counts", "format=json"]


def backlinks(path: VaultPath) -> Command:
    return ["backlinks", f"path={path}", "format=json"]


def unresolved() -> Command:
    return ["unresolved", "verbose", "counts", "format=json"]


def orphans() -> Command:
    """It ignores `format=`."""
    return ["orphans"]


def query_base(path: VaultPath, view: str) -> Command:
    return ["base:query", f"path={path}", f"view={view}", "format=json"]
