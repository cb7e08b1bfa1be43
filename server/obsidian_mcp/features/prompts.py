"""Prompts: those that everyone has, and the person's own, which are the notes of one folder.

The text of a person's own prompt is theirs and may instruct; so nothing else of the vault gets into one.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from obsidian_mcp.call import CallContext
from obsidian_mcp.errors import Failure, InvalidParams
from obsidian_mcp.features import builtin_prompts
from obsidian_mcp.features.builtin_prompts import Builtin
from obsidian_mcp.features.resources import Open, Served
from obsidian_mcp.vault import prompts
from obsidian_mcp.vault.path import VaultPath
from obsidian_mcp.vault.prompts import Argument, Prompt
from obsidian_mcp.vault.seen import Seen

MOST_OWN = 100  # notes of the folder in one vault
MOST_TEXT = 256 * 1024  # bytes

FilesIn = Callable[[str, CallContext, str], list[Seen]]


@dataclass(frozen=True, slots=True)
class Offer:
    """One prompt, with the vault that it is of, if it is a person's own."""

    prompt: Builtin | Prompt
    vault: str = ""


class Prompts:
    """`folder` is where a person's own lie, in each vault; `files` walks through that folder of a vault."""

    def __init__(
        self,
        tools: Container[str],
        folder: str,
        vaults: Callable[[], list[Served]],
        open: Open,
        files: FilesIn,
        now: Callable[[], datetime] = datetime.now,
    ) -> None:
        self._tools = tools
        self._folder = folder
        self._vaults = vaults
        self._open = open
        self._files = files
        self._now = now

    def listed(self, call: CallContext) -> list[dict[str, Any]]:
        return [_shown(name, offer.prompt) for name, offer in self._offers(call).items()]

    def got(self, name: str, values: dict[str, str], call: CallContext) -> dict[str, Any]:
        """What is to be said to the model. Raises if there is no such prompt, or if it lacks an argument."""
        prompt = self.named(name, call).prompt
        missing = [each.name for each in prompt.arguments if each.required and not values.get(each.name, "").strip()]
        if missing:
            raise InvalidParams(f"The prompt {name} needs {', '.join(missing)}.", missing=missing)
        text = self._text(prompt, values)
        return {
            "description": prompt.description,
            "messages": [{"role": "user", "content": {"type": "text", "text": text}}],
        }

    def _text(self, prompt: Builtin | Prompt, values: dict[str, str]) -> str:
        if isinstance(prompt, Prompt):
            return prompts.filled(prompt, values, self._now())
        value = values.get(prompt.argument.name, "") if prompt.argument is not None else ""
        return prompt.text(value, self._tools, self._now().date())

    def named(self, name: str, call: CallContext) -> Offer:
        offers = self._offers(call)
        if name not in offers:
            raise InvalidParams(f"There is no prompt {name!r}.", f"Prompts: {', '.join(offers)}.")
        return offers[name]

    def _offers(self, call: CallContext) -> dict[str, Offer]:
        """By name. A person's own comes instead of one of ours; two of theirs are numbered."""
        own: dict[str, Offer] = {}
        for vault in self._vaults():
            for prompt in self._own(vault.label, call):
                own[_free(prompt.name, own)] = Offer(prompt, vault.label)
        ours = {prompt.name: Offer(prompt) for prompt in builtin_prompts.offered(self._tools)}
        return {name: offer for name, offer in ours.items() if name not in own} | own

    def _own(self, label: str, call: CallContext) -> list[Prompt]:
        """Where a vault can't be looked at, there are none: the others are still of use."""
        try:
            vault = self._open(label, call).vault
            seen = [each for each in self._files(label, call, self._folder) if each.path[-3:].lower() == ".md"]
            paths = [VaultPath(each.path) for each in sorted(seen, key=lambda each: each.path) if each.size < MOST_TEXT]
            found = [_read(path, vault.current) for path in paths[:MOST_OWN]]
        except Failure as failure:
            if call.cancelled or call.remaining <= 0:
                raise failure from None
            return []
        return [prompt for prompt in found if prompt is not None]


def _read(path: VaultPath, read: Callable[[VaultPath], bytes]) -> Prompt | None:
    try:
        return prompts.read(path.stem, read(path).decode("utf-8"))
    except (Failure, UnicodeDecodeError):
        return None


def _free(name: str, taken: Container[str]) -> str:
    numbers = (f"{name}_{number}" for number in range(2, MOST_OWN * 100))
    return name if name not in taken else next(each for each in numbers if each not in taken)


def _shown(name: str, prompt: Builtin | Prompt) -> dict[str, Any]:
    about: dict[str, Any] = {"name": name, "title": prompt.title, "description": prompt.description}
    if prompt.arguments:
        about["arguments"] = [_argument(each) for each in prompt.arguments]
    return about


def _argument(argument: Argument) -> dict[str, Any]:
    about = {"name": argument.name, "required": argument.required}
    return {**about, "description": argument.description} if argument.description else about
