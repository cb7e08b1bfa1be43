"""The WebSocket by which Claude Code sees the note a person is in."""
