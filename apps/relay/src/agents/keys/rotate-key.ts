import { HEX_OF_32_BYTES } from "@agent/crypto";
import type { SuccessionRecord } from "@agent/crypto";
import { refuse, type Answer, type Operations } from "@agent/wire";
import type { Caller } from "../../identity/caller.ts";
import type { Services } from "../../services.ts";
import { bindKey, endOldKeySessions } from "../bootstrap-agent.ts";
import { findAgent } from "../store.ts";

type RotateKey = Operations["rotateKey"];

interface Rotation {
  readonly agentId: string;
  readonly succession: object;
  readonly caller: Caller;
}

/** Changes an agent's key on the proof of the succession record that names the new key. */
export async function rotateKey(
  services: Pick<Services, "storage" | "runtime" | "tokens" | "connections" | "trustGraph">,
  { agentId: agent_id, succession, caller }: Rotation,
): Promise<Answer<RotateKey>> {
  const { new_public_key: public_key } = succession as Partial<SuccessionRecord>;
  if (typeof public_key !== "string" || !HEX_OF_32_BYTES.test(public_key)) {
    return refuse("agent.succession_invalid", "succession.malformed");
  }
  const bound = await services.storage.transaction(async (tx) => {
    const agent = await findAgent(tx, agent_id);
    if (agent === undefined || agent.public_key === null) return refuse("agent.not_found");
    return bindKey(tx, services, { agent_id, public_key, succession, isProven: false }, caller);
  });
  if (!bound.ok) {
    const { code, detail } = bound;
    if (isFirstKeyCode(code))
      throw new Error("a bound agent with a succession was treated as a new one");
    return refuse(code, detail);
  }
  endOldKeySessions(services, agent_id, bound);
  const rotated = bound.decision.kind === "rotated";
  return { status: 200, body: { agent_id, public_key, rotated } };
}

/** Refuses a first key, or a claim without a succession record. */
function isFirstKeyCode(code: string): code is (typeof firstKeyCodes)[number] {
  return (firstKeyCodes as readonly string[]).includes(code);
}

const firstKeyCodes = ["agent.key_changed", "agent.key_displaced", "agent.id_not_of_key"] as const;
