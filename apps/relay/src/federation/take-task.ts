import { asMicro } from "@agent/budget";
import {
  claimUnder,
  isReachable,
  inboundHold,
  judgeForward,
  openInbound,
  readSignedMessageAsync,
  relayNode,
  relaysOf,
  TaskForwardSchema,
  type ForwardContext,
  type TaskForward,
} from "@agent/federation-protocol";
import { limits, type Answer, type Operations, type Refusal } from "@agent/wire";
import { visibleProfile } from "../agents/profile-store.ts";
import { signingKeysOf } from "../agents/key-store.ts";
import { postClearing } from "../budget/clearing.ts";
import { storedTrace } from "../http/trace.ts";
import type { Attempt } from "../routing/attempt.ts";
import { priceOf } from "../routing/price.ts";
import { newId } from "../runtime.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import type { TaskRow } from "../storage/tables/tasks.ts";
import { takePlace } from "../tasks/counters.ts";
import { forwardedUntil } from "../tasks/lifetime.ts";
import { findReceipt } from "../tasks/receipt-store.ts";
import { findTask, insertTask } from "../tasks/store.ts";
import { countHops } from "./count-hops.ts";
import { debtOf } from "./debt-of.ts";
import type { FederationServices } from "./federation.ts";
import { findInbound, putInbound } from "./inbound-store.ts";
import { payerOf } from "./parties.ts";
import { findPeer } from "./peer-store.ts";
import { passOn } from "./refusal.ts";
import { priceOfRemote, viaOf, type Via } from "./remote-candidates.ts";

interface Worker {
  readonly known: NonNullable<ForwardContext["worker"]>;
  /** Where the task goes on to; undefined for an agent of this relay. */
  readonly via: Via | undefined;
}

type Taken =
  | Answer<Operations["forwardTask"]>
  | Refusal<"federation.timestamp_expired" | "federation.signature_invalid">;

/**
 * Takes a task over from a peer: judged, held from that peer's account and stored in one transaction,
 * and only then routed like any other; a repeated id is answered as a duplicate. `body` is the
 * message as it came.
 */
export async function takeTask(
  services: FederationServices,
  from: FederationPeerRow,
  message: TaskForward,
  body: unknown,
  route: (task: TaskRow) => void,
): Promise<Taken> {
  const { storage, runtime, config, identity, federation } = services;
  const signed = await readSignedMessageAsync(TaskForwardSchema, body, from.public_key);
  if (!signed.ok) return passOn(signed);
  const { task_id, target_agent, task_payload } = message;
  const worker = await findWorker(services, message);
  const hops = await countHops(services, from, { message, body, worker });
  const taken = await storage.transaction(async (tx) => {
    const now = runtime.now();
    const peer = (await findPeer(tx, from.relay_id)) ?? from;
    const judged = judgeForward(message, {
      from: from.relay_id,
      self: identity.relayId,
      now,
      isKnown:
        (await findTask(tx, task_id)) !== undefined ||
        (await findInbound(tx, task_id)) !== undefined ||
        // Of a task that both of them have forgotten.
        (await findReceipt(tx, task_id)) !== undefined,
      worker: worker?.known ?? null,
      hops,
      feeRate: config.payments.platformFeeRate,
      clearing: await debtOf(tx, peer),
    });
    if (!judged.ok) return passOn(judged);
    const payer = payerOf(peer.relay_id);
    const full = await takePlace(tx, payer);
    if (full !== undefined) return full;
    const { amount } = judged;
    const expiresAt = forwardedUntil(message.expires_at, now, config.tasks);
    const inbound = { taskId: task_id, peerId: peer.relay_id, agentId: target_agent };
    const opened = openInbound({ ...inbound, amount, expiresAt }, federation.schedule);
    await putInbound(tx, {
      task: opened,
      publicKey: message.public_key ?? worker?.known.publicKeys?.[0] ?? null,
      settlement: null,
      relayed: worker?.via === undefined ? null : relayedText(body),
      forward: JSON.stringify(body),
      accepted: null,
      version: 0,
    });
    await postClearing(tx, runtime, inboundHold({ ...inbound, amount }), {
      taskId: task_id,
      description: "hold",
    });
    const row: TaskRow = {
      ...rowOf(message, { now, expiresAt, charge: amount, via: worker?.via }),
      submitted_by: payer,
      allocation_id: amount > 0 ? newId(runtime) : null,
    };
    await insertTask(tx, row);
    return { ok: true as const, row };
  });
  if (!taken.ok) {
    federation.log.info("federation.task.refused", {
      correlationId: task_id,
      relay_id: from.relay_id,
      code: taken.code,
    });
    return taken as Taken;
  }
  federation.log.info("federation.task.taken", {
    correlationId: task_id,
    relay_id: from.relay_id,
    agent_id: target_agent,
    capabilities: task_payload.required_capabilities ?? [],
  });
  route(taken.row);
  return { status: 202, body: { task_id, status: "pending" } };
}

