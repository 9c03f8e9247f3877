import { createBuyer, submitAcceptedTask, createSeller } from "../../market.ts";
import { createReceipt, type TestRelay } from "../../test-relay.ts";
import type { Contract } from "../outcome.ts";

const path = (agentId: string) => `/api/v1/agents/${agentId}/trust`;
const level = (trust_level: string) => ({ trust_level });

/** Creates an agent that has a record of another agent from one task. */
async function withTrustRecord(t: TestRelay) {
  const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 1)];
  const task = await submitAcceptedTask(t, boss, worker);
  await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
  return { boss, worker, record: `${path(boss.agentId)}/${worker.agentId}` };
}

export const trustContract: Contract<
  | "listTrust"
  | "listTrustReceived"
  | "getTrust"
  | "setTrustLevel"
  | "getTrustClosure"
  | "getTrustPath"
> = {
  listTrust: {
    200: (t) => t.asOperator("GET", path(t.createUnknownAgent().agentId)),
    "request.invalid": (t) =>
      t.asOperator("GET", `${path(t.createUnknownAgent().agentId)}?cursor=%20`),
  },

  listTrustReceived: {
    200: async (t) => {
      const { worker } = await withTrustRecord(t);
      return t.asOperator("GET", `/api/v1/admin/agents/${worker.agentId}/trust`);
    },
    "request.invalid": (t) => t.asOperator("GET", "/api/v1/admin/agents/any/trust?cursor=%20"),
  },

  getTrust: {
    200: async (t) => {
      const { boss, record } = await withTrustRecord(t);
      return t.as(boss, "GET", record);
    },
    "trust.not_found": (t) =>
      t.asOperator("GET", `${path(t.createUnknownAgent().agentId)}/another`),
  },

  setTrustLevel: {
    200: async (t) => {
      const { boss, record } = await withTrustRecord(t);
      return t.as(boss, "PUT", record, level("blocked"));
    },
    "request.invalid": async (t) => {
      const { boss } = await withTrustRecord(t);
      return t.as(boss, "PUT", `${path(boss.agentId)}/${boss.agentId}`, level("blocked"));
    },
    "agent.not_found": (t) => {
      const [unknown, other] = [t.createUnknownAgent(), t.createUnknownAgent()];
      return t.asOperator("PUT", `${path(unknown.agentId)}/${other.agentId}`, level("blocked"));
    },
    "trust.blocked": async (t) => {
      const { boss, record } = await withTrustRecord(t);
      await t.as(boss, "PUT", record, level("blocked"));
      return t.as(boss, "PUT", record, level("unknown"));
    },
    "trust.level_earned": async (t) => {
      const { boss, record } = await withTrustRecord(t);
      return t.as(boss, "PUT", record, level("trusted"));
    },
  },

  getTrustClosure: {
    200: async (t) => {
      const { boss } = await withTrustRecord(t);
      return t.as(boss, "GET", `/api/v1/agents/${boss.agentId}/trust-closure`);
    },
  },

  getTrustPath: {
    200: async (t) => {
      const { boss, worker } = await withTrustRecord(t);
      return t.as(worker, "GET", `/api/v1/agents/${boss.agentId}/path-to/${worker.agentId}`);
    },
    "trust.no_path": async (t) => {
      const { boss, worker } = await withTrustRecord(t);
      return t.as(worker, "GET", `/api/v1/agents/${worker.agentId}/path-to/${boss.agentId}`);
    },
  },
};
