import type { SignedLedger } from "@agent/ledger";
import type { TestAgent } from "@agent/testkit";
import { createBuyer, submitAcceptedTask, createSeller } from "../../market.ts";
import {
  createLedger,
  ledgerPath,
  ledgersPath,
  manifestPath,
  storeLedger,
  createTimeline,
} from "../../agents/ledgers.ts";
import type { Reply, TestRelay } from "../../test-relay.ts";
import type { Case, Contract } from "../outcome.ts";

const goal = "goal-1";

/** Submits the worker's ledger after changing it; the signature no longer matches. */
function submitChanged(change: (ledger: SignedLedger, worker: TestAgent) => object): Case {
  return async (t) => {
    const worker = await t.createAgent();
    return storeLedger(t, worker, change(createLedger(worker, goal), worker));
  };
}

/** Reads, as the given reader, the ledger of a task whose id is the goal. */
function readLedgerAt(
  path: typeof ledgerPath,
  run: (t: TestRelay, at: string, boss: TestAgent) => Promise<Reply>,
): Case {
  return async (t) => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const { task_id } = await submitAcceptedTask(t, boss, worker);
    return run(t, path(worker, task_id), boss);
  };
}

const readings = (path: typeof ledgerPath) => ({
  200: readLedgerAt(path, (t, at, boss) => t.as(boss, "GET", at)),
  "ledger.not_found": async (t: TestRelay) => {
    const agent = await t.createAgent();
    return t.as(agent, "GET", path(agent, goal));
  },
  "ledger.not_participant": readLedgerAt(path, async (t, at) =>
    t.as(await t.createAgent(), "GET", at),
  ),
});

export const ledgerContract: Contract<"storeLedger" | "getLedger" | "getManifest"> = {
  storeLedger: {
    201: submitChanged((ledger) => ledger),
    200: async (t) => {
      const worker = await t.createAgent();
      await storeLedger(t, worker, createLedger(worker, goal));
      return storeLedger(t, worker, createLedger(worker, goal));
    },
    "ledger.malformed": submitChanged((ledger) => ({ ...ledger, goal_id: "" })),
    "ledger.spec": submitChanged((ledger) => ({ ...ledger, spec: "agent/execution-ledger@9.0" })),
    "ledger.wrong_agent": async (t) => {
      const [worker, other] = [await t.createAgent(), await t.createAgent()];
      return storeLedger(t, worker, createLedger(other, goal));
    },
    "ledger.content_hash_mismatch": submitChanged((ledger) => ({
      ...ledger,
      timeline: ledger.timeline.slice(1),
    })),
    "ledger.unordered": submitChanged((_, worker) =>
      createLedger(worker, goal, ["completed"], {
        timeline: createTimeline(goal, ["completed"]).toReversed(),
      }),
    ),
    "ledger.unsigned": submitChanged((ledger) => ({ ...ledger, signature: undefined })),
    "ledger.key_missing": async (t) => {
      const stranger = t.createUnknownAgent();
      return t.asOperator("POST", ledgersPath(stranger), createLedger(stranger, goal));
    },
    "ledger.signature_invalid": submitChanged((ledger) => ({
      ...ledger,
      signature: `A${ledger.signature.slice(1)}`,
    })),
    "ledger.contradicted": submitChanged((ledger) => ({ ...ledger, goal_id: "goal-2" })),
    "ledger.not_extended": async (t) => {
      const worker = await t.createAgent();
      await storeLedger(t, worker, createLedger(worker, goal, ["failed"]));
      return storeLedger(t, worker, createLedger(worker, goal, ["completed"]));
    },
  },
  getLedger: readings(ledgerPath),
  getManifest: readings(manifestPath),
};
