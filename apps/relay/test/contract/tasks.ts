import type { ExecutionReceipt, ReceiptBody } from "@agent/receipts";
import { receiptOf, type TestAgent } from "@agent/testkit";
import { limits } from "@agent/wire";
import { chainOf, handOn, issue } from "../delegation-tokens.ts";
import { revocationOf } from "../edited-relay.ts";
import { buyer, delegate, seller, submit, type Delegation } from "../market.ts";
import type { TestRelay } from "../test-relay.ts";
import { federated, forwardedAway } from "./federation.ts";
import { cardEnv, overdraw } from "../card-processor.ts";
import { configured, edited, type Case, type Contract } from "./outcome.ts";
import { paymentRefusals } from "./payments.ts";

const textsOf = (taskId: string) => `/api/v1/admin/tasks/${taskId}/texts`;
const tasks = ({ agentId }: TestAgent) => `/agent/${agentId}/task`;

/** A paid task that waits for its receipt. */
async function openTask(t: TestRelay) {
  const [boss, worker] = [await buyer(t, 10), await seller(t, 2)];
  return { boss, worker, task: await delegate(t, boss, worker) };
}

/** The same once the worker has claimed it. */
async function claimedTask(t: TestRelay) {
  const open = await openTask(t);
  await t.as(open.worker, "POST", `${open.task.path}/claim`);
  return open;
}

/** What every call about a claim refuses. */
function claimRefusals(method: "POST" | "DELETE", verb: string) {
  const body = verb === "progress" ? {} : undefined;
  return {
    "task.not_found": async (t: TestRelay) => {
      const agent = await t.agent();
      return t.as(agent, method, `${tasks(agent)}/unknown/${verb}`, body);
    },
    "task.not_participant": async (t: TestRelay) => {
      const { boss, task } = await openTask(t);
      return t.as(boss, method, `${task.path}/${verb}`, body);
    },
  };
}

const deliver = (t: TestRelay, by: TestAgent, { path }: Delegation, receipt: object) =>
  t.as(by, "POST", `${path}/result`, receipt);

/** The worker delivers; `signed` is changed before it signs, `sent` afterwards. */
function delivery(
  signed: Partial<ReceiptBody>,
  sent: (receipt: ExecutionReceipt) => object = (receipt) => receipt,
): Case {
  return async (t) => {
    const { worker, task } = await openTask(t);
    return deliver(t, worker, task, sent(receiptOf(worker, task, signed)));
  };
}

/** The boss submits to the worker, whose price is 2, with the token that `made` makes. */
function under(made: (t: TestRelay, boss: TestAgent, worker: TestAgent) => unknown): Case {
  return async (t) => {
    const [boss, worker] = [await buyer(t, 10), await seller(t, 2)];
    return submit(t, boss, worker, { delegation_token: made(t, boss, worker) });
  };
}

/** A free task is submitted where the counter of open tasks stands at its limit. */
function full(scopeOf: (agent: TestAgent) => string, live: number): Case {
  return edited(
    (agent) => `INSERT INTO task_counters (scope, live) VALUES ('${scopeOf(agent)}', ${live})`,
    (t, agent) => submit(t, agent, agent),
  );
}

export const tasksContract: Contract<
  | "submitTask"
  | "getTask"
  | "getTaskEvents"
  | "getEvidence"
  | "listTasks"
  | "cancelTask"
  | "eraseTaskTexts"
  | "claimTask"
  | "reportProgress"
  | "releaseClaim"
  | "postResult"
