import type { ExecutionReceipt, ReceiptBody } from "@agent/receipts";
import { createReceipt, type TestAgent } from "@agent/testkit";
import { limits } from "@agent/wire";
import { createTokenChain, attenuateToken, issueToken } from "../../agents/delegation-tokens.ts";
import { createRevocationSql } from "../../stored/edited-relay.ts";
import {
  createBuyer,
  submitAcceptedTask,
  createSeller,
  submitTask,
  type Delegation,
} from "../../market.ts";
import { processCount, type TestRelay } from "../../test-relay.ts";
import { federated, forwardTaskToPeer } from "../operator/federation.ts";
import { cardEnv, overdrawAccount } from "../../payments/card-processor.ts";
import { withEnv, withEditedDatabase, type Case, type Contract } from "../outcome.ts";
import { acceptanceRefusals } from "./inspections.ts";
import { paymentRefusals } from "../money/payments.ts";

const textsPath = (taskId: string) => `/api/v1/admin/tasks/${taskId}/texts`;
const tasksPath = ({ agentId }: TestAgent) => `/agent/${agentId}/task`;

/** Submits a paid task that waits for its receipt. */
async function openTask(t: TestRelay) {
  const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
  return { boss, worker, task: await submitAcceptedTask(t, boss, worker) };
}

/** Submits such a task and claims it as the worker. */
async function claimedTask(t: TestRelay) {
  const open = await openTask(t);
  await t.as(open.worker, "POST", `${open.task.path}/claim`);
  return open;
}

/** The refusals common to all calls about a claim. */
function claimRefusals(method: "POST" | "DELETE", verb: string) {
  const body = verb === "progress" ? {} : undefined;
  return {
    "task.not_found": async (t: TestRelay) => {
      const agent = await t.createAgent();
      return t.as(agent, method, `${tasksPath(agent)}/unknown/${verb}`, body);
    },
    "task.not_participant": async (t: TestRelay) => {
      const { boss, task } = await openTask(t);
      return t.as(boss, method, `${task.path}/${verb}`, body);
    },
  };
}

const deliver = (t: TestRelay, by: TestAgent, { path }: Delegation, receipt: object) =>
  t.as(by, "POST", `${path}/result`, receipt);

/** Delivers as the worker; `signed` is applied before signing, `sent` afterwards. */
function deliverChanged(
  signed: Partial<ReceiptBody>,
  sent: (receipt: ExecutionReceipt) => object = (receipt) => receipt,
): Case {
  return async (t) => {
    const { worker, task } = await openTask(t);
    return deliver(t, worker, task, sent(createReceipt(worker, task, signed)));
  };
}

/** Submits a task from the boss to the worker, whose price is 2, with the token that `made` builds. */
function withDelegationToken(
  made: (t: TestRelay, boss: TestAgent, worker: TestAgent) => unknown,
): Case {
  return async (t) => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    return submitTask(t, boss, worker, { delegation_token: made(t, boss, worker) });
  };
}

