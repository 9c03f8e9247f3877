import { fromBase64Url, hexToBytes, utf8ToBytes, verify } from "@agent/crypto";
import { limits, refuse, scopes, type Answer, type BodyOf, type Operations } from "@agent/wire";
import { belongsElsewhere } from "../federation/belongs-elsewhere.ts";
import { note } from "../audit/note.ts";
import type { Caller } from "../identity/caller.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { AgentRow } from "../storage/tables/agents.ts";
import { decideKey, type KeyClaim, type KeyDecision } from "./bind-key.ts";
import { devicesOf, insertDevice } from "./device-store.ts";
import { insertKey, keysOf, replaceKey } from "./key-store.ts";
import { findAgent, putAgent } from "./store.ts";

type Bootstrap = Operations["bootstrap"];

/** Binds a key to an agent id and makes its first device (specification, "Registry"). */
export async function bootstrap(
  services: Pick<
    Services,
    "storage" | "runtime" | "identity" | "config" | "tokens" | "connections"
  >,
  body: BodyOf<Bootstrap>,
  caller: Caller,
): Promise<Answer<Bootstrap>> {
  const { runtime, identity } = services;
  if (body.agent_id === identity.relayId) return refuse("agent.id_reserved");
  const unproven = checkProof(body, runtime.now(), services.config.agents.requireBootstrapProof);
  if (unproven !== undefined) return unproven;

  const bound = await services.storage.transaction(async (tx) => {
    const result = await bindKey(tx, services, body, caller);
    if (!result.ok) return result;
    const devices = await devicesOf(tx, body.agent_id);
    const known = devices.find(
      ({ public_key, revoked_at }) => public_key === body.public_key && revoked_at === null,
    );
    if (known !== undefined) return { ...result, deviceId: known.device_id };
    const deviceId = newId(runtime);
    await insertDevice(tx, {
      device_id: deviceId,
      agent_id: body.agent_id,
      public_key: body.public_key,
      device_name: null,
      scopes: scopes.join(" "),
      registered_at: runtime.now(),
      revoked_at: null,
    });
    return { ...result, deviceId };
  });
  if (!bound.ok) return bound;
  forgetOldKey(services, body.agent_id, bound.decision);
  const registered = bound.decision.kind === "first";
  return {
    status: registered ? 201 : 200,
    body: { agent_id: body.agent_id, device_id: bound.deviceId, registered },
  };
}

/** Writes what `decideKey` allowed; also the way a registration changes a key. */
export async function bindKey(
  tx: Tx,
  { runtime }: Pick<Services, "runtime">,
  claim: KeyClaim,
  caller: Caller,
) {
  const { agent_id, public_key } = claim;
  const now = runtime.now();
  const agent = await findAgent(tx, agent_id);
  const decision = decideKey(claim, agent, await keysOf(tx, agent_id), now);
  if ("ok" in decision) return decision;
  if (decision.kind === "first" && (await belongsElsewhere(tx, agent_id, public_key))) {
    return refuse("agent.key_changed");
  }
  if (decision.kind === "first") {
    await putAgent(tx, { ...(agent ?? newAgent(agent_id, now)), public_key, last_seen_at: now });
    await insertKey(tx, { agent_id, public_key, valid_from: now, succession: null });
  } else if (decision.kind === "rotated" && agent !== undefined) {
    const { from, succession } = decision;
    await putAgent(tx, { ...agent, public_key, last_seen_at: now });
    await replaceKey(tx, { agent_id, old_key: from, new_key: public_key, now, succession });
  }
  if (decision.kind !== "same") {
    const action = decision.kind === "first" ? "key.bound" : "key.rotated";
    await note(tx, now, caller, { agentId: agent_id, action, detail: public_key });
  }
  return { ok: true as const, decision };
}

/** Tokens and sockets of the old key die with it. */
export function forgetOldKey(
  { tokens, connections }: Pick<Services, "tokens" | "connections">,
  agentId: string,
  decision: KeyDecision,
): void {
  if (decision.kind !== "rotated") return;
  tokens.forget(agentId);
  for (const connection of connections.of(agentId)) connection.close(4401, "key changed");
}

export function newAgent(agent_id: string, now: number): AgentRow {
  return {
    agent_id,
    public_key: null,
    endpoint_url: null,
    capabilities: "[]",
    metadata: "{}",
    federation_visible: null,
    registered: 0,
    created_at: now,
    last_seen_at: now,
    revoked_at: null,
  };
}

function checkProof(body: BodyOf<Bootstrap>, now: number, required: boolean) {
  const { proof, agent_id, public_key } = body;
  if (proof === undefined) return required ? refuse("agent.proof_required") : undefined;
  if (Math.abs(now - proof.timestamp) > limits.clockSkewMs) {
    return refuse("agent.proof_invalid", "proof.timestamp is more than 5 minutes off");
  }
  let signature: Uint8Array;
  try {
    signature = fromBase64Url(proof.signature);
  } catch {
    return refuse("agent.proof_invalid", "proof.signature is not base64url");
  }
  const message = utf8ToBytes(`${agent_id}:${public_key}:${proof.timestamp}`);
  return verify(signature, message, hexToBytes(public_key))
    ? undefined
    : refuse("agent.proof_invalid");
}
