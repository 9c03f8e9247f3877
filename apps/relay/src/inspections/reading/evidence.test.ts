import { parseVerifierKey } from "@agent/transparency";
import { verifyArtifact } from "@agent/verify";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  beginCase,
  beginDispute,
  type Case,
  createParties,
  decide,
  giveVerdict,
  type Parties,
  passDeadline,
  ruleAsOperator,
} from "../../../test/inspections.ts";
import { createRotation } from "../../../test/agents/rotation.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let parties: Parties;
beforeEach(async () => {
  t = await startTestRelay({ AGENT_RELAY_ISSUE_CREDENTIALS: "true" });
  parties = await createParties(t);
});
afterEach(() => t.close());

async function getRelay() {
  const { body } = await t.request("GET", "/.well-known/agent-relay.json");
  const logKey = parseVerifierKey((body["log"] as { vkey: string }).vkey);
  if (!logKey.ok) throw new Error(logKey.code);
  return { key: { did: body["did"] as string }, log: { logKey: logKey.key } };
}

async function verifyEvidence(given: Case, edit: (text: string) => string = (text) => text) {
  const { text } = await t.as(given.boss, "GET", `${given.task.path}/evidence`);
  const { log } = await getRelay();
  return verifyArtifact(edit(text), { log });
}

type End = (given: Case) => Promise<unknown>;
const begin = () => beginCase(t, parties);
const reject = async (offer: number) => {
  const given = await begin();
  await giveVerdict(t, given, "rejected", { offer });
  return given;
};
const dispute = () => beginDispute(t, parties);

const passBoth: End = async (given) => {
  await passDeadline(t, given);
  await passDeadline(t, given);
};

describe("the evidence of an inspected task", () => {
  test.each<[string, () => Promise<Case>, End]>([
    ["accepted", begin, (c) => giveVerdict(t, c, "accepted")],
    ["lapsed", begin, (c) => passDeadline(t, c)],
    ["conceded", () => reject(0.5), (c) => giveVerdict(t, c, "conceded")],
    ["conceded for nothing", () => reject(0), (c) => giveVerdict(t, c, "conceded")],
    ["unanswered", () => reject(0.25), (c) => passDeadline(t, c)],
    ["decided by an agent", dispute, (c) => decide(t, c, 0.75)],
    [
      "decided by the operator",
      () => beginDispute(t, parties, { named: false }),
      (c) => ruleAsOperator(t, c, 0.25),
    ],
    ["accepted in dispute", dispute, (c) => giveVerdict(t, c, "accepted")],
    [
      "conceded in dispute",
      () => beginDispute(t, parties, { offer: 0.3 }),
      (c) => giveVerdict(t, c, "conceded"),
    ],
    ["undecided", () => beginDispute(t, parties, { offer: 0.333333 }), passBoth],
  ])(
    "IS11: evidence of a case that is %s is valid and logged, and refused if one micro-unit is changed",
    async (_, open, end) => {
      const given = await open();
      await end(given);
      expect(await verifyEvidence(given)).toMatchObject({ kind: "bundle", valid: true });
      const edited = await verifyEvidence(given, (text) =>
        text.replace(/"due":2\b/, '"due":2.000001'),
      );
      expect(edited.valid).toBe(false);
    },
  );

  test("the evidence is valid in every open state, and does not show the task as settled", async () => {
    const given = await begin();
    const expectOpen = async (state: string) => {
      const verdict = await verifyEvidence(given);
      expect(verdict).toMatchObject({ kind: "bundle", valid: true });
      expect(verdict.checks.map(({ name }) => name)).not.toContain("settled");
      const { body } = await t.as(given.boss, "GET", `${given.task.path}/evidence`);
      expect(body).toMatchObject({ settlements: [], inspection: { state } });
    };
    await expectOpen("inspecting");
    await giveVerdict(t, given, "rejected");
    await expectOpen("rejected");
    await giveVerdict(t, given, "contested");
    await expectOpen("disputed");
  });

  test("IS18: the evidence of an inspected task is valid and shows one moment while the case closes", async () => {
    const { log } = await getRelay();
    for (let round = 0; round < 4; round += 1) {
      const given = await begin();
      const texts: string[] = [];
      let isClosed = false;
      const readers = Array.from({ length: 12 }, async (_, turn) => {
        // Readers that begin one after the other are at different points of their work when the case closes.
        await vi.waitUntil(() => texts.length >= turn / 2, { interval: 1, timeout: 30_000 });
        while (!isClosed) {
          texts.push((await t.as(given.boss, "GET", `${given.task.path}/evidence`)).text);
        }
      });
      await vi.waitUntil(() => texts.length >= 12, { interval: 1, timeout: 30_000 });
      const closed = await giveVerdict(t, given, "accepted");
      isClosed = true;
      expect(closed.status).toBe(200);
      await Promise.all(readers);
      const verdicts = texts.map((text) => verifyArtifact(text, { log }));
      expect(verdicts.filter(({ valid }) => !valid)).toEqual([]);
    }
  });

  test("the evidence of an inspected task stays valid after its parties changed their keys", async () => {
    const given = await dispute();
    await decide(t, given, 0.6);
    await t.clock.advance(3_600_000);
    const rotated = [];
    for (const party of [given.boss, given.worker, given.arbiter]) {
      const { next, succession } = createRotation(t, party);
      await t.as(party, "POST", `/api/v1/agents/${party.agentId}/rotate-key`, { succession });
      rotated.push(next);
    }
    expect(await verifyEvidence({ ...given, boss: rotated[0]! })).toMatchObject({ valid: true });
  });

  test("the evidence has the outcome in the settlement record, which is also in the log", async () => {
    const given = await begin();
    await giveVerdict(t, given, "accepted");
    const { body } = await t.as(given.boss, "GET", `${given.task.path}/evidence`);
    const [settlement] = body["settlements"] as { outcome_hash: string }[];
    expect(settlement?.outcome_hash).toMatch(/^[0-9a-f]{64}$/);
    const { entries } = body["log"] as { entries: unknown[] };
    // The receipt with its key, the settlement, the outcome and the credential.
    expect(entries).toHaveLength(5);
  });
});
