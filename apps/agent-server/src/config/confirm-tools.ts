import { join } from "node:path";
import type { Config } from "./config.ts";
import { checkConfirmedTools, openConfirmedTools } from "../proxy/confirmed-tools.ts";
import { connectServers } from "../proxy/connect-servers.ts";
import type { Runtime } from "../runtime.ts";

/** Returns the path of the file with the tools of wrapped servers that the owner confirmed. */
export function buildConfirmedToolsPath({ identity }: Pick<Config, "identity">): string {
  return join(identity.dataDir, "tools.json");
}

export type ConfirmToolsResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly faults: readonly string[] };

/**
 * Prints how the tools of the wrapped servers differ from those confirmed, and confirms them as
 * they are now.
 */
export async function confirmTools(
  config: Pick<Config, "identity" | "mcpServers">,
  context: {
    readonly version: string;
    readonly runtime: Runtime;
    readonly printLine: (line: string) => void;
    readonly ask: (question: string) => Promise<boolean>;
  },
): Promise<ConfirmToolsResult> {
  const { version, runtime, printLine, ask } = context;
  const path = buildConfirmedToolsPath(config);
  const fault = checkConfirmedTools(path);
  if (fault !== undefined) return { ok: false, faults: [fault] };
  const confirmed = openConfirmedTools(path, runtime);
  const servers = await connectServers(config.mcpServers, { version, runtime, confirmed });
  if (!servers.ok) return servers;
  const changes = servers.changes();
  await servers.close();

  for (const { server, tool, differences } of changes) {
    printLine(`${server}: ${tool.name}`);
    for (const difference of differences) printLine(`  ${difference}`);
  }
  if (changes.length === 0) printLine("no tool has changed");
  else if (await ask(`confirm ${changes.length} changed tools?`)) {
    await confirmed.confirm(changes.map(({ server, tool }) => [server, tool]));
    printLine(`confirmed: ${changes.map(({ tool }) => tool.name).join(", ")}`);
  } else printLine("nothing was confirmed");
  return { ok: true };
}
