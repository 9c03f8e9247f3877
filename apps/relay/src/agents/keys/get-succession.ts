import type { SuccessionRecord } from "@agent/crypto";
import { refuse, type Answer, type Operations } from "@agent/wire";
import type { Reader } from "../../storage/storage.ts";
import { listAgentKeys } from "./key-store.ts";

/** An agent's keys and succession records, as `verifySuccessionChain` takes them. */
export async function getSuccession(
  read: Reader,
  agent_id: string,
): Promise<Answer<Operations["getSuccession"]>> {
  const steps = (await listAgentKeys(read, agent_id))
    .map(({ succession, ...key }) => ({ key, record: parseSuccession(succession) }))
    // Two keys may begin in one millisecond of the relay's; their records never have one time.
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

/** As it was signed: both keys may have signed more members than the relay knows. */
type SignedRecord = SuccessionRecord & { readonly [member: string]: unknown };

function parseSuccession(succession: string | null): SignedRecord | undefined {
  return succession === null ? undefined : (JSON.parse(succession) as SignedRecord);
}
