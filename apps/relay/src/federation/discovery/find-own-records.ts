import { listFormerKeys, type KnownAgent } from "@agent/federation-protocol/discovery";
import { listAskerRecordsOf } from "../../routing/candidates/asker-records.ts";
import type { AskerRecord } from "../../routing/candidates/weigh-experience.ts";
import type { Reader } from "../../storage/storage.ts";
import { BLOCKED } from "../../trust/levels.ts";
import { listKeysOfRemoteAgents } from "../outbound/agent-key-store.ts";

type RemoteIdentity = Pick<KnownAgent, "agent_id" | "public_key" | "succession">;

/**
 * Finds an asker's own records of remote agents, by their ids; none for "", which is no agent. A record that was
 * earned under a key that the agent has never had is left out, because any relay can claim an id under another
 * key. A block stays.
 */
export async function findOwnRecords(
  read: Reader,
  askerId: string,
  agents: readonly RemoteIdentity[],
): Promise<ReadonlyMap<string, AskerRecord>> {
  const ids = agents.map(({ agent_id }) => agent_id);
  const records = await listAskerRecordsOf(read, askerId, ids);
  const keys = await listKeysOfRemoteAgents(read, [...records.keys()]);
  const keysById = Map.groupBy(keys, ({ agent_id }) => agent_id);
  return new Map(
    agents.flatMap((agent): [string, AskerRecord][] => {
      const record = records.get(agent.agent_id);
      if (record === undefined) return [];
      const workKeys = (keysById.get(agent.agent_id) ?? []).map(({ public_key }) => public_key);
      const counts = record.trust_level === BLOCKED || hasEarned(agent, workKeys);
      return counts ? [[agent.agent_id, record]] : [];
    }),
  );
}

/** Returns whether all work under an agent's id was delivered with keys that the agent has or had. */
export function hasEarned(
  agent: Omit<RemoteIdentity, "agent_id">,
  workKeys: readonly string[],
): boolean {
  const keys: readonly unknown[] = [agent.public_key, ...listFormerKeys(agent)];
  return workKeys.every((key) => keys.includes(key));
}
