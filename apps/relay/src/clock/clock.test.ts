import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createReceipt } from "@agent/testkit";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import {
  DAY_MS,
  startJumpingRelay,
  type JumpingRelay,
} from "../../test/processes/clock-jump-relay.ts";
import { issueToken } from "../../test/agents/delegation-tokens.ts";
import {
  beginCase,
  createParties,
  getCase,
  giveVerdict,
  signVerdict,
  type Case,
} from "../../test/inspections.ts";
import {
  createBuyer,
  submitAcceptedTask,
  expectConsistentBooks,
  createSeller,
  getTaskAt,
  submitTask,
} from "../../test/market.ts";
import { editStored } from "../../test/engine/stored.ts";
import {
  endRelays,
  parseLogLines,
  minimalEnv,
  startRelay,
} from "../../test/processes/relay-process.ts";
import { OPERATOR_TOKEN } from "../../test/test-relay.ts";

let t: JumpingRelay;
afterEach(async () => {
  await t.close();
  await endRelays();
});

const ready = async () => {
  const { status, body } = await t.request("GET", "/health/ready");
  const checks = body["checks"] as { check: string; ok: boolean; detail: string }[];
  return { status, clock: checks.find(({ check }) => check === "clock") };
};

const accept = () => t.asOperator("POST", "/api/v1/admin/clock/accept");

/** Creates a buyer, and a submission of a paid task that has the same Idempotency-Key each time. */
async function createKeyedSubmission() {
  const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
  const submit = () =>
    t.request("POST", `/agent/${worker.agentId}/task`, {
      token: OPERATOR_TOKEN,
      body: { prompt: "work", submitted_by: boss.agentId },
      headers: { "idempotency-key": "k-1" },
    });
  return { boss, submit };
}

