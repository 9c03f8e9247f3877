import { buyer, delegate, seller } from "../market.ts";
import { receiptOf, type TestRelay } from "../test-relay.ts";
import type { Contract } from "./outcome.ts";

const path = (agentId: string) => `/api/v1/agents/${agentId}/trust`;
const level = (trust_level: string) => ({ trust_level });

/** An agent that knows another from one task. */
async function acquainted(t: TestRelay) {
  const [boss, worker] = [await buyer(t, 10), await seller(t, 1)];
  const task = await delegate(t, boss, worker);
  await t.as(worker, "POST", `${task.path}/result`, receiptOf(worker, task));
  return { boss, worker, record: `${path(boss.agentId)}/${worker.agentId}` };
}

export const trustContract: Contract<
  "listTrust" | "getTrust" | "setTrustLevel" | "getTrustClosure" | "getTrustPath"
> = {
  listTrust: {
    200: (t) => t.asMaster("GET", path(t.stranger().agentId)),
    "request.invalid": (t) => t.asMaster("GET", `${path(t.stranger().agentId)}?cursor=%20`),
  },

  getTrust: {
    200: async (t) => {
      const { boss, record } = await acquainted(t);
      return t.as(boss, "GET", record);
    },
    "trust.not_found": (t) => t.asMaster("GET", `${path(t.stranger().agentId)}/another`),
  },

  setTrustLevel: {
    200: async (t) => {
      const { boss, record } = await acquainted(t);
      return t.as(boss, "PUT", record, level("blocked"));
    },
    "request.invalid": async (t) => {
      const { boss } = await acquainted(t);
      return t.as(boss, "PUT", `${path(boss.agentId)}/${boss.agentId}`, level("blocked"));
    },
    "agent.not_found": (t) => {
      const [nobody, other] = [t.stranger(), t.stranger()];
      return t.asMaster("PUT", `${path(nobody.agentId)}/${other.agentId}`, level("blocked"));
    },
    "trust.blocked": async (t) => {
      const { boss, record } = await acquainted(t);
      await t.as(boss, "PUT", record, level("blocked"));
      return t.as(boss, "PUT", record, level("unknown"));
    },
    "trust.level_earned": async (t) => {
      const { boss, record } = await acquainted(t);
      return t.as(boss, "PUT", record, level("trusted"));
    },
  },

  getTrustClosure: {
    200: async (t) => {
      const { boss } = await acquainted(t);
      return t.as(boss, "GET", `/api/v1/agents/${boss.agentId}/trust-closure`);
    },
  },

  getTrustPath: {
    200: async (t) => {
      const { boss, worker } = await acquainted(t);
      return t.as(worker, "GET", `/api/v1/agents/${boss.agentId}/path-to/${worker.agentId}`);
    },
    "trust.no_path": async (t) => {
      const { boss, worker } = await acquainted(t);
      return t.as(worker, "GET", `/api/v1/agents/${worker.agentId}/path-to/${boss.agentId}`);
    },
  },
};
