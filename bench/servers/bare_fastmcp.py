"""A server on fastmcp that does as little as can be."""

from pathlib import Path

from fastmcp import FastMCP  # type: ignore[import-not-found, unused-ignore]  # installed for the benchmark alone

server = FastMCP("bare")


@server.tool  # type: ignore[untyped-decorator, unused-ignore]  # of a library that is not there
def read(path: str) -> str:
    """Read a file."""
    return Path(path).read_text(encoding="utf-8")


if __name__ == "__main__":
    server.run()
