import { writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const toModuleUrl = (specifier: string) =>
  JSON.stringify(pathToFileURL(require.resolve(specifier)).href);

/**
 * An MCP server in its own process that lists one tool from a file and notifies its client of each
 * change of the file. Its process id is in a file beside it.
 */
export async function createChangingServer(file: string, description: string) {
  const code = `
    const { McpServer } = await import(${toModuleUrl("@modelcontextprotocol/server")});
    const { serveStdio } = await import(${toModuleUrl("@modelcontextprotocol/server/stdio")});
    const { readFileSync, watchFile, writeFileSync } = await import("node:fs");
    writeFileSync(${JSON.stringify(`${file}.pid`)}, String(process.pid));
    const read = () => readFileSync(${JSON.stringify(file)}, "utf8");
    serveStdio(() => {
      const server = new McpServer({ name: "changing", version: "1" });
      const tool = server.registerTool("report", { description: read() }, () => {
        return { content: [{ type: "text", text: "reported" }] };
      });
      watchFile(${JSON.stringify(file)}, { interval: 50 }, () => tool.update({ description: read() }));
      return server;
    });`;
  await writeFile(file, description);
  return { command: process.execPath, args: ["--input-type=module", "-e", code], env: {} };
}