/** What the next relay is shown of a forward; one that carries too much beside it is not shown. */
function relayedText(body: unknown): string | null {
  const { task_payload: _, ...relayed } = body as Record<string, unknown>;
  const text = JSON.stringify(relayed);
  return Buffer.byteLength(text) <= limits.relayedBytes ? text : null;
}

/** The agent here, if peers may know of it, else the way to it that is known or that its path names. */
async function findWorker(
  services: FederationServices,
  { target_agent, task_payload, routing_choice, public_key }: TaskForward,
): Promise<Worker | undefined> {
  const { storage, federation, identity } = services;
  const required = task_payload.required_capabilities ?? [];
  const local = await visibleProfile(storage.read, { reader: "", agent_id: target_agent });
  if (local !== undefined) {
    const keys = await signingKeysOf(storage.read, target_agent);
    const publicKeys = keys
      .filter(({ valid_until }) => valid_until === null)
      .map((key) => key.public_key);
    const price = await priceOf(storage.read, target_agent, required);
    return { known: { publicKeys, price }, via: undefined };
  }
  const path = routing_choice?.path ?? [];
  const here = relayNode(identity.relayId);
  const passed = path.slice(0, path.indexOf(here) + 1);
  const claimed = federation.remote.get(target_agent);
  const named = claimed && claimUnder(claimed, public_key);
  // A single claim under another key than the named one is judged, so that the peer learns of it.
  const remote = claimed?.id_conflict === true ? named : (named ?? claimed);
  if (remote !== undefined && isReachable(remote)) {
    const via = viaOf(services, remote);
    const onward = via.route.slice(via.route.indexOf(here) + 1);
    return {
      known: { publicKeys: [remote.public_key], price: priceOfRemote(remote, required) },
      via: passed.length === 0 ? via : { ...via, route: [...passed, ...onward] },
    };
  }
  // After a restart the memory of other relays' agents is gone, but the path still names the next one.
  const [next] = relaysOf(path.slice(passed.length));
  if (passed.length === 0 || next === undefined || public_key === undefined) return undefined;
  const peer = await findPeer(storage.read, next);
  if (peer?.state !== "active") return undefined;
  return {
    known: { publicKeys: null, price: asMicro(0) },
    via: { relay_id: next, public_key, route: path },
  };
}

function rowOf(
  { task_id, target_agent, task_payload }: TaskForward,
  {
    now,
    expiresAt,
    charge,
    via,
  }: {
    readonly now: number;
    readonly expiresAt: number;
    readonly charge: number;
    readonly via: Via | undefined;
  },
): Omit<TaskRow, "submitted_by" | "allocation_id"> {
  const attempt: Attempt = { agent_id: target_agent, charge, ...(via !== undefined && { via }) };
  return {
    task_id,
    agent_id: target_agent,
    assigned_to: null,
    status: "pending",
    prompt: task_payload.prompt,
    required_capabilities: JSON.stringify(task_payload.required_capabilities ?? []),
    submitted_at: now,
    expires_at: expiresAt,
    wall_clock_ms: task_payload.wall_clock_ms ?? null,
    step_id: null,
    routing_choice: null,
    attempts: JSON.stringify([attempt]),
    attempt: 0,
    charge,
    locked: charge,
    claimed_by: null,
    lease_until: null,
    blamed: 0,
    receipt_hash: null,
    finished_at: null,
    delegation_token: null,
    trace: storedTrace(),
  };
}
