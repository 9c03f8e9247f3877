import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestAgent } from "@agent/testkit";
import type { Operation, OperationName, Operations } from "@agent/wire";
import Sqlite from "better-sqlite3";
import { startTestRelay, type Reply, type TestRelay } from "../test-relay.ts";

/** What an operation's row declares: a status of success, or the code of a refusal. */
export type OutcomeOf<O extends Operation> = `${keyof O["ok"] & number}` | O["refusals"][number];

/** Brings one outcome about; it is the reply to the last request. */
export type Case = (t: TestRelay) => Promise<Reply>;

/** A case for every declared outcome; one that is missing does not compile. */
export type Contract<N extends OperationName> = {
  readonly [K in N]: { readonly [O in OutcomeOf<Operations[K]>]: Case };
};

/** A case on a relay with a configuration of its own. */
export function configured(env: Record<string, string>, run: Case): Case {
  return async () => {
    const t = await startTestRelay(env);
    try {
      return await run(t);
    } finally {
      await t.close();
    }
  };
}

/** A relay whose database was changed while it was down, and an agent that was known before. */
export interface Edited {
  readonly t: TestRelay;
  readonly agent: TestAgent;
  close(): Promise<void>;
}

/** Brings a relay into a state that no operation leads to, or none within reason. */
export async function openEdited(sqlFor: (agent: TestAgent) => string): Promise<Edited> {
  const folder = mkdtempSync(join(tmpdir(), "relay-contract-"));
  const AGENT_DB_PATH = join(folder, "relay.db");
  const before = await startTestRelay({ AGENT_DB_PATH });
  const agent = await before.agent();
  await before.close();
  const db = new Sqlite(AGENT_DB_PATH);
  db.exec(sqlFor(agent));
  db.close();
  // The seed is another one, or the ids of before would be made again.
  const t = await startTestRelay({ AGENT_DB_PATH }, 2);
  return {
    t,
    agent,
    async close() {
      await t.close();
      rmSync(folder, { recursive: true });
    },
  };
}

export const revocationOf = ({ agentId }: TestAgent) =>
  `UPDATE agents SET revoked_at = 1 WHERE agent_id = '${agentId}'`;

/** A case on such a relay. */
export function edited(
  sqlFor: (agent: TestAgent) => string,
  run: (t: TestRelay, agent: TestAgent) => Promise<Reply>,
): Case {
  return async () => {
    const state = await openEdited(sqlFor);
    try {
      return await run(state.t, state.agent);
    } finally {
      await state.close();
    }
  };
}
