"""Which kind of file the ending of a name says is meant, where it says anything: most dots are part of a note's name.

`Release 1.2` and `Dr. Smith` are notes. `notes.txt` is a text file, which can be made. `Node.js` may be either, and
`report.docx` can't be made from text: there the caller is told how to name a note. Nothing becomes `notes.txt.md`
without being called so.
"""

from __future__ import annotations

from obsidian_mcp.vault.path import has_known_extension

TEXT = frozenset(
    "adoc asciidoc bib cfg conf css csv geojson ics ini json json5 jsonc jsonl log markdown mdx ndjson opml qmd ris "
    "rmd rst srt tex text toml tsv txt vcf vtt xml yaml yml".split()
)
# Programs, and what runs in a browser: notes are made here, not programs. Then documents, archives and media.
_OTHER = frozenset(
    "bash bat c cc cjs clj cmd cpp cs desktop dll dylib el exe fish go h hpp hs htm html ipynb jar java js jsx kt lnk "
    "lua mjs msi php pl ps1 psm1 py pyw rb rs scala scr sh sql swift ts tsx vbs wasm wsf xhtml zsh "
    "doc docx epub mobi odp ods odt org ppt pptx rtf xls xlsx "
    "7z apk bz2 deb dmg gz iso rar rpm tar tgz xz zip "
    "aac avi db eps heic heif ico opus parquet psd sqlite sqlite3 tif tiff wma wmv".split()
)


def is_file(name: str) -> bool:
    """Whether its ending says that exactly this file is meant, and not a note of that name."""
    return has_known_extension(name) or extension(name) in TEXT or extension(name) in _OTHER


def can_be_made(name: str) -> bool:
    """Whether a file of that name can be made from text: a note, or what its ending says."""
    return extension(name) not in _OTHER


def extension(name: str) -> str:
    stem, dot, ending = name.rpartition("/")[2].rpartition(".")
    return ending.lower() if stem and dot else ""
