import { hashInspectionStatement } from "@agent/receipts";
import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  beginCase,
  beginDispute,
  type Case,
  createParties,
  decide,
  getCase,
  giveVerdict,
  type Parties,
  passDeadline,
  ruleAsOperator,
  signDecision,
  signVerdict,
} from "../../../test/inspections.ts";
import { expectConsistentBooks, getAgentStates } from "../../../test/market.ts";
import { createRotation } from "../../../test/agents/rotation.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let parties: Parties;
beforeEach(async () => {
  t = await startTestRelay();
  parties = await createParties(t);
});
afterEach(() => t.close());

const post = (by: TestAgent, given: Case, what: "verdict" | "decision", statement: object) =>
  t.as(by, "POST", `${given.task.path}/${what}`, statement);

/** Expects a refusal that changes neither the inspection nor any account. */
async function expectRefused(
  given: Case,
  code: string,
  send: () => ReturnType<typeof post>,
): Promise<void> {
  const states = () => getAgentStates(t, [given.boss, given.worker, given.arbiter]);
  const before = [await getCase(t, given), await states()];
  expect((await send()).body["code"]).toBe(code);
  expect([await getCase(t, given), await states()]).toEqual(before);
}

describe("a signed statement", () => {
  test.each<[string, string, (given: Case) => Promise<object> | object]>([
    [
      "by the key of another party",
      "inspection.signature_invalid",
      (given) =>
        signVerdict(
          t,
          { ...given, boss: { ...given.boss, secretKey: given.worker.secretKey } },
          "accepted",
        ),
    ],
    [
      "edited after it was signed",
      "inspection.signature_invalid",
      (given) => ({
        ...signVerdict(t, given, "rejected", { offer: 0.5 }),
        offer: 0.4,
      }),
    ],
    [
      "without its suite's name",
      "inspection.signature_invalid",
      (given) => ({
        ...signVerdict(t, given, "accepted"),
        suite: "another",
      }),
    ],
    [
      "with another member",
      "request.invalid",
      (given) => ({
        ...signVerdict(t, given, "accepted"),
        note: "more",
      }),
    ],
    [
      "about another receipt",
      "inspection.receipt_mismatch",
      (given) => signVerdict(t, { ...given, receiptHash: "0".repeat(64) }, "accepted"),
    ],
    [
      "about another task",
      "inspection.receipt_mismatch",
      (given) => signVerdict(t, given, "accepted", { task_id: "another" }),
    ],
    [
      "of 5 minutes and a millisecond ago",
      "inspection.timestamp",
      (given) => signVerdict(t, given, "accepted", { timestamp: t.clock.now() - 300_001 }),
    ],
    [
      "of 5 minutes and a millisecond ahead",
      "inspection.timestamp",
      (given) => signVerdict(t, given, "accepted", { timestamp: t.clock.now() + 300_001 }),
    ],
    ["of the other party", "inspection.not_party", (given) => signVerdict(t, given, "conceded")],
  ])("IS12: a statement %s is refused: %s", async (_, code, make) => {
    const given = await beginCase(t, parties);
    const statement = await make(given);
    await expectRefused(given, code, () => post(given.boss, given, "verdict", statement));
  });

  test.each([-300_000, 300_000])(
    "the time of a signed statement may be %i ms from the relay's clock",
    async (skew) => {
      const given = await beginCase(t, parties);
      const timestamp = t.clock.now() + skew;
      expect((await giveVerdict(t, given, "accepted", { timestamp })).status).toBe(200);
    },
  );

  test("IS2: a statement under a former key is refused, and one under the current key is accepted", async () => {
    const given = await beginCase(t, parties);
    const rotation = createRotation(t, given.boss);
    const path = `/api/v1/agents/${given.boss.agentId}/rotate-key`;
    const old = signVerdict(t, given, "accepted");
    const rotated = await t.as(given.boss, "POST", path, { succession: rotation.succession });
    expect(rotated.status).toBe(200);
    const now = { ...given, boss: rotation.next };
    await expectRefused(now, "inspection.signature_invalid", () =>
      post(rotation.next, given, "verdict", old),
    );
    expect((await giveVerdict(t, now, "accepted")).status).toBe(200);
  });

  test("a signed statement of a revoked party is refused, and the party's deadline still ends", async () => {
    const given = await beginCase(t, parties);
    const statement = signVerdict(t, given, "rejected");
    await t.asOperator("POST", `/api/v1/agents/${given.boss.agentId}/revoke`, {});
    const answer = await t.asOperator("POST", `${given.task.path}/verdict`, statement);
    expect(answer.body["code"]).toBe("inspection.signature_invalid");
    await passDeadline(t, given);
    expect((await getCase(t, given)).outcome).toMatchObject({ outcome: "lapsed" });
  });

  test("a repeated signed statement gets the same answer, and is refused if its content differs", async () => {
    const given = await beginCase(t, parties);
    const statement = signVerdict(t, given, "rejected", { offer: 0.5 });
    const first = await post(given.boss, given, "verdict", statement);
    const again = await post(given.boss, given, "verdict", statement);
    expect(again).toMatchObject({ status: 200, body: first.body });
    await expectRefused(given, "inspection.wrong_state", () =>
      giveVerdict(t, given, "rejected", { offer: 0.4 }),
    );
    await t.clock.advance(600_000);
    expect((await post(given.boss, given, "verdict", statement)).status).toBe(200);
  });

  test("IS24: a reason that no signature can cover is refused as malformed", async () => {
    const given = await beginDispute(t, parties, { named: false });
    const reason = "row \ud800";
    const ruling = { share: 0.5, reason };
    await expectRefused(given, "request.invalid", () =>
      t.asOperator("POST", `${given.task.path}/decision`, ruling),
    );
    const statement = { ...signVerdict(t, await beginCase(t, parties), "rejected"), reason };
    await expectRefused(given, "request.invalid", () =>
      post(given.boss, given, "verdict", statement),
    );
  });

  test.each<[string, object, string]>([
    ["a share of another type", { share: "half", reason: "late" }, "share"],
    ["a share with seven decimals", { share: 0.1234567, reason: "late" }, "share"],
    ["a missing reason", { share: 0.5 }, "reason"],
    ["an unknown member", { share: 0.5, reason: "late", note: "x" }, "note"],
  ])(
    "the refusal of an operator's decision with %s names this fault alone",
    async (_, ruling, path) => {
      const given = await beginDispute(t, parties, { named: false });
      const answer = await t.asOperator("POST", `${given.task.path}/decision`, ruling);
      expect([answer.status, answer.body["issues"]]).toEqual([
        400,
        [expect.objectContaining({ path })],
      ]);
    },
  );

  test("the operator may deliver a signed statement for its author", async () => {
    const given = await beginDispute(t, parties);
    const statement = signDecision(t, given, 0.75);
    const answer = await t.asOperator("POST", `${given.task.path}/decision`, statement);
    expect(answer).toMatchObject({ status: 200, body: { state: "closed", decision: statement } });
    const { outcome } = await getCase(t, given);
    expect(outcome?.decision).toBe(hashInspectionStatement(statement));
  });

  test("a signed statement is accepted once for each Idempotency-Key", async () => {
    const given = await beginDispute(t, parties, { named: false });
    const request = {
      token: await t.token(given.boss),
      body: signVerdict(t, given, "accepted"),
      headers: { "idempotency-key": "accept-1" },
    };
    const path = `${given.task.path}/verdict`;
    const first = await t.request("POST", path, request);
    const again = await t.request("POST", path, { ...request, token: await t.token(given.boss) });
    expect([first.status, again.status]).toEqual([200, 200]);
    expect(again.body).toEqual(first.body);
  });
});

