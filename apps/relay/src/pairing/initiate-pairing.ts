import { refuse, type Answer, type Operations } from "@agent/wire";
import { findAgent } from "../agents/store.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import { createPairingCode } from "./pairing-code.ts";
import { insertPairing } from "./store.ts";

/** Creates a session for one new device of an agent. */
export async function initiatePairing(
  { storage, runtime, config }: Pick<Services, "storage" | "runtime" | "config">,
  agent_id: string,
): Promise<Answer<Operations["initiatePairing"]>> {
  const expires_at = runtime.now() + config.agents.pairingTtlMs;
  return storage.transaction(async (tx) => {
    const agent = await findAgent(tx, agent_id);
    if (agent === undefined || agent.public_key === null) return refuse("agent.not_found");
    if (agent.revoked_at !== null) return refuse("agent.revoked");
    const pairing_id = newId(runtime);
    const session = { pairing_id, agent_id, status: "pending" as const, expires_at };
    const unclaimed = { device_name: null, public_key: null, device_id: null };
    for (;;) {
      const code = createPairingCode(runtime.randomBytes);
      if (!(await insertPairing(tx, { ...session, ...unclaimed, code }))) continue;
      return { status: 201 as const, body: { pairing_id, pairing_code: code, expires_at } };
    }
  });
}
