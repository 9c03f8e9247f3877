import { asMicro } from "@agent/budget";
import { bytesToHex, generateKeyPair, sha256Hex } from "@agent/crypto";
import { type ExecutionReceipt, hashReceipt, signAttestation, signReceipt } from "@agent/receipts";
import { createTaskForward } from "../src/forwarding/task-forward.ts";
import { type InboundTask, createInbound } from "../src/forwarding/inbound-task.ts";
import { createOutbound, type OutboundTask } from "../src/forwarding/outbound-task.ts";
import { createRetrySchedule } from "../src/delivery/retry-schedule.ts";
import { computeTerms } from "../src/settlement/settlement-terms.ts";

/** A fixed time, in ms. */
export const NOW = 1_760_000_000_000;
export const SCHEDULE = createRetrySchedule();
export const TASK = "0199c800-0000-7000-8000-000000000001";

/** A relay or an agent with fixed keys. */
export interface Party {
  readonly id: string;
  readonly publicKey: string;
  readonly secretKey: Uint8Array;
}

function createParty(number: number): Party {
  const { publicKey, secretKey } = generateKeyPair(new Uint8Array(32).fill(number));
  const id = `0199c800-0000-7000-8000-0000000000${number}`;
  return { id, publicKey: bytesToHex(publicKey), secretKey };
}

export const alpha = createParty(10);
export const beta = createParty(11);
export const gamma = createParty(12);
export const worker = createParty(20);

export const buildDescription = ({ id, publicKey }: Party, name = "relay") => ({
  relayId: id,
  publicKey,
  endpointUrl: `https://${name}.example`,
  displayName: name,
});

/** 1.00 at alpha's rate of 5 percent: 0.95 for the relay after it. */
export const TERMS = computeTerms(asMicro(1_000_000), 0.05);

type TaskForwardInput = Parameters<typeof createTaskForward>[0];

/** The values of alpha's forward to beta. */
export const buildForwardInput = (change: Partial<TaskForwardInput> = {}): TaskForwardInput => ({
  taskId: TASK,
  self: alpha.id,
  to: beta.id,
  agentId: worker.id,
  publicKey: worker.publicKey,
  payload: { prompt: "add 1 and 2" },
  amount: TERMS.net,
  composite: 0.5,
  path: ["self", `relay:${alpha.id}`, `relay:${beta.id}`, worker.id],
  expiresAt: NOW + 900_000,
  ...change,
});

/** Alpha's forward to beta; `change` is signed too. */
export function buildForward(change: Partial<TaskForwardInput> = {}) {
  return createTaskForward(buildForwardInput(change), { secretKey: alpha.secretKey, now: NOW });
}

/** The task as alpha sent it to beta. */
export function buildOutboundTask(change: Partial<OutboundTask> = {}): OutboundTask {
  const order = {
    taskId: TASK,
    peerId: beta.id,
    agentId: worker.id,
    publicKey: worker.publicKey,
    terms: TERMS,
    expiresAt: NOW + 900_000,
  };
  return { ...createOutbound(order, NOW), ...change };
}

/** The task as beta accepted it from alpha. */
export function buildInboundTask(change: Partial<InboundTask> = {}): InboundTask {
  const taken = {
    taskId: TASK,
    peerId: alpha.id,
    agentId: worker.id,
    amount: TERMS.net,
    expiresAt: NOW + 900_000,
  };
  return { ...createInbound(taken, SCHEDULE), ...change };
}

/** The worker's receipt; `change` is signed too. */
export function buildReceipt(
  change: Partial<ExecutionReceipt> = {},
  signer: Party = worker,
): ExecutionReceipt {
  return signReceipt(
    {
      task_id: TASK,
      relay_task_id: TASK,
      agent_id: worker.id,
      device_id: worker.id,
      public_key: signer.publicKey,
      submitted_at: NOW,
      completed_at: NOW + 5,
      status: "completed",
      result: "3",
      tools_used: [],
      memories_formed: 0,
      prompt_hash: sha256Hex("add 1 and 2"),
      result_hash: sha256Hex("3"),
      ...change,
    },
    signer.secretKey,
  );
}

/** Beta's result for a receipt. */
export function buildResult(receipt = buildReceipt(), relay: Party = beta) {
  const attestation = signAttestation(
    {
      relay_id: relay.id,
      task_id: TASK,
      receipt_hash: hashReceipt(receipt),
      received_at: NOW + 10,
      attested_at: NOW + 10,
    },
    relay.secretKey,
  );
  return {
    task_id: TASK,
    origin_relay: alpha.id,
    receipt,
    public_key: worker.publicKey,
    attestation,
  };
}
