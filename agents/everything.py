"""All twenty-four tasks."""

from __future__ import annotations

from agents.editing import EDITING
from agents.finding import FINDING
from agents.tidying import TIDYING
from agents.undoing import UNDOING

TASKS = (*FINDING, *EDITING, *TIDYING, *UNDOING)
