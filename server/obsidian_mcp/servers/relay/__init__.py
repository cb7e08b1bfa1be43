"""The stdio bridge: the tools of a Bridge v1 server, offered over MCP. The contract is specs/http.md."""
