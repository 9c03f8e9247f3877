// Runs an agent inside your own program. Its settings are the flags and variables of `agent-server --help`.
import {
  compileTool,
  createSystemRuntime,
  loadIdentity,
  parseFlags,
  readConfig,
  silentLog,
  startAgent,
} from "@agent/agent-server";

const shout = compileTool({
  definition: { name: "shout", description: "Says it louder", inputSchema: { type: "object" } },
  handler: ({ text }) => ({ ok: true, data: String(text).toUpperCase() }),
});

const { flags, faults } = parseFlags(process.argv.slice(2));
if (faults.length > 0) throw new Error(faults.join("\n"));
const read = readConfig({ env: process.env, flags, workingDirectory: process.cwd() });
if (!read.ok) throw new Error(read.faults.join("\n"));
const { config } = read;
const runtime = createSystemRuntime(silentLog);
const loaded = await loadIdentity({ ...config, ...config.identity }, runtime);
if (!loaded.ok) throw new Error(loaded.fault);
const { identity } = loaded;
const started = await startAgent({ config, identity, tools: [shout], version: "1.0.0", runtime });
if (!started.ok) throw new Error(started.faults.join("\n"));
console.log(started.running.url); // `started.running.stop()` ends it.
