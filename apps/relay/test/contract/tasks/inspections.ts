import type { TestAgent } from "@agent/testkit";
import {
  beginCase,
  beginDispute,
  createParties,
  decide,
  giveVerdict,
  putOffer,
  ruleAsOperator,
  signDecision,
  signVerdict,
  submitInspected,
  type Case as Inspected,
} from "../../inspections.ts";
import { createBuyer, submitTask } from "../../market.ts";
import type { Reply, TestRelay } from "../../test-relay.ts";
import { withEditedDatabase, type Case, type Contract } from "../outcome.ts";

/** Runs a case on an inspection that has begun, with the operator as arbiter. */
const onCase =
  (run: (t: TestRelay, given: Inspected) => Promise<Reply>): Case =>
  async (t) =>
    run(t, await beginCase(t, await createParties(t)));

/** Runs a case on a dispute with the named arbiter. */
const onDispute =
  (run: (t: TestRelay, given: Inspected) => Promise<Reply>): Case =>
  async (t) =>
    run(t, await beginDispute(t, await createParties(t)));

/** Submits a task to a seller that offers inspections. */
async function submitWanted(t: TestRelay, boss: TestAgent, acceptance: object): Promise<Reply> {
  const worker = await t.createAgent();
  await putOffer(t, worker);
  return submitTask(t, boss, worker, { acceptance });
}

/** Builds inspections of an agent that a test cannot produce otherwise. */
function createRowsSql(count: number, members: string) {
  return ({ agentId }: TestAgent) =>
    Array.from(
      { length: count },
      (_, index) => `INSERT INTO inspections (
        task_id, agent_id, dispute_id, terms, executor_id, arbiter_id, receipt_hash, due, due_status,
        fee, moved, verdicts, postings, counted, begun_at, submitter_id,
        state, bond, offer, deadline, contested_at, closed_at, lost_by)
      VALUES ('task-${index}', 'worker', 'dispute-${index}', '{}', 'worker', 'relay', '', 2, 'completed',
        1, 0, '[]', '[]', 1, 1, '${agentId}', ${members});`,
    ).join("\n");
}

const REJECTED = "'rejected', 0, 0, 9000000000000, null, null, null";
const LOST = "'closed', 1, 0, null, 1, 9000000000000, 'submitter'";

/** The refusals of a submission that requests an inspection. */
export const acceptanceRefusals = {
  "acceptance.not_offered": async (t: TestRelay) => {
    const worker = await t.createWorker(2);
    return submitTask(t, await createBuyer(t, 10), worker, { acceptance: {} });
  },
  "acceptance.free_task": async (t: TestRelay) => {
    const worker = await t.createAgent();
    await putOffer(t, worker, { price: 0 });
    return submitTask(t, await createBuyer(t, 10), worker, { acceptance: {} });
  },
  "acceptance.arbiter_invalid": async (t: TestRelay) => {
    const { agentId } = await t.createAgent();
    return submitWanted(t, await createBuyer(t, 10), { arbiter_id: agentId });
  },
  "acceptance.suspended": withEditedDatabase(createRowsSql(5, LOST), (t, agent) =>
    submitWanted(t, agent, {}),
  ),
  "dispute.too_many": withEditedDatabase(createRowsSql(20, REJECTED), (t, agent) =>
    submitWanted(t, agent, {}),
  ),
};

const readRefusals = (
  call: (t: TestRelay, by: TestAgent, path: string, given: Inspected) => Promise<Reply>,
) => ({
  "task.not_found": onCase((t, given) =>
    call(t, given.boss, `/agent/${given.worker.agentId}/task/unknown`, given),
  ),
  "task.not_participant": onCase(async (t, given) =>
    call(t, await t.createAgent(), given.task.path, given),
  ),
  "inspection.not_found": async (t: TestRelay) => {
    const given = await submitInspected(t, await createParties(t));
    return call(t, given.boss, given.task.path, { ...given, receiptHash: "0".repeat(64) });
  },
});

export const inspectionsContract: Contract<
  | "giveVerdict"
  | "decideDispute"
  | "getInspection"
  | "listInspections"
  | "listDisputes"
  | "listAllInspections"
