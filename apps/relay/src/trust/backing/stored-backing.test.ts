import { selectDisplayedLevel, type PayerRecord } from "@agent/routing-semiring";
import * as fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { findProfile } from "../../agents/discovery/profile-store.ts";
import { linkToProver } from "../../agents/keys/save-proven-key.ts";
import { saveKeyProof } from "../../agents/keys/key-proof-store.ts";
import { createAgentRow } from "../../agents/bootstrap-agent.ts";
import { saveAgent } from "../../agents/store.ts";
import type { Storage } from "../../storage/storage.ts";
import { migrations } from "../../storage/migrations/index.ts";
import { openMigrated } from "../../../test/stored/migrated-storage.ts";
import { listPayerRecords } from "./backing-store.ts";
import { levelName, UNKNOWN } from "../levels.ts";
import { applyTrustThresholds } from "./rebuild-backing.ts";
import { recordTrustOutcome } from "../record-trust-outcome.ts";
import { findTrustPair } from "../pair-store.ts";
import { saveTrustChange } from "../save-trust-change.ts";

let storage: Storage | undefined;
afterEach(() => storage?.close());

const payers = ["p0", "p1", "p2", "p3", "p4"];
const workers = ["w0", "w1"];
const thresholds = { verified: 50_000, trusted: 500_000 };

async function openTestStorage(): Promise<Storage> {
  const opened = await openMigrated({ path: ":memory:", migrations });
  if (!opened.ok) throw new Error(opened.detail);
  ({ storage } = opened);
  await storage.transaction(async (tx) => {
    for (const id of workers) await saveAgent(tx, createAgentRow(id, 0));
  });
  await applyTrustThresholds(storage, thresholds);
  return storage;
}

const work = fc.record({
  kind: fc.constant("work" as const),
  by: fc.constantFrom(...payers),
  worker: fc.constantFrom(...workers),
  status: fc.constantFrom("completed" as const, "completed" as const, "failed" as const),
  fee: fc.constantFrom(0, 1, 5_000, 40_000),
  times: fc.integer({ min: 1, max: 21 }),
});
const link = fc.record({
  kind: fc.constant("link" as const),
  one: fc.constantFrom(...payers),
  other: fc.constantFrom(...payers),
});
const block = fc.record({
  kind: fc.constant("block" as const),
  by: fc.constantFrom(...payers),
  worker: fc.constantFrom(...workers),
});
const change = fc.record({
  kind: fc.constant("thresholds" as const),
  verified: fc.constantFrom(0, 1, 50_000),
  trusted: fc.constantFrom(50_000, 500_000),
});
type Generated<A> = A extends fc.Arbitrary<infer T> ? T : never;
type Act = Generated<typeof work | typeof link | typeof block | typeof change>;

async function apply(db: Storage, act: Act): Promise<void> {
  if (act.kind === "thresholds") return applyTrustThresholds(db, act);
  await db.transaction(async (tx) => {
    if (act.kind === "link") {
      const public_key = `key of ${act.one}`;
      await saveKeyProof(tx, { public_key, agent_id: act.one, proven_at: 0 });
      return linkToProver(tx, { public_key, agent_id: act.other });
    }
    if (act.kind === "block") {
      const before = await findTrustPair(tx, act.by, act.worker);
      const { record } = before;
      if (record !== undefined) {
        await saveTrustChange(tx, { before, record: { ...record, trust_level: 0 } });
      }
      return undefined;
    }
    for (let task = 0; task < act.times; task += 1) {
      await recordTrustOutcome(tx, {
        delegatorId: act.by,
        executorId: act.worker,
        status: act.status,
        latencyMs: 1,
        priced: act.fee > 0,
        fee: act.fee,
        now: 0,
      });
    }
    return undefined;
  });
}

test("C2, C3: the stored sums equal those that the rule gives for all records, after any sequence of changes", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(work, work, link, block, change), { maxLength: 25 }),
      async (acts) => {
        const db = await openTestStorage();
        let current = thresholds;
        for (const act of acts) {
          if (act.kind === "thresholds") current = act;
          await apply(db, act);
          for (const id of workers) {
            const held: readonly PayerRecord[] = await listPayerRecords(db.read, id);
            const profile = await findProfile(db.read, { reader: "", agent_id: id });
            expect(levelName(profile?.payers_level ?? UNKNOWN)).toBe(
              selectDisplayedLevel(null, held, current),
            );
          }
        }
        await db.close();
      },
    ),
    { numRuns: 60 },
  );
}, 120_000);