describe("access to an inspection", () => {
  const reads = ["", "/inspection", "/evidence"] as const;
  const readAs = async (by: TestAgent, given: Case) =>
    Promise.all(
      reads.map(async (what) => (await t.as(by, "GET", `${given.task.path}${what}`)).status),
    );

  test("IS3: an inspection is shown to its parties and, from the contest on, to the arbiter in charge", async () => {
    const { arbiter, boss, worker } = parties;
    const stranger = await t.createAgent();
    const given = await beginCase(t, parties, { arbiter_id: arbiter.agentId });
    expect(await readAs(boss, given)).toEqual([200, 200, 200]);
    expect(await readAs(worker, given)).toEqual([200, 200, 200]);
    expect(await readAs(stranger, given)).toEqual([403, 403, 403]);
    expect(await readAs(arbiter, given)).toEqual([403, 404, 403]);
    await giveVerdict(t, given, "rejected");
    expect(await readAs(arbiter, given)).toEqual([403, 404, 403]);
    await giveVerdict(t, given, "contested");
    expect(await readAs(arbiter, given)).toEqual([200, 200, 200]);
    expect(await readAs(stranger, given)).toEqual([403, 403, 403]);
    await decide(t, given, 0.75);
    expect(await readAs(arbiter, given)).toEqual([200, 200, 200]);
    await t.clock.advance(30 * 86_400_000 - 1);
    expect(await readAs(arbiter, given)).toEqual([200, 200, 200]);
    await t.clock.advance(1);
    expect(await readAs(arbiter, given)).toEqual([403, 404, 403]);
  });

  test("IS3: the access of an arbiter that is replaced ends at its deadline", async () => {
    const { arbiter } = parties;
    const given = await beginDispute(t, parties);
    const { deadline } = await getCase(t, given);
    await t.clock.advance((deadline ?? 0) - t.clock.now() - 1);
    expect(await readAs(arbiter, given)).toEqual([200, 200, 200]);
    await t.clock.advance(1);
    // The job has not handled the deadline yet.
    expect(await readAs(arbiter, given)).toEqual([403, 404, 403]);
    expect((await decide(t, given, 0.5)).body["code"]).toBe("inspection.not_found");
    await t.relay.tick();
    expect(await readAs(arbiter, given)).toEqual([403, 404, 403]);
    const waiting = await t.asOperator("GET", "/api/v1/admin/disputes");
    expect(waiting.body["inspections"]).toMatchObject([{ task_id: given.task.task_id }]);
    expect((await ruleAsOperator(t, given, 0.5)).status).toBe(200);
    const info = await t.request("GET", "/.well-known/agent-relay.json");
    expect(info.body["disputes"]).toMatchObject({ opened: 1, decided: 1, undecided: 0 });
  });

  test("the arbiter sees the evidence without the routing record, and the ledger of this task alone", async () => {
    const { arbiter, worker } = parties;
    const given = await beginDispute(t, parties);
    const ledgerOf = (goal: string) =>
      t.as(arbiter, "GET", `/agent/${worker.agentId}/ledger/${goal}`);
    expect((await ledgerOf(given.task.task_id)).status).not.toBe(403);
    expect((await ledgerOf("another")).status).toBe(403);
    const other = await beginCase(t, parties);
    expect((await ledgerOf(other.task.task_id)).status).toBe(403);
    const { body } = await t.as(arbiter, "GET", `${given.task.path}/evidence`);
    expect(body["routing"]).not.toHaveProperty("record");
  });

  test.each<[string, (given: Case) => TestAgent | Promise<TestAgent>, string]>([
    ["a stranger", () => t.createAgent(), "task.not_participant"],
    ["the submitter", ({ boss }) => boss, "inspection.not_party"],
    ["the executor", ({ worker }) => worker, "inspection.not_party"],
  ])("%s may not decide a dispute", async (_, who, code) => {
    const given = await beginDispute(t, parties);
    const by = await who(given);
    const own = signDecision(t, { ...given, arbiter: by }, 1);
    await expectRefused(given, code, () => post(by, given, "decision", own));
    await expectRefused(given, code, () => post(by, given, "decision", signDecision(t, given, 1)));
  });

  test("the operator may decide only a dispute that it is in charge of", async () => {
    const given = await beginDispute(t, parties);
    await expectRefused(given, "inspection.not_party", () => ruleAsOperator(t, given, 1));
    await passDeadline(t, given);
    expect((await ruleAsOperator(t, given, 1)).status).toBe(200);
  });

  test("the relay lists an agent's inspections by role and state", async () => {
    const { boss, worker, arbiter } = parties;
    const disputed = await beginDispute(t, parties);
    // Tasks of one millisecond are in no order.
    await t.clock.advance(1);
    const open = await beginCase(t, parties);
    const list = async (by: TestAgent, query: string) => {
      const path = `/api/v1/agents/${by.agentId}/inspections${query}`;
      const { body } = await t.as(by, "GET", path);
      return (body["inspections"] as { task_id: string }[]).map(({ task_id }) => task_id);
    };
    const both = [open.task.task_id, disputed.task.task_id];
    expect(await list(boss, "")).toEqual(both);
    expect(await list(worker, "?role=executor")).toEqual(both);
    expect(await list(worker, "?role=delegator")).toEqual([]);
    expect(await list(arbiter, "?role=arbiter")).toEqual([disputed.task.task_id]);
    expect(await list(boss, "?state=disputed")).toEqual([disputed.task.task_id]);
    expect(await list(boss, "?limit=1")).toEqual([open.task.task_id]);
  });

  test("IS23: an arbiter lists its cases from the contest to its deadline, or for 30 days after the close", async () => {
    const { arbiter } = parties;
    const passed = await beginDispute(t, parties);
    // Tasks of one millisecond are in no order.
    await t.clock.advance(1);
    const decided = await beginDispute(t, parties);
    const list = async (query: string) => {
      const path = `/api/v1/agents/${arbiter.agentId}/inspections${query}`;
      const { body } = await t.as(arbiter, "GET", path);
      return (body["inspections"] as { task_id: string }[]).map(({ task_id }) => task_id);
    };
    const expectListed = async (...cases: readonly Case[]) => {
      const ids = cases.map(({ task }) => task.task_id);
      expect(await list("?role=arbiter")).toEqual(ids);
      expect(await list("")).toEqual(ids);
    };
    await decide(t, decided, 0.75);
    const { deadline } = await getCase(t, passed);
    await t.clock.advance((deadline ?? 0) - t.clock.now() - 1);
    await expectListed(decided, passed);
    // The job has not processed the deadline yet.
    await t.clock.advance(1);
    await expectListed(decided);
    await t.relay.tick();
    await expectListed(decided);
    const closedAt = (await getCase(t, decided)).outcome?.closed_at ?? 0;
    await t.clock.advance(closedAt + 30 * 86_400_000 - t.clock.now() - 1);
    await expectListed(decided);
    await t.clock.advance(1);
    await expectListed();
  });

  test("a reader may wait for the next change of an open inspection", async () => {
    const given = await beginCase(t, parties);
    const waiting = t.as(given.boss, "GET", `${given.task.path}/inspection?wait=30`);
    await giveVerdict(t, given, "accepted");
    expect((await waiting).body).toMatchObject({ state: "closed" });
  });
});

