import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { createReceipt, createTestAgent, createToken, type TestAgent } from "@agent/testkit";
import type { Settlement, Task, Transaction } from "@agent/wire";
import { OPERATOR_TOKEN } from "./test-relay.ts";

const world = { now: Date.now, randomBytes };

/** The work that a relay has acknowledged and must therefore never lose. */
export interface AcknowledgedWork {
  readonly deposits: string[];
  readonly tasks: Task[];
  /** The receipts that were accepted with status 200, by task. */
  readonly receipts: Map<string, object>;
}

/** A payer and a worker at a relay in a separate process, on the real clock. */
export interface LoadAgents {
  readonly payer: TestAgent;
  readonly worker: TestAgent;
  readonly did: string;
  readonly acknowledged: AcknowledgedWork;
}

interface Answer {
  readonly status: number;
  readonly body: Record<string, unknown>;
}

export async function requestJson(
  url: string,
  token: string,
  method = "GET",
  body?: object,
  idempotencyKey?: string,
): Promise<Answer> {
  const answer = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      "content-type": "application/json",
      ...(idempotencyKey !== undefined && { "idempotency-key": idempotencyKey }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
}

const REPEAT_MS = 200;
const MAX_REPEATS = 300;

/** Repeats a request until it is answered, like a client that must know its effect. */
export const requestUntilAnswered: typeof requestJson = async (...request) => {
  for (let sent = 1; ; sent += 1) {
    const answer = await requestJson(...request).catch(() => undefined);
    if (answer !== undefined && answer.status < 500) return answer;
    if (sent === MAX_REPEATS) throw new Error(`no answer: ${JSON.stringify(answer)}`);
    await sleep(REPEAT_MS);
  }
};

export async function createLoadAgents(baseUrl: string): Promise<LoadAgents> {
  const { body } = await requestJson(`${baseUrl}/.well-known/agent-relay.json`, OPERATOR_TOKEN);
  const people = [createTestAgent(world), createTestAgent(world)];
  for (const [i, { agentId, publicKey }] of people.entries()) {
    const keys = { agent_id: agentId, public_key: publicKey };
    const known = await requestJson(
      `${baseUrl}/api/v1/agents/bootstrap`,
      OPERATOR_TOKEN,
      "POST",
      keys,
    );
    people[i] = { ...people[i]!, deviceId: known.body["device_id"] as string };
  }
  const [payer, worker] = people as [TestAgent, TestAgent];
  await requestJson(`${baseUrl}/api/v1/agents/${worker.agentId}/listing`, OPERATOR_TOKEN, "POST", {
    capabilities: ["work"],
    pricing: [{ capability: "work", unit_cost: 1, currency: "USD", per: "task" }],
    sla: {},
    description: "works",
  });
  const acknowledged: AcknowledgedWork = { deposits: [], tasks: [], receipts: new Map() };
  return { payer, worker, did: body["did"] as string, acknowledged };
}

/**
 * Deposits 10, submits a task and delivers its receipt, `concurrency` at a time, until `isEnough` or a request
 * fails. Each request can be repeated safely, due to its reference, idempotency key or receipt.
 */
export async function runLoad(
  baseUrl: string,
  load: LoadAgents,
  isEnough: (acknowledged: AcknowledgedWork) => boolean,
  concurrency = 16,
  send = requestJson,
): Promise<void> {
  const { payer, worker, did, acknowledged } = load;
  const { deposits, tasks, receipts } = acknowledged;
  const tokens = await Promise.all([payer, worker].map((agent) => createToken(agent, did, world)));
  const [ofPayer, ofWorker] = tokens as [string, string];

  async function round(): Promise<boolean> {
    const reference = randomBytes(8).toString("hex");
    const account = `${baseUrl}/api/v1/agents/${payer.agentId}/deposit`;
    const paid = await send(account, OPERATOR_TOKEN, "POST", { amount: 10, reference });
    if (paid.status !== 200) return false;
    deposits.push(reference);
    const path = `${baseUrl}/agent/${worker.agentId}/task`;
    const submitted = await send(path, ofPayer, "POST", { prompt: reference }, reference);
    if (submitted.status !== 201) return false;
    const task = { ...submitted.body, prompt: reference, submitted_at: Date.now() } as Task;
    tasks.push(task);
    const receipt = createReceipt(worker, task);
    const posted = await send(`${path}/${task.task_id}/result`, ofWorker, "POST", receipt);
    if (posted.status !== 200) return false;
    receipts.set(task.task_id, receipt);
    return true;
  }

  async function lane(): Promise<void> {
    try {
      while (!isEnough(acknowledged) && (await round()));
    } catch {
      // The relay has ended; requests without an answer may have had no effect.
    }
  }
  await Promise.all(Array.from({ length: concurrency }, lane));
}

const MAX_WAIT_MS = 30_000;

/** Reads as the operator, and repeats the request while the relay answers that it is unavailable. */
async function readJson(url: string): Promise<Answer> {
  const end = Date.now() + MAX_WAIT_MS;
  for (;;) {
    const answer = await requestJson(url, OPERATOR_TOKEN);
    if (answer.status !== 503 || Date.now() > end) return answer;
    await sleep(500);
  }
}

/** Lists acknowledged work that a relay has lost, and errors in its books; empty without faults. */
export async function listMissing(baseUrl: string, load: LoadAgents): Promise<string[]> {
  const { payer, worker, acknowledged } = load;
  const faults: string[] = [];
  const agent = `${baseUrl}/api/v1/agents/${payer.agentId}`;
  const transactions = await listAll<Transaction>(`${agent}/transactions`, "transactions");
  const settlements = await listAll<Settlement>(`${agent}/settlements`, "settlements");
  const has = (type: string) =>
    new Set(transactions.filter((row) => row.type === type).map((row) => row.reference_id));
  const [deposited, held, debited] = [
    has("deposit"),
    has("allocation_hold"),
    has("settlement_debit"),
  ];
  for (const reference of acknowledged.deposits) {
    if (!deposited.has(reference)) faults.push(`deposit ${reference}`);
  }
  for (const { task_id } of acknowledged.tasks) {
    if (!held.has(task_id)) faults.push(`hold of ${task_id}`);
    const { status, body } = await readJson(`${baseUrl}/agent/${worker.agentId}/task/${task_id}`);
    if (status !== 200) faults.push(`task ${task_id}: ${status} ${String(body["code"])}`);
    const receipt = acknowledged.receipts.get(task_id);
    if (receipt === undefined) continue;
    if (JSON.stringify(body["receipt"]) !== JSON.stringify(receipt))
      faults.push(`receipt ${task_id}`);
    if (!debited.has(task_id)) faults.push(`debit of ${task_id}`);
    const settled = settlements.filter((settlement) => settlement.task_id === task_id);
    if (settled.length !== 1) faults.push(`${settled.length} settlements of ${task_id}`);
  }
  const books = await readJson(`${baseUrl}/api/v1/admin/reconciliation`);
  if (books.body["consistent"] !== true) faults.push(JSON.stringify(books.body["checks"]));
  const { balance, pending_allocations } = (await readJson(`${agent}/balance`)).body;
  const sum = deposited.size * 10 - debited.size;
  if (Math.abs(sum - Number(balance) - Number(pending_allocations)) > 1e-6) {
    faults.push(`balance ${String(balance)} and holds ${String(pending_allocations)}, not ${sum}`);
  }
  return faults;
}

async function listAll<T>(url: string, name: string): Promise<T[]> {
  const rows: T[] = [];
  let cursor: unknown = "";
  do {
    const query = cursor === "" ? "" : `&cursor=${String(cursor)}`;
    const { body } = await readJson(`${url}?limit=200${query}`);
    rows.push(...(body[name] as T[]));
    cursor = body["next_cursor"];
  } while (cursor !== null);
  return rows;
}
