import { delegate, type DelegateOptions, sendVerdict } from "@agent/client";
import { sha256Hex } from "@agent/crypto";
import { signDecisionRecord, signReceipt } from "@agent/receipts";
import type { Inspection, Received } from "@agent/wire";
import { joinAsClient, type ClientAgent, type Participants } from "./participants.ts";
import { unwrapBody } from "./unwrap-body.ts";

/** A dispute about a result that its buyer rejected and its seller contested, decided by an arbiter. */
export interface DecidedDispute {
  readonly inspection: Received<typeof Inspection>;
  /** The signed evidence, as it is stored. */
  readonly evidence: Record<string, unknown>;
  /** The seller's balance at the end, which consists of its deposit and its pay. */
  readonly sellerBalance: number;
}

const PROMPT = "Summarise the terms in one line per row.";
const RESULT = "1 agent\n2 relay";
const PRICE = 2;
const DEPOSIT = 1;
const OFFER = 0.25;
const SHARE = 0.75;
const TIMEOUT_MS = 10_000;

/** The seller must receive 75% of the price minus the fee of 5%, and get its bond back. */
export const EXPECTED_SELLER_BALANCE = DEPOSIT + PRICE * SHARE * 0.95;

/** Lets the editor buy a summary, inspect and reject it, and take part in the dispute about it. */
export async function disputeSummary({
  operator,
  editor,
  relayUrl,
}: Participants): Promise<DecidedDispute> {
  const [seller, arbiter] = await Promise.all([
    joinAsClient("seller", relayUrl),
    joinAsClient("arbiter", relayUrl),
  ]);
  await listOffers(seller, arbiter);
  const params = { agentId: seller.agentId };
  unwrapBody(await operator.deposit({ params, body: { amount: DEPOSIT } }));
  const rejected = await buyAndReject(editor, seller, arbiter);
  const path = { agentId: seller.agentId, taskId: rejected.task_id };
  const subject = { ...path, receiptHash: rejected.receipt_hash };
  const statement = { verdict: "contested", reason: "The prompt asks for no more rows." } as const;
  unwrapBody(await sendVerdict(seller.client, { ...subject, signer: seller, statement }));
  const inspection = await decide(arbiter, path, rejected.receipt_hash);
  return {
    inspection,
    evidence: unwrapBody(await editor.client.getEvidence({ params: path })),
    sellerBalance: unwrapBody(await operator.getBalance({ params })).balance,
  };
}

async function listOffers(seller: ClientAgent, arbiter: ClientAgent): Promise<void> {
  const list = async ({ client, agentId }: ClientAgent, listing: object) => {
    const body = { capabilities: [], ...listing };
    unwrapBody(await client.putListing({ params: { agentId }, body }));
  };
  await list(arbiter, { arbitrates: true });
  await list(seller, {
    capabilities: ["summary"],
    pricing: [{ capability: "summary", unit_cost: PRICE }],
    acceptance: { window_ms: 60_000, arbiters: [arbiter.agentId] },
  });
}

async function buyAndReject(
  editor: ClientAgent,
  seller: ClientAgent,
  arbiter: ClientAgent,
): Promise<Received<typeof Inspection>> {
  const options: DelegateOptions = {
    agentId: seller.agentId,
    prompt: PROMPT,
    timeoutMs: TIMEOUT_MS,
    acceptance: { signer: editor, arbiterId: arbiter.agentId },
    inspect: () => ({ reason: "Rows 3 to 9 are missing.", offer: OFFER }),
    onSubmitted: (taskId) => void deliver(seller, taskId),
  };
  const delegated = await delegate(editor.client, options);
  if (!delegated.ok) throw new Error(`the summary failed: ${delegated.message}`);
  const { inspection } = delegated;
  if (inspection?.ok !== true) throw new Error("the rejection was not taken");
  return inspection.inspection;
}

async function deliver(
  { agentId, client, secretKey, deviceId }: ClientAgent,
  taskId: string,
): Promise<void> {
  const now = Date.now();
  const receipt = signReceipt(
    {
      task_id: taskId,
      relay_task_id: taskId,
      agent_id: agentId,
      device_id: deviceId,
      submitted_at: now,
      completed_at: now,
      status: "completed",
      result: RESULT,
      tools_used: [],
      memories_formed: 0,
      prompt_hash: sha256Hex(PROMPT),
      result_hash: sha256Hex(RESULT),
    },
    secretKey,
  );
  unwrapBody(await client.postResult({ params: { agentId, taskId }, body: receipt }));
}

async function decide(
  { agentId: arbiter_id, client, secretKey }: ClientAgent,
  params: { readonly agentId: string; readonly taskId: string },
  receipt_hash: string,
): Promise<Received<typeof Inspection>> {
  // The arbiter may read the task as soon as its result is contested.
  const { receipt } = unwrapBody(await client.getTask({ params }));
  if (receipt?.["result"] !== RESULT) throw new Error("the arbiter was shown another result");
  const body = signDecisionRecord(
    {
      task_id: params.taskId,
      receipt_hash,
      arbiter_id,
      share: SHARE,
      reason: "Most of what the prompt asks for is there.",
      timestamp: Date.now(),
    },
    secretKey,
  );
  return unwrapBody(await client.decideDispute({ params, body }));
}
