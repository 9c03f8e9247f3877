import { sendVerdict, type RelayClient } from "@agent/client";
import type { Inspection, Received } from "@agent/wire";
import type { Identity } from "../identity/identity.ts";
import type { Runtime } from "../runtime.ts";
import { findInPages } from "./find-in-pages.ts";

/** An owner's order to contest the rejection of this agent's work. */
export interface ContestOrder {
  readonly taskId: string;
  /** Why the work is good, for the arbiter. */
  readonly reason: string;
}

interface ContestRefusal {
  readonly ok: false;
  readonly code: string;
  readonly message: string;
}

/** An inspection after the contest; the deadline in ms, money in USD. */
export type ContestedCase = Readonly<
  Pick<Received<typeof Inspection>, "task_id" | "state" | "deadline" | "arbiter_id" | "due"> & {
    bond: number;
  }
>;

export type ContestAnswer = { readonly ok: true; readonly answer: ContestedCase } | ContestRefusal;

export interface ContestParts {
  readonly identity: Pick<Identity, "agentId" | "secretKey">;
  readonly client: RelayClient;
  readonly runtime: Runtime;
}

/**
 * Contests the rejection of a result, which holds the arbitration fee as this agent's bond. Refused like the
 * relay's operations `listInspections` and `giveVerdict`, and with `inspection.not_found`.
 */
export async function contestRejection(
  { identity, client, runtime }: ContestParts,
  { taskId, reason }: ContestOrder,
  signal?: AbortSignal,
): Promise<ContestAnswer> {
  const { agentId } = identity;
  const perCall = signal === undefined ? {} : { signal };
  const found = await findRejected(client, { agentId, taskId }, perCall);
  if (!found.ok) return toRefusal(found);
  const { rejected } = found;
  const sent = await sendVerdict(client, {
    ...runtime,
    ...perCall,
    agentId: rejected.agent_id,
    taskId,
    receiptHash: rejected.receipt_hash,
    signer: identity,
    statement: { verdict: "contested", reason },
  });
  if (!sent.ok) return toRefusal(sent);
  const { state, deadline, arbiter_id, due, fee } = sent.body;
  return { ok: true, answer: { task_id: taskId, state, deadline, arbiter_id, due, bond: fee } };
}

type Rejected = Received<typeof Inspection>;

/** Reads the whole list, because submitters may reject more than a page of it to hide one case. */
async function findRejected(
  client: RelayClient,
  { agentId, taskId }: Pick<ContestOrder, "taskId"> & Pick<Identity, "agentId">,
  perCall: { readonly signal?: AbortSignal },
): Promise<{ readonly ok: true; readonly rejected: Rejected } | ContestRefusal> {
  const params = { agentId };
  const rejections = { role: "executor", state: "rejected" } as const;
  const listed = await findInPages(
    (page) => client.listInspections({ params, query: { ...rejections, ...page } }, perCall),
    ({ inspections }) => inspections.find(({ task_id }) => task_id === taskId),
  );
  if (!listed.ok) return toRefusal(listed);
  if (listed.found !== undefined) return { ok: true, rejected: listed.found };
  const message = "No result of this agent for that task is rejected now";
  return { ok: false, code: "inspection.not_found", message };
}

function toRefusal({ code, message }: Pick<ContestRefusal, "code" | "message">): ContestRefusal {
  return { ok: false, code, message };
}
