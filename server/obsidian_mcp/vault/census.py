"""What a vault's folder holds, counted."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Census:
    """`away` are files in the cloud that are not on this machine, `vaults` folders in it that are vaults themselves."""

    notes: int = 0
    others: int = 0  # files that are no notes
    folders: int = 0
    is_whole: bool = True  # whether it was counted to the end
    closed: list[tuple[str, str]] = field(default_factory=list)  # folders that can't be listed, and why
    away: list[str] = field(default_factory=list)
    vaults: list[str] = field(default_factory=list)