describe("a wall clock that jumps three days ahead and back", () => {
  test("A5: a request that is sent again does not withdraw twice after the clock was ahead for 1.5 s", async () => {
    t = await startJumpingRelay();
    const boss = await createBuyer(t, 10);
    // The job that deletes used tokens is due while the clock is ahead.
    await t.advance(59_000);
    const token = await t.token(boss);
    const path = `/api/v1/agents/${boss.agentId}/withdrawals`;
    const withdraw = () =>
      t.request("POST", path, { token, body: { amount: 3, destination: "IBAN 1" } });
    expect(await withdraw()).toMatchObject({ status: 201 });
    t.setAhead(3 * DAY_MS);
    await t.advance(1_500);
    t.setAhead(0);
    await t.advance(1_000);
    expect(await withdraw()).toMatchObject({ status: 401, body: { code: "auth.token_used" } });
    expect(await t.getBalance(boss)).toBe(7);
    await expectConsistentBooks(t, { holds: 3 });
  });

  // The job that deletes used tokens is due in each of these cases.
  test.each<[string, () => Promise<void>]>([
    [
      "a step back of 59 s after the token had ended",
      async () => {
        await t.advance(355_000);
        t.setAhead(-59_000);
        await t.advance(1_000);
      },
    ],
    [
      "a jump that the operator accepted and took back",
      async () => {
        t.setAhead(3 * DAY_MS);
        await t.advance(1_000);
        await accept();
        await t.advance(61_000);
        t.setAhead(0);
        await t.advance(1_000);
        await accept();
      },
    ],
  ])("A5: a request that is sent again does not withdraw twice after %s", async (_, step) => {
    t = await startJumpingRelay();
    const boss = await createBuyer(t, 10);
    await t.advance(600_000);
    const token = await t.token(boss);
    const path = `/api/v1/agents/${boss.agentId}/withdrawals`;
    const withdraw = () =>
      t.request("POST", path, { token, body: { amount: 3, destination: "IBAN 1" } });
    expect(await withdraw()).toMatchObject({ status: 201 });
    await step();
    expect(await withdraw()).toMatchObject({ status: 401, body: { code: "auth.token_used" } });
    expect(await t.getBalance(boss)).toBe(7);
  });

  test("A5: the same Idempotency-Key makes no second task after a jump that the operator accepted and took back", async () => {
    t = await startJumpingRelay();
    const { submit } = await createKeyedSubmission();
    const first = await submit();
    await t.advance(600_000);
    t.setAhead(3 * DAY_MS);
    await t.advance(1_000);
    await accept();
    await t.advance(61_000);
    t.setAhead(0);
    await t.advance(1_000);
    await accept();
    expect((await submit()).body["task_id"]).toBe(first.body["task_id"]);
  });

  // The job of each minute, which purges what has ended, is due in each of these cases.
  test.each<[string, accepted: () => Promise<unknown>, lasting: number]>([
    ["the operator accepted and took back", accept, 61_000],
    ["lasted an hour before it was taken back", () => t.advance(600_000), 3_600_000],
  ])(
    "MN19: a delegation token cannot spend its budget a second time after a jump that %s",
    async (_, accepted, lasting) => {
      t = await startJumpingRelay();
      const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
      const expires_at = t.clock.now() + DAY_MS / 2;
      const token = issueToken(t, boss, worker, { max_budget: 3, expires_at });
      const task = await submitAcceptedTask(t, boss, worker, { delegation_token: token });
      expect(
        (await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task))).status,
      ).toBe(200);
      t.setAhead(3 * DAY_MS);
      await t.advance(1_000);
      await accepted();
      await t.advance(lasting);
      t.setAhead(0);
      await t.advance(1_000);
      await accept();
      expect(await submitTask(t, boss, worker, { delegation_token: token })).toMatchObject({
        status: 402,
        body: { code: "delegation.budget_exceeded" },
      });
      expect(await t.getBalance(boss)).toBe(8);
    },
  );

  test("MN22: the same Idempotency-Key makes no second task after a jump that lasted an hour", async () => {
    t = await startJumpingRelay();
    const { boss, submit } = await createKeyedSubmission();
    const first = await submit();
    t.setAhead(3 * DAY_MS);
    await t.advance(3_600_000);
    expect(t.listLogged("clock.settled")).toMatchObject([{ moved_ms: 3 * DAY_MS }]);
    t.setAhead(0);
    await t.advance(1_000);
    await accept();
    expect((await submit()).body["task_id"]).toBe(first.body["task_id"]);
    expect(await t.getBalance(boss)).toBe(10);
    // Keys from before the jump are purged a day after the jump has ended, by the time that it had reached.
    await t.clock.advance(5 * DAY_MS);
    await t.relay.tick();
    await t.relay.tick();
    expect((await submit()).body["task_id"]).not.toBe(first.body["task_id"]);
  });

  test("A5: the same Idempotency-Key makes no second task while the clock is ahead", async () => {
    t = await startJumpingRelay();
    const { boss, submit } = await createKeyedSubmission();
    const first = await submit();
    t.setAhead(3 * DAY_MS);
    await t.advance(1_500);
    const second = await submit();
    expect([second.status, second.body["task_id"]]).toEqual([201, first.body["task_id"]]);
    t.setAhead(0);
    await t.advance(61_000);
    expect((await submit()).body["task_id"]).toBe(first.body["task_id"]);
    expect(await t.getBalance(boss)).toBe(7.6);
  });

  test("A5: no task expires early, tokens stay valid and new tasks are accepted", async () => {
    t = await startJumpingRelay();
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const task = await submitAcceptedTask(t, boss, worker);
    t.setAhead(3 * DAY_MS);
    await t.advance(5_000);
    expect(await getTaskAt(t, task.path)).toMatchObject({ status: "pending" });
    await submitAcceptedTask(t, boss, worker);
    expect(await t.getBalance(boss)).toBe(5.2);
  });

  test.each([3, -3])(
    "A5: tasks expire on time while the clock is wrong by %i days",
    async (days) => {
      t = await startJumpingRelay({ AGENT_TASK_TTL_MS: "60000" });
      const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
      const task = await submitAcceptedTask(t, boss, worker);
      t.setAhead(days * DAY_MS);
      await t.advance(59_000);
      expect(await getTaskAt(t, task.path)).toMatchObject({ status: "pending" });
      await t.advance(2_000);
      expect(await t.asOperator("GET", task.path)).toMatchObject({ status: 404 });
      expect(await t.getBalance(boss)).toBe(10);
    },
  );
});

