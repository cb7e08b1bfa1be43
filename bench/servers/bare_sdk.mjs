// A server on the TypeScript SDK that does as little as can be. Copied beside its packages: Node looks for them there.
import { readFile } from "node:fs/promises";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { z } from "zod";

const server = new McpServer({ name: "bare", version: "1.0.0" });
server.registerTool("read", { description: "Read a file.", inputSchema: { path: z.string() } }, async ({ path }) => ({
  content: [{ type: "text", text: await readFile(path, "utf8") }],
}));
await server.connect(new StdioServerTransport());
