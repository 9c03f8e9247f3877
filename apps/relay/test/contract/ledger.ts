import type { SignedLedger } from "@agent/ledger";
import type { TestAgent } from "@agent/testkit";
import { buyer, delegate, seller } from "../market.ts";
import {
  ledgerOf,
  ledgerPath,
  ledgersOf,
  manifestPath,
  storeLedger,
  timelineOf,
} from "../ledgers.ts";
import type { Reply, TestRelay } from "../test-relay.ts";
import type { Case, Contract } from "./outcome.ts";

const goal = "goal-1";

/** The worker hands in its ledger, changed after it signed. */
function handing(change: (ledger: SignedLedger, worker: TestAgent) => object): Case {
  return async (t) => {
    const worker = await t.agent();
    return storeLedger(t, worker, change(ledgerOf(worker, goal), worker));
  };
}

/** A task whose id is the goal, seen by who is asked for. */
function reading(
  path: typeof ledgerPath,
  run: (t: TestRelay, at: string, boss: TestAgent) => Promise<Reply>,
): Case {
  return async (t) => {
    const [boss, worker] = [await buyer(t, 10), await seller(t, 2)];
    const { task_id } = await delegate(t, boss, worker);
    return run(t, path(worker, task_id), boss);
  };
}

const readings = (path: typeof ledgerPath) => ({
  200: reading(path, (t, at, boss) => t.as(boss, "GET", at)),
  "ledger.not_found": async (t: TestRelay) => {
    const agent = await t.agent();
    return t.as(agent, "GET", path(agent, goal));
  },
  "ledger.not_participant": reading(path, async (t, at) => t.as(await t.agent(), "GET", at)),
});

export const ledgerContract: Contract<"storeLedger" | "getLedger" | "getManifest"> = {
  storeLedger: {
    201: handing((ledger) => ledger),
    200: async (t) => {
      const worker = await t.agent();
      await storeLedger(t, worker, ledgerOf(worker, goal));
      return storeLedger(t, worker, ledgerOf(worker, goal));
    },
    "ledger.malformed": handing((ledger) => ({ ...ledger, goal_id: "" })),
    "ledger.spec": handing((ledger) => ({ ...ledger, spec: "agent/execution-ledger@9.0" })),
    "ledger.wrong_agent": async (t) => {
      const [worker, other] = [await t.agent(), await t.agent()];
      return storeLedger(t, worker, ledgerOf(other, goal));
    },
    "ledger.content_hash_mismatch": handing((ledger) => ({
      ...ledger,
      timeline: ledger.timeline.slice(1),
    })),
    "ledger.unordered": handing((_, worker) =>
      ledgerOf(worker, goal, ["completed"], {
        timeline: timelineOf(goal, ["completed"]).toReversed(),
      }),
    ),
    "ledger.unsigned": handing((ledger) => ({ ...ledger, signature: undefined })),
    "ledger.key_missing": async (t) => {
      const stranger = t.stranger();
      return t.asMaster("POST", ledgersOf(stranger), ledgerOf(stranger, goal));
    },
    "ledger.signature_invalid": handing((ledger) => ({
      ...ledger,
      signature: `A${ledger.signature.slice(1)}`,
    })),
    "ledger.contradicted": handing((ledger) => ({ ...ledger, goal_id: "goal-2" })),
    "ledger.not_extended": async (t) => {
      const worker = await t.agent();
      await storeLedger(t, worker, ledgerOf(worker, goal, ["failed"]));
      return storeLedger(t, worker, ledgerOf(worker, goal, ["completed"]));
    },
  },
  getLedger: readings(ledgerPath),
  getManifest: readings(manifestPath),
};