describe("a jump of the wall clock", () => {
  test("A5: a jump is logged once and shown by readiness, which stays 200", async () => {
    t = await startJumpingRelay();
    expect(await ready()).toMatchObject({ status: 200, clock: { ok: true } });
    t.setAhead(3 * DAY_MS);
    await t.advance(5_000);
    expect(t.listLogged("clock.jumped")).toMatchObject([{ level: "error", offset_ms: 3 * DAY_MS }]);
    expect(await ready()).toMatchObject({
      status: 200,
      clock: { ok: false, detail: "the wall clock differs by 259200 s and is not believed" },
    });
    const { text } = await t.asOperator("GET", "/metrics");
    expect(text).toContain("agent_relay_clock_offset_seconds 259200");
    t.setAhead(0);
    await t.advance(1_000);
    expect(t.listLogged("clock.settled")).toMatchObject([{ level: "warn", moved_ms: 0 }]);
    expect(await ready()).toMatchObject({ status: 200, clock: { ok: true } });
  });

  test("A5: a jump is accepted after 10 minutes and not before", async () => {
    t = await startJumpingRelay();
    t.setAhead(3 * DAY_MS);
    await t.advance(600_000);
    expect((await ready()).clock).toMatchObject({ ok: false });
    await t.advance(1_000);
    expect((await ready()).clock).toMatchObject({ ok: true });
    expect(t.listLogged("clock.settled")).toMatchObject([{ moved_ms: 3 * DAY_MS }]);
    expect((await accept()).body).toEqual({ now: t.clock.now() + 3 * DAY_MS, moved_ms: 0 });
  });

  test("A5: the operator can accept a jump at once, also while the relay is frozen", async () => {
    t = await startJumpingRelay();
    const agent = await t.createAgent();
    t.setAhead(-3 * DAY_MS);
    await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "a wrong clock" });
    const path = "/api/v1/admin/clock/accept";
    expect(await t.as(agent, "POST", path)).toMatchObject({ status: 403 });
    expect(t.listLogged("clock.settled")).toEqual([]);
    expect(await accept()).toMatchObject({
      status: 200,
      body: { now: t.clock.now() - 3 * DAY_MS, moved_ms: -3 * DAY_MS },
    });
    expect((await ready()).clock).toMatchObject({ ok: true });
  });

  test("A5: a clock that was set back and accepted stops no background job", async () => {
    t = await startJumpingRelay({ AGENT_TASK_TTL_MS: "60000" });
    t.setAhead(-3 * DAY_MS);
    await t.advance(1_000);
    await accept();
    const task = await t.asOperator("POST", `/agent/${t.createUnknownAgent().agentId}/task`, {
      prompt: "x",
    });
    expect(task.status).toBe(201);
    await t.advance(62_000);
    expect(t.listLogged("task.expired")).toHaveLength(1);
    expect((await ready()).status).toBe(200);
  });

  test("A5: a worker that keeps its claim until a jump is accepted is not a no-show", async () => {
    t = await startJumpingRelay({ AGENT_TASK_TTL_MS: "3600000" });
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    await t.advance(200_000);
    const task = await submitAcceptedTask(t, boss, worker, { wall_clock_ms: 1_800_000 });
    const claim = () => t.as(worker, "POST", `${task.path}/claim`);
    expect((await claim()).status).toBe(200);
    t.setAhead(3 * DAY_MS);
    for (let passed = 0; passed < 570_000; passed += 30_000) {
      await t.advance(30_000);
      expect((await claim()).status).toBe(200);
    }
    await t.advance(31_000);
    expect(t.listLogged("clock.settled")).toMatchObject([{ moved_ms: 3 * DAY_MS }]);
    expect((await t.asOperator("GET", task.path)).status).toBe(404);
    const { body } = await t.asOperator("GET", `/api/v1/agents/${boss.agentId}/trust`);
    expect(body["records"]).toEqual([]);
    expect(await t.getBalance(boss)).toBe(10);
  });

  describe("A5: an accepted jump over the deadlines of inspections", () => {
    const JUMP_MS = 10 * DAY_MS;
    let cases: Case[];
    const states = () => Promise.all(cases.map(async (each) => (await getCase(t, each)).state));

    /** Begins one inspection in each state that has a deadline, and jumps over all deadlines. */
    beforeEach(async () => {
      t = await startJumpingRelay();
      const parties = await createParties(t);
      const named = { arbiter_id: parties.arbiter.agentId };
      const begin = async (...verdicts: readonly ("rejected" | "contested")[]) => {
        const given = await beginCase(t, parties, named);
        for (const verdict of verdicts) await giveVerdict(t, given, verdict);
        return given;
      };
      cases = [await begin(), await begin("rejected"), await begin("rejected", "contested")];
      t.setAhead(JUMP_MS);
      await t.advance(1_000);
    });

    test("an accepted jump over deadlines ends no inspection before the party whose turn it is could answer", async () => {
      await accept();
      const accepted = t.clock.now() + JUMP_MS;
      await t.advance(2_000);
      expect(await states()).toEqual(["inspecting", "rejected", "disputed"]);
      // The window of 60 s is shorter than the ten minutes that others have left.
      const deadlines = await Promise.all(cases.map((each) => getCase(t, each)));
      expect(deadlines.map(({ deadline }) => deadline! - accepted)).toEqual([
        60_000, 600_000, 600_000,
      ]);
      await t.advance(57_000);
      expect(await states()).toEqual(["inspecting", "rejected", "disputed"]);
    });

    test("an accepted jump leaves time for a statement that arrives before any job ran", async () => {
      await accept();
      const statement = signVerdict(t, cases[0]!, "rejected", {
        timestamp: t.clock.now() + JUMP_MS,
      });
      const said = await t.asOperator("POST", `${cases[0]!.task.path}/verdict`, statement);
      expect(said).toMatchObject({ status: 200, body: { state: "rejected" } });
    });

    test("a jump is accepted automatically after 10 minutes, and then ends no inspection", async () => {
      await t.advance(30_000);
      expect(await states()).toEqual(["inspecting", "rejected", "disputed"]);
      // The first window, of a minute, ends by the time that the relay keeps.
      await t.advance(572_000);
      expect(t.listLogged("clock.settled")).toHaveLength(1);
      expect(await states()).toEqual(["closed", "rejected", "disputed"]);
    });

    test("MN24: an accepted jump that is undone lets no state last longer than its full length from then on", async () => {
      await accept();
      await t.advance(2_000);
      t.setAhead(0);
      await t.advance(1_000);
      await accept();
      await t.advance(15_000);
      const deadlines = await Promise.all(cases.map((each) => getCase(t, each)));
      const latest = ({ terms }: (typeof deadlines)[number]) =>
        [terms.window_ms, terms.answer_ms, terms.decision_ms].map((ms) => t.clock.now() + ms);
      for (const [at, each] of deadlines.entries()) {
        expect(each.deadline!).toBeLessThanOrEqual(latest(each)[at]!);
        expect(each.deadline!).toBeGreaterThan(t.clock.now());
      }
      // The executor of a submitter that stays silent is paid on time again.
      await t.advance(61_000);
      expect(await states()).toEqual(["closed", "rejected", "disputed"]);
    });

    test("MN24: a jump that was undone moves no deadline of an inspection that begins afterwards", async () => {
      await accept();
      await t.advance(2_000);
      t.setAhead(0);
      await t.advance(1_000);
      await accept();
      const later = await beginCase(t, cases[0]!);
      await t.advance(61_000);
      expect((await getCase(t, later)).state).toBe("closed");
    });

    test("an accepted jump moves each deadline only once, so that repeated jumps do not keep a case open", async () => {
      await accept();
      await t.advance(2_000);
      t.setAhead(2 * JUMP_MS);
      await t.advance(1_000);
      await accept();
      await t.advance(2_000);
      expect((await states()).slice(0, 2)).toEqual(["closed", "closed"]);
    });
  });

  test("A5: a small step of the wall clock is followed and not logged", async () => {
    t = await startJumpingRelay();
    t.setAhead(60_000);
    await t.advance(1_000);
    expect(t.listLogged("clock.jumped")).toEqual([]);
    expect((await accept()).body).toEqual({ now: t.clock.now() + 60_000, moved_ms: 0 });
  });
});