describe("statements at the same time", () => {
  const FIFTY = Array.from({ length: 50 });

  test.each<[string, () => Promise<Case>, ((given: Case) => Promise<unknown>)[]]>([
    [
      "accept and reject",
      () => beginCase(t, parties),
      [(given) => giveVerdict(t, given, "accepted"), (given) => giveVerdict(t, given, "rejected")],
    ],
    [
      "concede and decide",
      () => beginDispute(t, parties),
      [(given) => giveVerdict(t, given, "conceded"), (given) => decide(t, given, 0.5)],
    ],
    [
      "accept and lapse",
      async () => {
        const given = await beginCase(t, parties);
        await t.clock.advance(60_000);
        return given;
      },
      [(given) => giveVerdict(t, given, "accepted"), () => t.relay.tick()],
    ],
  ])("IS1: 50 times %s at once make one outcome and one settlement", async (_, open, acts) => {
    const given = await open();
    await Promise.all(FIFTY.map((_each, index) => acts[index % acts.length]!(given)));
    const before = await getCase(t, given);
    if (before.state === "rejected") await giveVerdict(t, given, "accepted");
    expect((await getCase(t, given)).state).toBe("closed");
    const path = `/api/v1/agents/${given.boss.agentId}/settlements`;
    const { body } = await t.as(given.boss, "GET", path);
    expect(body["settlements"]).toHaveLength(1);
    await expectConsistentBooks(t, { holds: 0 });
  });

  test("IS1: 50 contests at once hold only one bond", async () => {
    const given = await beginCase(t, parties);
    await giveVerdict(t, given, "rejected");
    const statement = signVerdict(t, given, "contested");
    const answers = await Promise.all(
      FIFTY.map(() => post(given.worker, given, "verdict", statement)),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    expect(await t.getBalance(given.worker)).toBe(0.9);
    await expectConsistentBooks(t, { holds: 2.2 });
  });
});