/** Submits a free task while the counter of open tasks is at its limit. */
function withOpenTasks(scopeOf: (agent: TestAgent) => string, live: number): Case {
  return withEditedDatabase(
    (agent) => `INSERT INTO task_counters (scope, live) VALUES ('${scopeOf(agent)}', ${live})`,
    (t, agent) => submitTask(t, agent, agent),
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
    ...acceptanceRefusals,
    201: async (t) => submitTask(t, await t.createAgent(), t.createUnknownAgent()),
    "request.invalid": async (t) =>
      submitTask(t, await t.createAgent(), t.createUnknownAgent(), { ttl_ms: 604_800_001 }),
    "task.too_deep": withEditedDatabase(
      // A task of the maximum accepted depth.
      ({ agentId }) => `INSERT INTO tasks (
          task_id, agent_id, status, prompt, required_capabilities, submitted_at, expires_at,
          attempts, attempt, charge, locked, blamed, events, depth)
        VALUES ('deepest', '${agentId}', 'pending', 'work', '[]', 0, 1e15,
          '[]', 0, 0, 0, 0, '[]', 10)`,
      (t) =>
        t.asOperator("POST", tasksPath(t.createUnknownAgent()), {
          prompt: "work",
          parent_task_id: "deepest",
        }),
    ),
    "task.no_candidate": async (t) =>
      submitTask(t, await createBuyer(t, 10), await createSeller(t, 2), {
        required_capabilities: ["other"],
      }),
    "task.target_blocked": async (t) => {
      const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
      const path = `/api/v1/agents/${boss.agentId}/trust/${worker.agentId}`;
      await t.as(boss, "PUT", path, { trust_level: "blocked" });
      return submitTask(t, boss, worker);
    },
    "task.target_revoked": async (t) => {
      const worker = await createSeller(t, 2);
      await t.as(worker, "POST", `/api/v1/agents/${worker.agentId}/revoke`, {});
      return submitTask(t, await createBuyer(t, 10), worker);
    },
    "task.id_conflict": async (t) =>
      submitTask(t, await t.createAgent(), await t.createAgent(), {
        public_key: t.createUnknownAgent().publicKey,
      }),
    "budget.insufficient": async (t) =>
      submitTask(t, await t.createAgent(), await createSeller(t, 2)),
    "account.overdrawn": withEnv(cardEnv("http://127.0.0.1:1"), async (t) => {
      const agent = await t.createAgent();
      await overdrawAccount(t, agent);
      return submitTask(t, agent, await createSeller(t, 2));
    }),
    "budget.max_exceeded": async (t) =>
      submitTask(t, await createBuyer(t, 10), await createSeller(t, 2), { max_budget: 1 }),
    "budget.max_required": withEnv({ AGENT_REQUIRE_MAX_BUDGET: "true" }, async (t) =>
      submitTask(t, await createBuyer(t, 10), await createSeller(t, 2)),
    ),
    "budget.no_payer": async (t) =>
      t.asOperator("POST", tasksPath(await createSeller(t, 2)), { prompt: "work" }),
    "task.relay_full": withOpenTasks(() => "all", limits.liveTasks),
    "delegation.malformed": withDelegationToken(() => "{"),
    "delegation.too_long": withDelegationToken((t, boss, worker) =>
      createTokenChain(t, boss, worker, 11),
    ),
    "delegation.suite": withDelegationToken((t, ...of) => ({
      ...issueToken(t, ...of),
      suite: "another",
    })),
    "delegation.wrong_issuer": withDelegationToken((t, _boss, worker) =>
      issueToken(t, worker, worker),
    ),
    "delegation.wrong_delegate": withDelegationToken((t, boss) => issueToken(t, boss, boss)),
    "delegation.remote_delegate": withEnv(federated, async (t) => {
      const { boss, worker, listening } = await forwardTaskToPeer(t);
      const answer = await submitTask(t, boss, worker, {
        delegation_token: issueToken(t, boss, worker),
      });
      await listening.close();
      return answer;
    }),
    "agent.not_found": async (t) => {
      const [boss, unknown] = [await t.createAgent(), t.createUnknownAgent()];
      return submitTask(t, boss, unknown, { delegation_token: issueToken(t, boss, unknown) });
    },
    "delegation.chain_broken": withDelegationToken((t, boss, worker) =>
      issueToken(t, boss, worker, { parent: issueToken(t, boss, worker) }),
    ),
    "delegation.widened": withDelegationToken((t, boss, worker) =>
      attenuateToken(issueToken(t, worker, boss), boss, worker, { max_budget: 6 }),
    ),
    "delegation.lifetime": withDelegationToken((t, ...of) =>
      issueToken(t, ...of, { expires_at: t.clock.now() + 86_400_001 }),
    ),
    "delegation.not_yet_valid": withDelegationToken((t, ...of) =>
      issueToken(t, ...of, { not_before: t.clock.now() + 1 }),
    ),
    "delegation.expired": withDelegationToken((t, ...of) =>
      issueToken(t, ...of, { not_before: t.clock.now() - 1, expires_at: t.clock.now() }),
    ),
    "delegation.key_unbound": withDelegationToken((t, boss, worker) =>
      issueToken(t, boss, worker, { issuer_public_key: worker.publicKey }),
    ),
    "delegation.signature_invalid": withDelegationToken((t, ...of) => ({
      ...issueToken(t, ...of),
      scope: "all",
    })),
    "delegation.budget_exceeded": withDelegationToken((t, ...of) =>
      issueToken(t, ...of, { max_budget: 1.999999 }),
    ),
    "task.submitter_full": withOpenTasks(
      ({ agentId }) => `by:${agentId}`,
      limits.liveTasksPerSubmitter,
    ),
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
      const agent = await t.createAgent();
      return t.as(agent, "GET", `${tasksPath(agent)}/unknown/events`);
    },
    "task.not_participant": async (t) => {
      const { task } = await openTask(t);
      return t.as(await t.createAgent(), "GET", `${task.path}/events`);
    },
    "stream.too_many": async (t) => {
      const { boss, task } = await openTask(t);
      const path = `${task.path}/events`;
      const headers = { authorization: `Bearer ${await t.token(boss)}` };
      for (let open = 0; open < limits.streamsPerTask * processCount; open += 1) {
        await t.relay.fetch(new Request(`http://relay.test${path}`, { headers }));
      }
      return t.as(boss, "GET", path);
    },
  },
  getTask: {
    200: async (t) => {
      const { boss, task } = await openTask(t);
      return t.as(boss, "GET", task.path);
    },
    "task.not_found": async (t) => {
      const agent = await t.createAgent();
      return t.as(agent, "GET", `${tasksPath(agent)}/unknown`);
    },
    "task.not_participant": async (t) => {
      const { task } = await openTask(t);
      return t.as(await t.createAgent(), "GET", task.path);
    },
  },

  getEvidence: {
    200: async (t) => {
      const { boss, worker, task } = await openTask(t);
      await deliver(t, worker, task, createReceipt(worker, task));
      return t.as(boss, "GET", `${task.path}/evidence`);
    },
    "task.not_found": async (t) => {
      const agent = await t.createAgent();
      return t.as(agent, "GET", `${tasksPath(agent)}/unknown/evidence`);
    },
    "task.not_participant": async (t) => {
      const { task } = await openTask(t);
      return t.as(await t.createAgent(), "GET", `${task.path}/evidence`);
    },
    "task.no_receipt": async (t) => {
      const { boss, task } = await openTask(t);
      return t.as(boss, "GET", `${task.path}/evidence`);
    },
  },

  listTasks: {
    200: async (t) => {
      const { worker } = await openTask(t);
      return t.as(worker, "GET", `${tasksPath(worker)}s`);
    },
    "request.invalid": (t) =>
      t.asOperator("GET", `${tasksPath(t.createUnknownAgent())}s?cursor=%20`),
  },

  eraseTaskTexts: {
    200: async (t) => {
      const { boss, worker, task } = await openTask(t);
      await deliver(t, worker, task, createReceipt(worker, task));
      return t.as(boss, "DELETE", textsPath(task.task_id));
    },
    "task.not_found": async (t) => t.as(await t.createAgent(), "DELETE", textsPath("unknown")),
    "task.not_submitter": async (t) => {
      const { worker, task } = await openTask(t);
      await deliver(t, worker, task, createReceipt(worker, task));
      return t.as(worker, "DELETE", textsPath(task.task_id));
    },
    "task.not_finished": async (t) => {
      const { boss, task } = await openTask(t);
      return t.as(boss, "DELETE", textsPath(task.task_id));
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
      const agent = await t.createAgent();
      return t.as(agent, "POST", `${tasksPath(agent)}/unknown/cancel`);
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
    200: deliverChanged({}),
    "task.not_found": async (t) => {
      const agent = await t.createAgent();
      return t.as(agent, "POST", `${tasksPath(agent)}/unknown/result`, {});
    },
    "task.not_participant": async (t) => {
      const { boss, worker, task } = await openTask(t);
      return deliver(t, boss, task, createReceipt(worker, task));
    },
    "task.already_finished": async (t) => {
      const { worker, task } = await openTask(t);
      await deliver(t, worker, task, createReceipt(worker, task));
      return deliver(t, worker, task, createReceipt(worker, task, { result: "another" }));
    },
    "receipt.malformed": deliverChanged({}, () => ({})),
    "receipt.too_many_nested": deliverChanged({}, (receipt) => ({
      ...receipt,
      delegation_receipts: Array.from({ length: limits.nestedReceipts + 1 }, () => receipt),
    })),
    "receipt.span": deliverChanged({ submitted_at: 0, completed_at: 3_600_001 }),
    "receipt.task_mismatch": deliverChanged({ relay_task_id: "another" }),
    "receipt.suite": deliverChanged({}, (receipt) => ({ ...receipt, suite: "another" })),
    "receipt.wrong_agent": async (t) => {
      const { worker, task } = await openTask(t);
      return deliver(t, worker, task, createReceipt(await t.createAgent(), task));
    },
    "receipt.key_missing": async (t) => {
      const unknown = t.createUnknownAgent();
      const task = await submitAcceptedTask(t, await t.createAgent(), unknown);
      const receipt = createReceipt(unknown, task, { public_key: undefined });
      return t.asOperator("POST", `${task.path}/result`, receipt);
    },
    "receipt.signature_invalid": deliverChanged({}, (receipt) => ({
      ...receipt,
      result: "another",
    })),
    "receipt.out_of_scope": deliverChanged({ delegated_scope: "read", tools_used: ["write"] }),
    "agent.revoked": withEditedDatabase(createRevocationSql, (t, agent) =>
      t.as(agent, "POST", `${tasksPath(agent)}/unknown/result`, {}),
    ),
    "money.balance_limit": async (t) => {
      const { worker, task } = await openTask(t);
      for (let i = 0; i < 9; i += 1) await t.deposit(worker, 1e9);
      return deliver(t, worker, task, createReceipt(worker, task));
    },
  },
};
