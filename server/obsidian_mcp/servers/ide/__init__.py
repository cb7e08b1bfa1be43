"""The door by which Claude Code sees the note a person is in: everything but its socket."""