> = {
  giveVerdict: {
    200: onCase((t, given) => giveVerdict(t, given, "accepted")),
    ...readRefusals((t, by, path, given) =>
      t.as(by, "POST", `${path}/verdict`, signVerdict(t, given, "accepted")),
    ),
    "request.invalid": onCase((t, given) => giveVerdict(t, given, "accepted", { reason: "none" })),
    "inspection.not_party": onCase((t, given) =>
      t.as(given.worker, "POST", `${given.task.path}/verdict`, signVerdict(t, given, "accepted")),
    ),
    "inspection.receipt_mismatch": onCase((t, given) =>
      giveVerdict(t, { ...given, receiptHash: "0".repeat(64) }, "accepted"),
    ),
    "inspection.signature_invalid": onCase((t, given) => {
      const { secretKey } = given.worker;
      const forged = { ...given, boss: { ...given.boss, secretKey } };
      const statement = signVerdict(t, forged, "accepted");
      return t.as(given.boss, "POST", `${given.task.path}/verdict`, statement);
    }),
    "inspection.timestamp": onCase((t, given) =>
      giveVerdict(t, given, "accepted", { timestamp: t.clock.now() - 300_001 }),
    ),
    "inspection.closed": onCase(async (t, given) => {
      await giveVerdict(t, given, "accepted");
      return giveVerdict(t, given, "rejected");
    }),
    "inspection.wrong_state": onCase((t, given) => giveVerdict(t, given, "conceded")),
    "dispute.bond_required": onCase(async (t, given) => {
      const withdrawal = { amount: 1, destination: "wallet" };
      const path = `/api/v1/agents/${given.worker.agentId}/withdrawals`;
      await t.as(given.worker, "POST", path, withdrawal);
      await giveVerdict(t, given, "rejected");
      return giveVerdict(t, given, "contested");
    }),
  },

  decideDispute: {
    200: onDispute((t, given) => decide(t, given, 0.75)),
    ...readRefusals((t, by, path, given) =>
      t.as(by, "POST", `${path}/decision`, signDecision(t, given, 0.75)),
    ),
    "request.invalid": onDispute((t, given) => decide(t, given, 1.1)),
    "inspection.not_party": onDispute((t, given) => ruleAsOperator(t, given, 0.5)),
    "inspection.receipt_mismatch": onDispute((t, given) =>
      decide(t, { ...given, receiptHash: "0".repeat(64) }, 0.5),
    ),
    "inspection.signature_invalid": onDispute((t, given) => {
      const { secretKey } = given.worker;
      const statement = signDecision(
        t,
        { ...given, arbiter: { ...given.arbiter, secretKey } },
        0.5,
      );
      return t.as(given.arbiter, "POST", `${given.task.path}/decision`, statement);
    }),
    "inspection.timestamp": onDispute((t, given) => {
      const statement = signDecision(t, given, 0.5, { timestamp: t.clock.now() + 300_001 });
      return t.as(given.arbiter, "POST", `${given.task.path}/decision`, statement);
    }),
    "inspection.closed": onDispute(async (t, given) => {
      await decide(t, given, 0.75);
      return decide(t, given, 0.25);
    }),
    "inspection.wrong_state": onCase((t, given) => ruleAsOperator(t, given, 0.5)),
  },

  getInspection: {
    200: onDispute((t, given) => t.as(given.arbiter, "GET", `${given.task.path}/inspection`)),
    ...readRefusals((t, by, path) => t.as(by, "GET", `${path}/inspection`)),
  },

  listInspections: {
    200: onCase((t, { boss }) =>
      t.as(boss, "GET", `/api/v1/agents/${boss.agentId}/inspections?role=delegator`),
    ),
    "request.invalid": onCase((t, { boss }) =>
      t.as(boss, "GET", `/api/v1/agents/${boss.agentId}/inspections?role=judge`),
    ),
  },

  listDisputes: {
    200: async (t) => {
      await beginDispute(t, await createParties(t), { named: false });
      return t.asOperator("GET", "/api/v1/admin/disputes");
    },
    "request.invalid": (t) => t.asOperator("GET", "/api/v1/admin/disputes?cursor=%20"),
  },

  listAllInspections: {
    200: onCase((t) => t.asOperator("GET", "/api/v1/admin/inspections?state=inspecting")),
    "request.invalid": (t) => t.asOperator("GET", "/api/v1/admin/inspections?state=open"),
  },
};
