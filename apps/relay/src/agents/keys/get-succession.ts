import type { SuccessionRecord } from "@agent/crypto";
import { refuse, type Answer, type Operations } from "@agent/wire";
import type { Reader } from "../../storage/storage.ts";
import { listAgentKeys } from "./key-store.ts";

/** Loads an agent's keys and succession records in the form that `verifySuccessionChain` takes. */
export async function getSuccession(
  read: Reader,
  agent_id: string,
): Promise<Answer<Operations["getSuccession"]>> {
  const steps = (await listAgentKeys(read, agent_id))
    .map(({ succession, ...key }) => ({ key, record: parseSuccession(succession) }))
    // Two keys may start in the same millisecond of the relay's clock; their records never share a timestamp.
    .toSorted((a, b) => (a.record?.timestamp ?? -1) - (b.record?.timestamp ?? -1));
  const current = steps.at(-1);
  if (current === undefined) return refuse("agent.not_found");
  return {
    status: 200,
    body: {
      agent_id,
      current_public_key: current.key.public_key,
      keys: steps.map(({ key }) => key),
      chain: steps.flatMap(({ record }) => (record === undefined ? [] : [record])),
    },
  };
}

/** The record as it was signed: both keys may have signed members that the relay does not know. */
type SignedRecord = SuccessionRecord & { readonly [member: string]: unknown };

function parseSuccession(succession: string | null): SignedRecord | undefined {
  return succession === null ? undefined : (JSON.parse(succession) as SignedRecord);
}
