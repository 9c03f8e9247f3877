import type { Reader } from "../../storage/storage.ts";
import { listTrustByCapability, listTrustInAgents, type ExperienceRow } from "../../trust/store.ts";
import type { AskerRecord } from "./weigh-experience.ts";
import { yieldToEventLoop } from "../../storage/yield-to-event-loop.ts";

const ROWS_PER_READ = 1_000;

const noRecords: ReadonlyMap<string, AskerRecord> = new Map();

/** Lists an asker's records of the agents with a capability, by agent id. */
export async function listAskerRecords(
  read: Reader,
  askerId: string,
  capability: string,
): Promise<ReadonlyMap<string, AskerRecord>> {
  if (askerId === "") return noRecords;
  const records = new Map<string, AskerRecord>();
  for (let after: string | undefined = ""; after !== undefined;) {
    const query = { reader: askerId, capability, after, limit: ROWS_PER_READ };
    const rows = await listTrustByCapability(read, query);
    for (const row of rows) records.set(row.remote_agent_id, toAskerRecord(row));
    after = rows.length < ROWS_PER_READ ? undefined : rows.at(-1)?.remote_agent_id;
    if (after !== undefined) await yieldToEventLoop();
  }
  return records;
}

/** Lists an asker's records of some agents, by agent id. */
export async function listAskerRecordsOf(
  read: Reader,
  askerId: string,
  agentIds: readonly string[],
): Promise<ReadonlyMap<string, AskerRecord>> {
  if (askerId === "" || agentIds.length === 0) return noRecords;
  const rows = await listTrustInAgents(read, { reader: askerId, agentIds });
  return new Map(rows.map((row) => [row.remote_agent_id, toAskerRecord(row)]));
}

function toAskerRecord(row: ExperienceRow): AskerRecord {
  return {
    trust_level: row.trust_level,
    successes: row.successful_tasks,
    counted: row.successful_tasks + row.failed_tasks,
    avg_latency_ms: row.avg_latency_ms,
  };
}
