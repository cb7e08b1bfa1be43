"""Three contracts on one port: Bridge Protocol v1, the HTTP envelope, MCP's Streamable HTTP."""
