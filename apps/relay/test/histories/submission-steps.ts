import { toMicro } from "@agent/budget";
import type { TestAgent } from "@agent/testkit";
import { attenuateToken, issueToken } from "../agents/delegation-tokens.ts";
import type { FacilitatorMode } from "../payments/x402-facilitator.ts";
import type { Reply } from "../test-relay.ts";
import { chooseAmount, chooseFrom, type HistoryRelay } from "./history-relay.ts";
import type { HistoryStep, Picks } from "./history-step.ts";
import { listTasks } from "./list-tasks.ts";

const HOUR_MS = 3_600_000;
const ROOT_BUDGET = 3;

/** The name of a token among those of all issuers, and its budget in dollars. */
type TokenBudget = readonly [name: string, budget: number];

/** Issues a token of the payer, or passes on one that another agent issued to it. */
function createToken(relay: HistoryRelay, payer: TestAgent, worker: TestAgent, pick: number) {
  // All tokens of a name end at the same time, because one that ends later begins a new sum.
  const hour = Math.floor(relay.now() / HOUR_MS);
  const expires_at = (hour + 1) * HOUR_MS;
  const name = `${hour} ${pick % 4}`;
  const max_budget = Math.min(ROOT_BUDGET, chooseAmount(pick, 6_000_000));
  if (pick % 2 === 0) {
    const token = issueToken(relay.t, payer, worker, { token_id: name, max_budget, expires_at });
    const budgets: TokenBudget[] = [[`${payer.agentId} ${name}`, max_budget]];
    return { token, budgets };
  }
  const issuer = chooseFrom(relay.facts.parties, pick >> 3)!;
  const root = issueToken(relay.t, issuer, payer, {
    token_id: `root ${name}`,
    max_budget: ROOT_BUDGET,
    expires_at,
  });
  const token_id = `child ${name} ${pick % 16}`;
  const budgets: TokenBudget[] = [
    [`${issuer.agentId} root ${name}`, ROOT_BUDGET],
    [`${payer.agentId} ${token_id}`, max_budget],
  ];
  return { token: attenuateToken(root, payer, worker, { token_id, max_budget }), budgets };
}

async function createBody(
  relay: HistoryRelay,
  payer: TestAgent,
  { isRouted, isBound }: { readonly isRouted: boolean; readonly isBound: boolean },
  [, , kind, terms]: Picks,
): Promise<Record<string, unknown>> {
  const executes = `coalesce(assigned_to, agent_id) = '${payer.agentId}'`;
  const parents =
    kind % 6 === 1
      ? await listTasks(relay, `status in ('pending', 'claimed') and ${executes}`)
      : [];
  const parent = chooseFrom(parents, terms);
  return {
    prompt: `work ${relay.nextName()}`,
    ...(isRouted && { required_capabilities: ["summarise"] }),
    ...(terms % 5 === 0 && { max_budget: chooseAmount(terms, 3_000_000) }),
    ...(kind % 7 === 0 && { wall_clock_ms: 30_000 }),
    ...(kind % 11 === 0 && { ttl_ms: 120_000 }),
    ...(terms % 3 === 0 &&
      isBound && {
        acceptance: terms % 6 === 0 ? {} : { arbiter_id: relay.chooseParty(terms >> 2).agentId },
      }),
    ...(parent !== undefined && { parent_task_id: parent.task_id }),
  };
}

const MODES: readonly FacilitatorMode[] = [
  "well",
  "well",
  "refusing",
  "silent after settling",
  "pending after settling",
  "broken",
  "rejected by the chain",
];

/** Pays what a refused submission asks for, sometimes twice. */
async function submitPaid(
  relay: HistoryRelay,
  { headers }: Reply,
  submit: (payment: Record<string, string>) => Promise<Reply>,
  pick: number,
): Promise<Reply> {
  relay.facilitator.mode = chooseFrom(MODES, pick >> 1)!;
  const payment = await relay.wallet.pay(headers);
  const paid = await submit(payment);
  if (pick % 4 === 0) await submit(payment);
  relay.facilitator.mode = "well";
  return paid;
}

