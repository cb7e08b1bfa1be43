// A session with one of the TypeScript clients: node sdk.mjs 1|2 legacy|auto COMMAND [ARGUMENT ...]
import assert from "node:assert/strict";

const [line, era, command, ...args] = process.argv.slice(2);
const environment = { ...process.env };
const name = { name: "clients", version: "1" };

async function connected() {
  if (line === "1") {
    const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
    const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
    const client = new Client(name, { capabilities: {} });
    await client.connect(new StdioClientTransport({ command, args, env: environment }));
    return client;
  }
  const { Client } = await import("@modelcontextprotocol/client");
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const client = new Client(name, { capabilities: {}, versionNegotiation: { mode: era } });
  await client.connect(new StdioClientTransport({ command, args, env: environment }));
  return client;
}

const client = await connected();
if (line === "2") assert.equal(client.getProtocolEra(), era === "auto" ? "modern" : "legacy");
const { tools } = await client.listTools();
const call = (tool, given) => client.callTool({ name: `obsidian_${tool}`, arguments: given });
const text = "$\\nabla$ \\times é\n";
const made = await call("create_note", { name: "New", content: text });
assert.equal(made.structuredContent.data.path, "New.md");
assert.equal((await call("read_note", { name: "New" })).structuredContent.data.content, text);
assert.equal((await call("delete_note", { name: "New", permanent: true })).structuredContent.data.deleted, true);
let told;
try {
  const missing = await call("read_note", { name: "New" });
  assert.equal(missing.isError, true);
  told = missing.content[0].text;
} catch (error) {
  told = error.message;
}
assert.match(told, /New/);
console.log(`${tools.length} tools; a missing note: ${told}`);
await client.close();
