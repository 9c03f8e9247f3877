import { fromBase64Url, hexToBytes, utf8ToBytes, verify } from "@agent/crypto";
import { limits, refuse, scopes, type Answer, type BodyOf, type Operations } from "@agent/wire";
import {
  isAgentIdClaimedByPeer,
  checkRemoteWork,
  mayBeForeignAgentId,
} from "../federation/outbound/check-foreign-agent-id.ts";
import type { FederationDependencies } from "../federation/federation-services.ts";
import { recordAudit } from "../audit/record-audit.ts";
import type { Caller } from "../identity/caller.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { Tx } from "../storage/storage.ts";
import type { AgentRow } from "../storage/tables/agents.ts";
import {
  deleteReputation,
  publishDeletedTrust,
  type DeletedTrust,
} from "../trust/delete-reputation.ts";
import { decideKey, type KeyClaim, type KeyDecision } from "./keys/decide-key.ts";
import { listAgentDevices, insertDevice } from "./devices/device-store.ts";
import { insertAgentKey, listAgentKeys, replaceAgentKey } from "./keys/key-store.ts";
import { endDisplacedSessions, recordKeyProof } from "./keys/record-key-proof.ts";
import { checkKeyNotInUse, checkUnprovenKey, isDeviceKey } from "./keys/check-key.ts";
import { endAgentSessions } from "./end-agent-sessions.ts";
import { linkToProver } from "./keys/save-proven-key.ts";
import { findAgent, saveAgent } from "./store.ts";

type Bootstrap = Operations["bootstrap"];