/** A task for an agent of another relay is refused with a token or an inspection, so few of them have one. */
const mayBind = (relay: HistoryRelay, worker: TestAgent, kind: number): boolean =>
  relay.findParty(worker.agentId) !== undefined || kind % 8 === 0;

/** Submits a task to an agent or to the best one, with a budget, a token, an inspection or a payment. */
const submitTask: HistoryStep = async (relay, picks) => {
  const [who, whom, kind, terms] = picks;
  const [payer, worker] = [relay.chooseParty(who), relay.chooseWorker(whom)];
  const isRouted = kind % 4 === 0;
  const isBound = mayBind(relay, worker, kind);
  const { token, budgets = [] } =
    terms % 3 === 1 && !isRouted && isBound ? createToken(relay, payer, worker, terms >> 2) : {};
  const body: Record<string, unknown> = {
    ...(await createBody(relay, payer, { isRouted, isBound }, picks)),
    ...(token !== undefined && { delegation_token: token }),
  };
  const bearer = await relay.t.token(payer);
  const headers = kind % 9 === 0 ? { "idempotency-key": `key-${kind % 5}` } : {};
  const submit = (payment: Record<string, string> = {}) => {
    const path = `/agent/${(isRouted ? payer : worker).agentId}/task`;
    const request = { token: bearer, body, headers: { ...headers, ...payment } };
    return relay.report(`submit to ${path}`, relay.t.request("POST", path, request));
  };
  let answer = await submit();
  const isAsked = answer.status === 402 && answer.headers.has("payment-required");
  if (isAsked && terms % 4 !== 3) answer = await submitPaid(relay, answer, submit, kind);
  if (answer.status === 201) keepFacts(relay, answer, body, budgets);
};

function keepFacts(
  { facts }: HistoryRelay,
  answer: Reply,
  { max_budget }: Record<string, unknown>,
  budgets: readonly TokenBudget[],
): void {
  const taskId = answer.body["task_id"] as string;
  if (typeof max_budget === "number") facts.maxBudgets[taskId] = toMicro(max_budget);
  for (const [name, budget] of budgets) {
    const use = (facts.tokens[name] ??= { budget: 0, taskIds: [] });
    use.budget = Math.max(use.budget, toMicro(budget));
    use.taskIds.push(taskId);
  }
}

/** Sends a message of A2A, sometimes again, and sometimes cancels its task. */
const sendMessage: HistoryStep = async (relay, [who, whom, kind]) => {
  const [payer, worker] = [relay.chooseParty(who), relay.chooseWorker(whom)];
  const token = await relay.t.token(payer);
  const call = (method: string, params: object) => {
    const body = { jsonrpc: "2.0", id: 1, method, params };
    const request = { token, headers: { "a2a-version": "1.0" }, body };
    return relay.report(method, relay.t.request("POST", `/a2a/${worker.agentId}`, request));
  };
  const parts = [{ text: `work ${kind % 6}` }];
  const { body } = await call("SendMessage", {
    message: { messageId: `m-${kind % 6}`, role: "ROLE_USER", parts },
    configuration: { returnImmediately: true },
  });
  const task = (body["result"] as { readonly task?: { readonly id: string } } | undefined)?.task;
  if (task !== undefined && kind % 5 === 0) await call("CancelTask", { id: task.id });
};

/** Allocates a plan, which must not move money. */
const allocatePlan: HistoryStep = (relay, [who, whom, kind]) => {
  const agent = relay.chooseParty(who);
  return relay.as(agent, "POST", `/api/v1/agents/${agent.agentId}/plans`, {
    plan_id: `plan ${kind % 3}`,
    goal_id: "goal",
    title: "a plan",
    steps: [
      { step_id: "0", ordinal: 0, capability: "summarise" },
      { step_id: "1", ordinal: 1, agent_id: relay.chooseWorker(whom).agentId },
    ],
    max_budget: chooseAmount(kind, 9_000_000),
  });
};

export const submissionSteps = {
  submitTask,
  sendMessage,
  allocatePlan,
} satisfies Record<string, HistoryStep>;
