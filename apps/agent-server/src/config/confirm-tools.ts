import { join } from "node:path";
import type { Config } from "./config.ts";
import { checkConfirmedTools, openConfirmedTools } from "../proxy/confirmed-tools.ts";
import { connectServers } from "../proxy/connect-servers.ts";
import type { Runtime } from "../runtime.ts";

/** Where an agent keeps the tools of wrapped servers as its owner confirmed them. */
export function buildConfirmedToolsPath({ identity }: Pick<Config, "identity">): string {
  return join(identity.dataDir, "tools.json");
}

export type ConfirmToolsResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Shows how the tools of the wrapped servers differ from what was confirmed, and confirms what they are now. */
export async function confirmTools(
  config: Pick<Config, "identity" | "mcpServers">,
  context: {
    readonly version: string;
    readonly runtime: Runtime;
    readonly say: (line: string) => void;
    readonly ask: (question: string) => Promise<boolean>;
  },
): Promise<ConfirmToolsResult> {
  const { version, runtime, say, ask } = context;
  const path = buildConfirmedToolsPath(config);
  const fault = checkConfirmedTools(path);
  if (fault !== undefined) return { ok: false, faults: [fault] };
  const confirmed = openConfirmedTools(path, runtime);
  const servers = await connectServers(config.mcpServers, { version, runtime, confirmed });
  if (!servers.ok) return servers;
  const changes = servers.changes();
  await servers.close();

  for (const { server, tool, differences } of changes) {
    say(`${server}: ${tool.name}`);
    for (const difference of differences) say(`  ${difference}`);
  }
  if (changes.length === 0) say("no tool has changed");
  else if (await ask(`confirm ${changes.length} changed tools?`)) {
    await confirmed.confirm(changes.map(({ server, tool }) => [server, tool]));
    say(`confirmed: ${changes.map(({ tool }) => tool.name).join(", ")}`);
  } else say("nothing was confirmed");
  return { ok: true };
}