> = {
  submitTask: {
    ...paymentRefusals,
    201: async (t) => submit(t, await t.agent(), t.stranger()),
    "request.invalid": async (t) =>
      submit(t, await t.agent(), t.stranger(), { ttl_ms: 604_800_001 }),
    "task.no_candidate": async (t) =>
      submit(t, await buyer(t, 10), await seller(t, 2), { required_capabilities: ["other"] }),
    "task.target_blocked": async (t) => {
      const [boss, worker] = [await buyer(t, 10), await seller(t, 2)];
      const path = `/api/v1/agents/${boss.agentId}/trust/${worker.agentId}`;
      await t.as(boss, "PUT", path, { trust_level: "blocked" });
      return submit(t, boss, worker);
    },
    "budget.insufficient": async (t) => submit(t, await t.agent(), await seller(t, 2)),
    "account.overdrawn": configured(cardEnv("http://127.0.0.1:1"), async (t) => {
      const agent = await t.agent();
      await overdraw(t, agent);
      return submit(t, agent, await seller(t, 2));
    }),
    "budget.max_exceeded": async (t) =>
      submit(t, await buyer(t, 10), await seller(t, 2), { max_budget: 1 }),
    "budget.max_required": configured({ AGENT_REQUIRE_MAX_BUDGET: "true" }, async (t) =>
      submit(t, await buyer(t, 10), await seller(t, 2)),
    ),
    "budget.no_payer": async (t) =>
      t.asMaster("POST", tasks(await seller(t, 2)), { prompt: "work" }),
    "task.relay_full": full(() => "all", limits.liveTasks),
    "delegation.malformed": under(() => "{"),
    "delegation.too_long": under((t, boss, worker) => chainOf(t, boss, worker, 11)),
    "delegation.suite": under((t, ...of) => ({ ...issue(t, ...of), suite: "another" })),
    "delegation.wrong_issuer": under((t, _boss, worker) => issue(t, worker, worker)),
    "delegation.wrong_delegate": under((t, boss) => issue(t, boss, boss)),
    "delegation.remote_delegate": configured(federated, async (t) => {
      const { boss, worker, listening } = await forwardedAway(t);
      const answer = await submit(t, boss, worker, { delegation_token: issue(t, boss, worker) });
      await listening.close();
      return answer;
    }),
    "agent.not_found": async (t) => {
      const [boss, unknown] = [await t.agent(), t.stranger()];
      return submit(t, boss, unknown, { delegation_token: issue(t, boss, unknown) });
    },
    "delegation.chain_broken": under((t, boss, worker) =>
      issue(t, boss, worker, { parent: issue(t, boss, worker) }),
    ),
    "delegation.widened": under((t, boss, worker) =>
      handOn(issue(t, worker, boss), boss, worker, { max_budget: 6 }),
    ),
    "delegation.lifetime": under((t, ...of) =>
      issue(t, ...of, { expires_at: t.clock.now() + 86_400_001 }),
    ),
    "delegation.not_yet_valid": under((t, ...of) =>
      issue(t, ...of, { not_before: t.clock.now() + 1 }),
    ),
    "delegation.expired": under((t, ...of) =>
      issue(t, ...of, { not_before: t.clock.now() - 1, expires_at: t.clock.now() }),
    ),
    "delegation.key_unbound": under((t, boss, worker) =>
      issue(t, boss, worker, { issuer_public_key: worker.publicKey }),
    ),
    "delegation.signature_invalid": under((t, ...of) => ({ ...issue(t, ...of), scope: "all" })),
    "delegation.budget_exceeded": under((t, ...of) => issue(t, ...of, { max_budget: 1.999999 })),
    "task.submitter_full": full(({ agentId }) => `by:${agentId}`, limits.liveTasksPerSubmitter),
  },

  getTaskEvents: {
    200: async (t) => {
      const { boss, task } = await openTask(t);
      await t.as(boss, "POST", `${task.path}/cancel`);
      return t.as(boss, "GET", `${task.path}/events`);
    },
    204: async (t) => {
      const { boss, task } = await openTask(t);
      await t.as(boss, "POST", `${task.path}/cancel`);
      return t.as(boss, "GET", `${task.path}/events?after=2`);
    },
    "task.not_found": async (t) => {
      const agent = await t.agent();
      return t.as(agent, "GET", `${tasks(agent)}/unknown/events`);
    },
    "task.not_participant": async (t) => {
      const { task } = await openTask(t);
      return t.as(await t.agent(), "GET", `${task.path}/events`);
    },
  },
  getTask: {
    200: async (t) => {
      const { boss, task } = await openTask(t);
      return t.as(boss, "GET", task.path);
    },
    "task.not_found": async (t) => {
      const agent = await t.agent();
      return t.as(agent, "GET", `${tasks(agent)}/unknown`);
    },
    "task.not_participant": async (t) => {
      const { task } = await openTask(t);
      return t.as(await t.agent(), "GET", task.path);
    },
  },

  getEvidence: {
    200: async (t) => {
      const { boss, worker, task } = await openTask(t);
      await deliver(t, worker, task, receiptOf(worker, task));
      return t.as(boss, "GET", `${task.path}/evidence`);
    },
    "task.not_found": async (t) => {
      const agent = await t.agent();
      return t.as(agent, "GET", `${tasks(agent)}/unknown/evidence`);
    },
    "task.not_participant": async (t) => {
      const { task } = await openTask(t);
      return t.as(await t.agent(), "GET", `${task.path}/evidence`);
    },
    "task.no_receipt": async (t) => {
      const { boss, task } = await openTask(t);
      return t.as(boss, "GET", `${task.path}/evidence`);
    },
    "evidence.too_deep": async (t) => {
      const { boss, worker, task } = await openTask(t);
      const note = JSON.parse("[".repeat(63) + "]".repeat(63)) as unknown;
      const deepest = { note } as Partial<ReceiptBody>;
      await deliver(t, worker, task, receiptOf(worker, task, deepest));
      return t.as(boss, "GET", `${task.path}/evidence`);
    },
  },

  listTasks: {
    200: async (t) => {
      const { worker } = await openTask(t);
      return t.as(worker, "GET", `${tasks(worker)}s`);
    },
    "request.invalid": (t) => t.asMaster("GET", `${tasks(t.stranger())}s?cursor=%20`),
  },

  eraseTaskTexts: {
    200: async (t) => {
      const { boss, worker, task } = await openTask(t);
      await deliver(t, worker, task, receiptOf(worker, task));
      return t.as(boss, "DELETE", textsOf(task.task_id));
    },
    "task.not_found": async (t) => t.as(await t.agent(), "DELETE", textsOf("unknown")),
    "task.not_submitter": async (t) => {
      const { worker, task } = await openTask(t);
      await deliver(t, worker, task, receiptOf(worker, task));
      return t.as(worker, "DELETE", textsOf(task.task_id));
    },
    "task.not_finished": async (t) => {
      const { boss, task } = await openTask(t);
      return t.as(boss, "DELETE", textsOf(task.task_id));
    },
  },
  claimTask: {
    200: async (t) => {
      const { worker, task } = await openTask(t);
      return t.as(worker, "POST", `${task.path}/claim`);
    },
    ...claimRefusals("POST", "claim"),
    "task.not_pending": async (t) => {
      const { boss, worker, task } = await openTask(t);
      await t.as(boss, "POST", `${task.path}/cancel`);
      return t.as(worker, "POST", `${task.path}/claim`);
    },
  },

  reportProgress: {
    200: async (t) => {
      const { worker, task } = await claimedTask(t);
      return t.as(worker, "POST", `${task.path}/progress`, { note: "half" });
    },
    ...claimRefusals("POST", "progress"),
    "task.not_claimed": async (t) => {
      const { worker, task } = await openTask(t);
      return t.as(worker, "POST", `${task.path}/progress`, {});
    },
  },

  releaseClaim: {
    200: async (t) => {
      const { worker, task } = await claimedTask(t);
      return t.as(worker, "DELETE", `${task.path}/claim`);
    },
    ...claimRefusals("DELETE", "claim"),
    "task.not_claimed": async (t) => {
      const { worker, task } = await openTask(t);
      return t.as(worker, "DELETE", `${task.path}/claim`);
    },
  },

  cancelTask: {
    202: async (t) => {
      const { boss, task } = await claimedTask(t);
      return t.as(boss, "POST", `${task.path}/cancel`);
    },
    200: async (t) => {
      const { boss, task } = await openTask(t);
      return t.as(boss, "POST", `${task.path}/cancel`);
    },
    "task.not_found": async (t) => {
      const agent = await t.agent();
      return t.as(agent, "POST", `${tasks(agent)}/unknown/cancel`);
    },
    "task.not_submitter": async (t) => {
      const { worker, task } = await openTask(t);
      return t.as(worker, "POST", `${task.path}/cancel`);
    },
    "task.not_pending": async (t) => {
      const { boss, task } = await openTask(t);
      await t.as(boss, "POST", `${task.path}/cancel`);
      return t.as(boss, "POST", `${task.path}/cancel`);
    },
  },

  postResult: {
    200: delivery({}),
    "task.not_found": async (t) => {
      const agent = await t.agent();
      return t.as(agent, "POST", `${tasks(agent)}/unknown/result`, {});
    },
    "task.not_participant": async (t) => {
      const { boss, worker, task } = await openTask(t);
      return deliver(t, boss, task, receiptOf(worker, task));
    },
    "task.already_finished": async (t) => {
      const { worker, task } = await openTask(t);
      await deliver(t, worker, task, receiptOf(worker, task));
      return deliver(t, worker, task, receiptOf(worker, task, { result: "another" }));
    },
    "receipt.malformed": delivery({}, () => ({})),
    "receipt.too_many_nested": delivery({}, (receipt) => ({
      ...receipt,
      delegation_receipts: Array.from({ length: limits.nestedReceipts + 1 }, () => receipt),
    })),
    "receipt.span": delivery({ submitted_at: 0, completed_at: 3_600_001 }),
    "receipt.task_mismatch": delivery({ relay_task_id: "another" }),
    "receipt.suite": delivery({}, (receipt) => ({ ...receipt, suite: "another" })),
    "receipt.wrong_agent": async (t) => {
      const { worker, task } = await openTask(t);
      return deliver(t, worker, task, receiptOf(await t.agent(), task));
    },
    "receipt.key_missing": async (t) => {
      const unknown = t.stranger();
      const task = await delegate(t, await t.agent(), unknown);
      const receipt = receiptOf(unknown, task, { public_key: undefined });
      return t.asMaster("POST", `${task.path}/result`, receipt);
    },
    "receipt.signature_invalid": delivery({}, (receipt) => ({ ...receipt, result: "another" })),
    "receipt.out_of_scope": delivery({ delegated_scope: "read", tools_used: ["write"] }),
    "agent.revoked": edited(revocationOf, (t, agent) =>
      t.as(agent, "POST", `${tasks(agent)}/unknown/result`, {}),
    ),
    "money.balance_limit": async (t) => {
      const { worker, task } = await openTask(t);
      for (let i = 0; i < 9; i += 1) await t.deposit(worker, 1e9);
      return deliver(t, worker, task, receiptOf(worker, task));
    },
  },
};
