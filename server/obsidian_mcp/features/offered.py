"""What is offered beside tools, once it is loaded."""

from __future__ import annotations

from dataclasses import dataclass

from obsidian_mcp.features.completion import Completion
from obsidian_mcp.features.prompts import Prompts
from obsidian_mcp.features.resources import Resources


@dataclass(frozen=True, slots=True)
class Features:
    resources: Resources
    completion: Completion
    prompts: Prompts
