import { refuse, type Refusal } from "@agent/wire";
import type { Caller } from "../../identity/caller.ts";
import type { TokenKey } from "../../identity/tokens.ts";
import type { Services } from "../../services.ts";
import { isProvenKey } from "./key-proof-store.ts";
import { saveProvenKey } from "./save-proven-key.ts";
import { displaceAgentKey, endDisplacedSessions, recordKeyProof } from "./record-key-proof.ts";
import { checkKeyNotInUse } from "./check-key.ts";

type ProofDependencies = Pick<Services, "storage" | "freezer" | "runtime">;

/**
 * Records a key as proven, because a token that names the agent verified under it. An agent whose key
 * was proven under another id loses it and is refused. A frozen relay records nothing.
 */
export async function recordProofByToken(
  services: ProofDependencies & Pick<Services, "tokens" | "connections">,
  key: TokenKey,
  caller: Caller,
): Promise<Refusal<"agent.key_displaced"> | undefined> {
  const { storage, freezer, runtime } = services;
  if (freezer.frozen() !== undefined || (await isProvenKey(storage.read, key))) return undefined;
  const proven = { ...key, now: runtime.now(), caller };
  const displaced = await storage.transaction(async (tx) => {
    const result = await recordKeyProof(tx, proven);
    if (result.ok) return result.displaced;
    await displaceAgentKey(tx, proven);
    return [key.agent_id];
  });
  endDisplacedSessions(services, displaced);
  return displaced.includes(key.agent_id) ? refuse("agent.key_displaced") : undefined;
}

/**
 * Records a key as proven, because a receipt was verified with it. This does not yet take the key from
 * another agent, since an agent with the same key may have proven it in the same way: their next token
 * decides.
 */
export async function recordProofByReceipt(
  { storage, freezer, runtime }: ProofDependencies,
  key: TokenKey,
): Promise<void> {
  if (freezer.frozen() !== undefined || (await isProvenKey(storage.read, key))) return;
  await storage.transaction(async (tx) => {
    const inUse = await checkKeyNotInUse(tx, key);
    if (inUse === undefined) await saveProvenKey(tx, { ...key, proven_at: runtime.now() });
  });
}
