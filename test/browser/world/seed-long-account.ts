import { execFile } from "node:child_process";
import { promisify } from "node:util";

const program = new URL("../../../apps/relay/test/processes/seed-long-account.ts", import.meta.url);

/** Gives an account in a new database this many movements. */
export async function seedLongAccount(
  path: string,
  agentId: string,
  deposits: number,
): Promise<void> {
  const args = [
    "--conditions=agent-source",
    program.pathname,
    JSON.stringify({ path, agentId, deposits }),
  ];
  await promisify(execFile)(process.execPath, args);
}
