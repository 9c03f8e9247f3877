import { verifyArtifact } from "@agent/verify";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readLogEntries } from "../../../test/stored/log-entries.ts";
import {
  beginCase,
  beginDispute,
  createParties,
  decide,
  giveVerdict,
  type Parties,
  signDecision,
  signVerdict,
} from "../../../test/inspections.ts";
import { createPairedDevice } from "../../../test/agents/pairing.ts";
import { createRotation } from "../../../test/agents/rotation.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let parties: Parties;
beforeEach(async () => {
  t = await startTestRelay();
  parties = await createParties(t);
});
afterEach(() => t.close());

test("IS27: a statement with a future date stays proven although its key was replaced in the same millisecond", async () => {
  const given = await beginCase(t, parties);
  const timestamp = t.clock.now() + 300_000;
  expect((await giveVerdict(t, given, "rejected", { timestamp })).status).toBe(200);
  const { succession } = createRotation(t, given.boss);
  const path = `/api/v1/agents/${given.boss.agentId}/rotate-key`;
  expect((await t.as(given.boss, "POST", path, { succession })).status).toBe(200);
  await giveVerdict(t, given, "conceded");
  const { text } = await t.asOperator("GET", `${given.task.path}/evidence`);
  expect(verifyArtifact(text)).toMatchObject({ kind: "bundle", valid: true });
});

/** On any machine, the last statement arrives after the key has ended. */
const LAST_STEP = 60;

test.each(["verdict", "decision"] as const)(
  "IS28: a %s is accepted only before the log entry that ends its key",
  async (kind) => {
    const { boss, arbiter } = parties;
    const speaker = kind === "verdict" ? boss : arbiter;
    await t.deposit(boss, 200);
    await t.deposit(parties.worker, 10);
    const statuses = new Set<number>();
    const token = await t.token(speaker);
    // Each round delays the statement, or the work that ends its key, by another number of steps.
    for (let steps = -60; steps <= LAST_STEP; steps += 3) {
      const device = await createPairedDevice(t, speaker);
      const given = await (kind === "verdict" ? beginCase(t, parties) : beginDispute(t, parties));
      const body =
        kind === "verdict"
          ? signVerdict(t, { ...given, boss: device }, "accepted")
          : signDecision(t, { ...given, arbiter: device }, 0.5);
      const ending = await t.token(speaker);
      const send = async () => {
        for (let step = 0; step < steps; step += 1) await Promise.resolve();
        // The token of the request that ends the key is verified first, which takes longer than steps here.
        if (steps > 48) await new Promise((resolve) => setTimeout(resolve, steps - 48));
        return t.request("POST", `${given.task.path}/${kind}`, { token, body });
      };
      const end = async () => {
        for (let step = 0; step < -steps; step += 1) await Promise.resolve();
        const path = `/api/v1/agents/${device.agentId}/devices/${device.deviceId}`;
        return t.request("DELETE", path, { token: ending });
      };
      const ends = end();
      if (steps === LAST_STEP) await ends;
      const [sent, ended] = await Promise.all([send(), ends]);
      expect(ended.status).toBe(200);
      statuses.add(sent.status);
      if (sent.status !== 200) {
        // Too many open disputes would stop the next case.
        if (kind === "decision") await decide(t, given, 0.5);
        continue;
      }
      const kinds = (await readLogEntries(t)).map((entry) => entry.kind);
      expect(kinds.lastIndexOf("outcome")).toBeLessThan(kinds.lastIndexOf("key_ended"));
    }
    expect([...statuses]).toContain(403);
  },
  60_000,
);