/** Binds a key to an agent id and creates its first device (specification, "Registry"). */
export async function bootstrapAgent(
  services: FederationDependencies & Pick<Services, "federation" | "tokens" | "trustGraph">,
  body: BodyOf<Bootstrap>,
  caller: Caller,
): Promise<Answer<Bootstrap>> {
  const { runtime, identity } = services;
  if (body.agent_id === identity.relayId) return refuse("agent.id_reserved");
  const proofRefusal = checkBootstrapProof(
    body,
    runtime.now(),
    services.config.agents.requireBootstrapProof,
  );
  if (proofRefusal !== undefined) return proofRefusal;

  // Peers are asked before the transaction, which must not wait for the network.
  if (await isAgentIdClaimedByPeer(services, body, caller)) return refuse("agent.key_changed");
  const isProven = body.proof !== undefined;

  const bound = await services.storage.transaction(async (tx) => {
    const result = await bindKey(tx, services, { ...body, isProven }, caller);
    if (!result.ok) return result;
    const devices = await listAgentDevices(tx, body.agent_id);
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
  endOldKeySessions(services, body.agent_id, bound);
  const registered = bound.decision.kind === "first";
  return {
    status: registered ? 201 : 200,
    body: { agent_id: body.agent_id, device_id: bound.deviceId, registered },
  };
}

interface ProvenClaim extends KeyClaim {
  /** True when the claim carries a signature by the holder of the key. */
  readonly isProven: boolean;
}

/** The changes that a binding made. */
export interface BindingResult {
  readonly ok: true;
  readonly decision: KeyDecision;
  /** Agents that lost the key, because they never proved it. */
  readonly displaced: readonly string[];
  /** Trust records of the id that were earned by another agent and are deleted. */
  readonly deletedTrust: DeletedTrust;
}

/** Writes a binding that `decideKey` allowed; registration changes a key the same way. */
export async function bindKey(
  tx: Tx,
  { runtime }: Pick<Services, "runtime">,
  { isProven, ...claim }: ProvenClaim,
  caller: Caller,
) {
  const { agent_id, public_key } = claim;
  const now = runtime.now();
  const agent = await findAgent(tx, agent_id);
  const decision = decideKey(claim, agent, await listAgentKeys(tx, agent_id), now);
  if (!decision.ok) return decision;
  const isFirst = decision.kind === "first";
  // Each succession record names the agent and is signed by both keys, so they are proven.
  const steps = decision.kind === "same" ? [] : decision.steps;
  for (const { to } of isFirst ? [] : steps) {
    // As the agent's own it would only count from now on, and what its device has signed could not be proven.
    if (await isDeviceKey(tx, { agent_id, public_key: to })) {
      return refuse("agent.key_unacceptable", "the key must not be that of a device of the agent");
    }
  }
  const isSigned = isProven || steps.length > 0;
  const former = isFirst ? steps.map(({ from }) => from) : [];
  const remote = isFirst ? await checkRemoteWork(tx, agent_id, [...former, public_key]) : undefined;
  if (remote?.isBarred && mayBeForeignAgentId(agent_id, caller)) return refuse("agent.key_changed");
  if (decision.kind !== "same") {
    // Claims of others, which cost nothing, must not keep the operator from binding a key.
    const isTrusted = isSigned || caller.kind === "master";
    const inUse = await (isTrusted ? checkKeyNotInUse : checkUnprovenKey)(tx, claim);
    if (inUse !== undefined) return inUse;
    await saveAgent(tx, {
      ...(agent ?? createAgentRow(agent_id, now)),
      public_key,
      last_seen_at: now,
      unreachable_at: null,
    });
    await insertKeySteps(tx, claim, decision, now);
    if (decision.kind === "rotated") tx.noteChange("tokens", agent_id);
    const action = isFirst ? "key.bound" : "key.rotated";
    await recordAudit(tx, now, caller, { agentId: agent_id, action, detail: public_key });
  }
  const deletedTrust = remote?.isUnderAnotherKey ? await deleteReputation(tx, agent_id) : [];
  for (const { from } of steps) await linkToProver(tx, { agent_id, public_key: from });
  if (!isSigned) {
    return { ok: true, decision, displaced: [], deletedTrust } satisfies BindingResult;
  }
  const proven = await recordKeyProof(tx, { agent_id, public_key, now, caller });
  if (!proven.ok) return proven;
  return { ok: true, decision, displaced: proven.displaced, deletedTrust } satisfies BindingResult;
}

async function insertKeySteps(
  tx: Tx,
  { agent_id, public_key }: KeyClaim,
  { kind, steps }: Exclude<KeyDecision, { kind: "same" }>,
  now: number,
): Promise<void> {
  const [begin] = steps;
  if (kind === "first") {
    const first = begin === undefined ? public_key : begin.from;
    const valid_from = Math.min(begin?.at ?? now, now);
    await insertAgentKey(tx, { agent_id, public_key: first, valid_from, succession: null }, now);
  }
  for (const { from, to, at, succession } of steps) {
    // A key that was replaced elsewhere long ago must not count as current here.
    const left = kind === "first" ? Math.min(at, now) : now;
    const change = { agent_id, old_key: from, new_key: to, now: left, succession };
    await replaceAgentKey(tx, change, now);
  }
}

/** Ends the tokens and sockets of the agent, and of agents that lost the key to it, once the binding is durable. */
export function endOldKeySessions(
  services: Pick<Services, "tokens" | "connections" | "trustGraph">,
  agentId: string,
  { decision, displaced, deletedTrust }: BindingResult,
): void {
  publishDeletedTrust(services, deletedTrust);
  endDisplacedSessions(services, displaced);
  if (decision.kind !== "rotated") return;
  endAgentSessions(services, agentId, { reason: "key changed" });
}

export function createAgentRow(agent_id: string, now: number): AgentRow {
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
    unreachable_at: null,
    revoked_at: null,
  };
}

function checkBootstrapProof(body: BodyOf<Bootstrap>, now: number, required: boolean) {
  const { proof, agent_id, public_key } = body;
  if (proof === undefined) return required ? refuse("agent.proof_required") : undefined;
  if (Math.abs(now - proof.timestamp) > limits.clockSkewMs) {
    return refuse(
      "agent.proof_invalid",
      "proof.timestamp must be within 5 minutes of the current time",
    );
  }
  let signature: Uint8Array;
  try {
    signature = fromBase64Url(proof.signature);
  } catch {
    return refuse("agent.proof_invalid", "proof.signature must be base64url");
  }
  const message = utf8ToBytes(`${agent_id}:${public_key}:${proof.timestamp}`);
  return verify(signature, message, hexToBytes(public_key))
    ? undefined
    : refuse("agent.proof_invalid");
}