describe("the books", () => {
  test("A7: the relay checks the books for all changes since the last check, even if the clock was set back", async () => {
    const folder = mkdtempSync(join(tmpdir(), "relay-clock-"));
    const path = join(folder, "relay.db");
    t = await startJumpingRelay({ AGENT_DB_PATH: path });
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    t.setAhead(3 * DAY_MS);
    await t.advance(1_000);
    await accept();
    await t.advance(3_600_000);
    t.setAhead(0);
    await t.advance(1_000);
    await accept();
    const task = await submitAcceptedTask(t, boss, worker);
    await t.as(worker, "POST", `${task.path}/result`, createReceipt(worker, task));
    await editStored(path, "UPDATE settlements SET fee = fee - 1, net = net + 1");
    await t.advance(3_600_000);
    await t.relay.idle();
    expect(t.listLogged("books.inconsistent")[0]).toMatchObject({
      check: "each settlement record agrees with its postings",
      ids: task.task_id,
    });
    rmSync(folder, { recursive: true });
  });
});

describe("a start", () => {
  test("A5: a relay that starts before the newest stored time begins at that time", async () => {
    const folder = mkdtempSync(join(tmpdir(), "relay-clock-"));
    const env = { AGENT_DB_PATH: join(folder, "relay.db") };
    const before = await startJumpingRelay(env, { ahead: 3 * DAY_MS });
    await before.advance(1_000);
    const { clock } = before;
    await before.close();
    t = await startJumpingRelay(env, { seed: 2, clock });
    expect(t.listLogged("clock.jumped")).toMatchObject([{ offset_ms: -3 * DAY_MS + 1_000 }]);
    const { body } = await t.asOperator("POST", `/agent/${t.createUnknownAgent().agentId}/task`, {
      prompt: "work",
    });
    expect(body["expires_at"]).toBeGreaterThan(clock.now() + 3 * DAY_MS);
    await t.advance(601_000);
    expect((await accept()).body).toMatchObject({ now: clock.now(), moved_ms: 0 });
    rmSync(folder, { recursive: true });
  });
});

