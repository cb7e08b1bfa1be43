"""MCP without I/O: bytes to messages and back, and what each revision expects."""
