import {
  type DecisionRecord,
  signDecisionRecord,
  signVerdictRecord,
  type VerdictRecord,
} from "@agent/receipts";
import type { TestAgent } from "@agent/testkit";
import type { Inspection } from "@agent/wire";
import { expect } from "vitest";
import { createTwin } from "./agents/twins.ts";
import { createBuyer, submitAcceptedTask, type Delegation } from "./market.ts";
import { createReceipt, type Reply, type TestRelay } from "./test-relay.ts";

/** Lists an agent at a price of 2 per task, with its offer of inspections. */
export async function putOffer(
  t: TestRelay,
  agent: TestAgent,
  {
    price = 2,
    ...acceptance
  }: {
    readonly price?: number;
    readonly window_ms?: number;
    readonly arbiters?: readonly string[];
    readonly max_open?: number;
  } = {},
): Promise<void> {
  const listed = await t.as(agent, "POST", `/api/v1/agents/${agent.agentId}/listing`, {
    capabilities: ["summarise"],
    pricing: [{ capability: "summarise", unit_cost: price }],
    acceptance: { window_ms: 60_000, ...acceptance },
  });
  expect(listed.status).toBe(200);
}

/** Creates an agent that accepts cases as an arbiter. */
export async function createArbiter(t: TestRelay): Promise<TestAgent> {
  const agent = await t.createAgent();
  const path = `/api/v1/agents/${agent.agentId}/listing`;
  const listed = await t.as(agent, "POST", path, { capabilities: [], arbitrates: true });
  expect(listed.status).toBe(200);
  return agent;
}

/** The parties of an inspection: the submitter has 10 USD; the executor charges 2 and can pay its bond. */
export interface Parties {
  readonly boss: TestAgent;
  readonly worker: TestAgent;
  readonly arbiter: TestAgent;
}

export async function createParties(t: TestRelay): Promise<Parties> {
  const [boss, worker, arbiter] = [
    await createBuyer(t, 10),
    await createBuyer(t, 1),
    await createArbiter(t),
  ];
  await putOffer(t, worker, { arbiters: [arbiter.agentId] });
  return { boss, worker, arbiter };
}

/** Makes the submitter another identity of the executor's owner, with 100 USD. */
export async function createOneOwner(t: TestRelay, parties: Parties): Promise<Parties> {
  const [worker, boss] = await createTwin(t, parties.worker);
  await t.deposit(boss, 100);
  return { ...parties, boss, worker };
}

/** An inspected task and its parties. */
export interface Case extends Parties {
  readonly task: Delegation;
  /** The hash of the receipt; empty before the delivery. */
  readonly receiptHash: string;
}

/** Submits a task with inspection; the arbiter is the operator or the named one. */
export async function submitInspected(
  t: TestRelay,
  parties: Parties,
  acceptance: object = {},
): Promise<Case> {
  const { boss, worker } = parties;
  return {
    ...parties,
    task: await submitAcceptedTask(t, boss, worker, { acceptance }),
    receiptHash: "",
  };
}

/** Submits a task and delivers its receipt. */
export async function beginCase(
  t: TestRelay,
  parties: Parties,
  acceptance: object = {},
): Promise<Case> {
  const submitted = await submitInspected(t, parties, acceptance);
  return deliver(t, submitted);
}

/** Delivers the receipt of a submitted task. */
export async function deliver(t: TestRelay, submitted: Case): Promise<Case> {
  const { worker, task } = submitted;
  const receipt = createReceipt(worker, task);
  const answer = await t.as(worker, "POST", `${task.path}/result`, receipt);
  expect(answer).toMatchObject({ status: 200 });
  return { ...submitted, receiptHash: (await getCase(t, submitted)).receipt_hash };
}

/** Reads an inspection as the operator. */
export async function getCase(t: TestRelay, { task }: Pick<Case, "task">): Promise<Inspection> {
  const { status, body } = await t.asOperator("GET", `${task.path}/inspection`);
  expect(status).toBe(200);
  return body as unknown as Inspection;
}

/** A relay, in this process or another one, with the clock that statements about it use. */
interface Clocked {
  readonly clock: { readonly now: () => number };
}

type VerdictName = VerdictRecord["verdict"];

/** Signs the verdict as the party that may give it; `change` replaces members before it is signed. */
export function signVerdict(
  t: Clocked,
  { boss, worker, task, receiptHash }: Omit<Case, "arbiter">,
  verdict: VerdictName,
  change: Partial<VerdictRecord> = {},
): VerdictRecord {
  const speaker = verdict === "accepted" || verdict === "rejected" ? boss : worker;
  const hasReason = verdict === "rejected" || verdict === "contested";
  return signVerdictRecord(
    {
      task_id: task.task_id,
      receipt_hash: receiptHash,
      agent_id: speaker.agentId,
      verdict,
      ...(hasReason && { reason: "Rows 7 to 9 are missing." }),
      timestamp: t.clock.now(),
      ...change,
    },
    speaker.secretKey,
  );
}

/** Gives a verdict as the party that may give it. */
export function giveVerdict(
  t: TestRelay,
  given: Case,
  verdict: VerdictName,
  change: Partial<VerdictRecord> = {},
): Promise<Reply> {
  const { boss, worker, task } = given;
  const speaker = verdict === "accepted" || verdict === "rejected" ? boss : worker;
  return t.as(speaker, "POST", `${task.path}/verdict`, signVerdict(t, given, verdict, change));
}

export function signDecision(
  t: Clocked,
  { arbiter, task, receiptHash }: Case,
  share: number,
  change: Partial<DecisionRecord> = {},
): DecisionRecord {
  return signDecisionRecord(
    {
      task_id: task.task_id,
      receipt_hash: receiptHash,
      arbiter_id: arbiter.agentId,
      share,
      reason: "Most of it is there.",
      timestamp: t.clock.now(),
      ...change,
    },
    arbiter.secretKey,
  );
}

/** Decides as the named arbiter. */
export function decide(t: TestRelay, given: Case, share: number): Promise<Reply> {
  const { arbiter, task } = given;
  return t.as(arbiter, "POST", `${task.path}/decision`, signDecision(t, given, share));
}

/** Decides as the operator. */
export function ruleAsOperator(t: TestRelay, { task }: Case, share: number): Promise<Reply> {
  const ruling = { share, reason: "The prompt names six rows." };
  return t.asOperator("POST", `${task.path}/decision`, ruling);
}

/** Begins a case whose result is rejected and contested before the named arbiter. */
export async function beginDispute(
  t: TestRelay,
  parties: Parties,
  { offer, named = true }: { readonly offer?: number; readonly named?: boolean } = {},
): Promise<Case> {
  const given = await beginCase(t, parties, named ? { arbiter_id: parties.arbiter.agentId } : {});
  const rejected = await giveVerdict(t, given, "rejected", offer === undefined ? {} : { offer });
  expect(rejected).toMatchObject({ status: 200, body: { state: "rejected" } });
  const contested = await giveVerdict(t, given, "contested");
  expect(contested).toMatchObject({ status: 200, body: { state: "disputed" } });
  return given;
}

/** Advances the clock past the deadline of the current state and runs the jobs; a closed case has no deadline. */
export async function passDeadline(t: TestRelay, given: Pick<Case, "task">): Promise<void> {
  const { deadline } = await getCase(t, given);
  if (deadline === null) return;
  await t.clock.advance(deadline - t.clock.now());
  await t.relay.tick();
}