describe("a relay in a process of its own", () => {
  test("A5: a relay process does not follow its wall clock while that is three days ahead", async () => {
    // SIGUSR2 sets the wall clock of the process three days ahead, and the next one back.
    const settable = `const real = Date.now; let ahead = 0; Date.now = () => real() + ahead;
      process.on("SIGUSR2", () => { ahead = ahead === 0 ? ${3 * DAY_MS} : 0; });`;
    const preload = `--import data:text/javascript,${encodeURIComponent(settable)}`;
    const relay = startRelay({ ...minimalEnv, NODE_OPTIONS: preload });
    const url = await relay.baseUrl;
    const isClockOk = async () => {
      const { checks } = (await (await fetch(`${url}/health/ready`)).json()) as {
        checks: { check: string; ok: boolean }[];
      };
      return checks.find(({ check }) => check === "clock")?.ok;
    };
    expect(await isClockOk()).toBe(true);
    relay.kill("SIGUSR2");
    await vi.waitFor(async () => expect(await isClockOk()).toBe(false));
    relay.kill("SIGUSR2");
    await vi.waitFor(async () => expect(await isClockOk()).toBe(true));
    relay.kill("SIGTERM");
    expect(await relay.ended).toEqual({ code: 0, signal: null });
    expect(parseLogLines(relay.stderr()).map(({ msg }) => msg)).toEqual(
      expect.arrayContaining(["clock.jumped"]),
    );
  }, 30_000);
});
