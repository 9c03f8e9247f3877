import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestAgent } from "@agent/testkit";
import { editStored } from "../engine/stored.ts";
import { startTestRelay, type TestRelay } from "../test-relay.ts";

/** A relay whose database was changed while it was down, and an agent that it knew before. */
export interface EditedRelay {
  readonly t: TestRelay;
  readonly agent: TestAgent;
  close(): Promise<void>;
}

/** Opens a relay in a state that no operation, or only too many operations, could produce. */
export function openEditedRelay(
  sqlFor: (agent: TestAgent) => string,
  env: Record<string, string> = {},
): Promise<EditedRelay> {
  return openRelayOnEditedFile((path, agent) => editStored(path, sqlFor(agent)), env);
}

/** Opens a relay after `edit` has changed its database file. */
export async function openRelayOnEditedFile(
  edit: (path: string, agent: TestAgent) => Promise<void>,
  env: Record<string, string> = {},
): Promise<EditedRelay> {
  const folder = mkdtempSync(join(tmpdir(), "relay-edited-"));
  const AGENT_DB_PATH = join(folder, "relay.db");
  const before = await startTestRelay({ AGENT_DB_PATH });
  const agent = await before.createAgent();
  await before.close();
  await edit(AGENT_DB_PATH, agent);
  // The seed must differ, because otherwise the earlier ids would be generated again.
  const t = await startTestRelay({ AGENT_DB_PATH, ...env }, 2);
  return {
    t,
    agent,
    async close() {
      await t.close();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Builds the statement that revokes the agent. */
export const createRevocationSql = ({ agentId }: TestAgent) =>
  `UPDATE agents SET revoked_at = 1 WHERE agent_id = '${agentId}'`;
