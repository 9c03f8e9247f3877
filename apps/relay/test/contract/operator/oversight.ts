import { limits } from "@agent/wire";
import { ARGS_HASH, approvalsPath } from "../../agents/approvals.ts";
import { createBuyer, createSeller, submitAcceptedTask } from "../../market.ts";
import {
  createReceipt,
  OPERATOR_TOKEN,
  processCount,
  type Reply,
  type TestRelay,
} from "../../test-relay.ts";
import type { Case, Contract } from "../outcome.ts";
import { UNKNOWN_ID } from "../samples.ts";

const ask =
  (path: string): Case =>
  (t) =>
    t.asOperator("GET", `/api/v1/admin/${path}`);

/** Reads a path as the operator after one task failed and one was paid, while one is open. */
const askAfterWork =
  (pathOf: (taskId: string) => string): Case =>
  async (t) => {
    const { done } = await doWork(t);
    return t.asOperator("GET", `/api/v1/admin/${pathOf(done)}`);
  };

async function doWork(t: TestRelay): Promise<{ readonly done: string }> {
  const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
  const done = await submitAcceptedTask(t, boss, worker);
  await t.as(worker, "POST", `${done.path}/result`, createReceipt(worker, done));
  const failed = await submitAcceptedTask(t, boss, worker);
  await t.as(
    worker,
    "POST",
    `${failed.path}/result`,
    createReceipt(worker, failed, { status: "failed", result: "no such file" }),
  );
  await submitAcceptedTask(t, boss, worker);
  return { done: done.task_id };
}

const withApproval: Case = async (t) => {
  const agent = await t.createAgent();
  await t.as(agent, "POST", approvalsPath(agent), {
    tool_name: "pay",
    args_hash: ARGS_HASH,
    quorum_required: 1,
    quorum_approvers: [agent.agentId],
  });
  return t.asOperator("GET", "/api/v1/admin/approvals?status=pending");
};

/** Opens as many streams as the operator may have. */
async function openAllStreams(t: TestRelay): Promise<Reply> {
  const headers = { authorization: `Bearer ${OPERATOR_TOKEN}`, accept: "text/event-stream" };
  const path = "/api/v1/admin/events";
  for (let open = 0; open < limits.operatorStreams * processCount; open += 1) {
    await t.relay.fetch(new Request(`http://relay.test${path}`, { headers }));
  }
  return t.request("GET", path, { token: OPERATOR_TOKEN, headers });
}

export const oversightContract: Contract<
  | "getOverview"
  | "getSeries"
  | "listAllTasks"
  | "getTaskReport"
  | "getTaskTexts"
  | "listAllAgents"
  | "getOnlineHistory"
  | "listHolds"
  | "listProcesses"
  | "listRelayEvents"
  | "listOperatorAudit"
  | "listAllApprovals"
  | "getFreeze"
> = {
  getOverview: { 200: askAfterWork(() => "overview") },
  getSeries: { 200: askAfterWork(() => "series?metric=completed") },
  listAllTasks: {
    200: askAfterWork(() => "tasks?failed=1"),
    "request.invalid": ask("tasks?cursor=%20"),
  },
  getTaskReport: {
    200: askAfterWork((taskId) => `tasks/${taskId}`),
    "task.not_found": ask(`tasks/${UNKNOWN_ID}`),
  },
  getTaskTexts: {
    200: askAfterWork((taskId) => `tasks/${taskId}/texts`),
    "task.not_found": ask(`tasks/${UNKNOWN_ID}/texts`),
  },
  listAllAgents: {
    200: askAfterWork(() => "agents?sort=seen"),
    "request.invalid": ask("agents?cursor=%20"),
  },
  getOnlineHistory: {
    200: async (t) => {
      const { agentId } = await t.createWorker(1);
      await t.relay.tick();
      return t.asOperator("GET", `/api/v1/admin/agents/${agentId}/online-history?from=0`);
    },
    "agent.not_found": ask(`agents/${UNKNOWN_ID}/online-history`),
  },
  listHolds: {
    200: askAfterWork(() => "holds"),
    "request.invalid": ask("holds?cursor=%20"),
  },
  listProcesses: { 200: ask("processes") },
  listRelayEvents: {
    200: askAfterWork(() => "events"),
    "request.invalid": ask("events?cursor=%20"),
    "stream.too_many": openAllStreams,
  },
  listOperatorAudit: {
    200: async (t) => {
      await t.deposit(await t.createAgent(), 1);
      return t.asOperator("GET", "/api/v1/admin/audit");
    },
    "request.invalid": ask("audit?cursor=%20"),
  },
  listAllApprovals: { 200: withApproval, "request.invalid": ask("approvals?cursor=%20") },
  getFreeze: {
    200: async (t) => {
      await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "an audit" });
      return t.asOperator("GET", "/api/v1/admin/freeze");
    },
  },
};
