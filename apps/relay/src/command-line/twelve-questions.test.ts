import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestAgent } from "@agent/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createBuyer, createSeller, submitAcceptedTask } from "../../test/market.ts";
import { serveTestRelay, type ServedRelay } from "../../test/devices.ts";
import { onlyOn } from "../../test/engine/engine.ts";
import { runCommand } from "../../test/processes/operator-command.ts";
import { createReceipt } from "../../test/test-relay.ts";
import { commands } from "../database-commands.ts";
import type { OperatorOptions } from "./operator-command.ts";

const HOUR_MS = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), "relay-day-"));
const path = join(folder, "relay.db");

let t: ServedRelay;
let boss: TestAgent;
let worker: TestAgent;
let stranger: string;
let running: string;

beforeAll(async () => {
  t = await serveTestRelay({ AGENT_DB_PATH: path });
  [boss, worker] = [await createBuyer(t, 1_000), await createSeller(t, 2)];
  stranger = t.createUnknownAgent().agentId;
  await t.asOperator("POST", `/api/v1/agents/${stranger}/deposit`, { amount: 7 });
  for (let hour = 0; hour < 24; hour += 1) await workForAnHour(hour);
  const task = await submitAcceptedTask(t, boss, worker);
  await t.as(worker, "POST", `${task.path}/claim`);
  running = task.task_id;
  await t.clock.advance(5_000);
  await t.relay.tick();
}, 400_000);
afterAll(async () => {
  await t.close();
  rmSync(folder, { recursive: true });
});

/** Two tasks are paid, one fails; sometimes one expires, money leaves or the relay is frozen for a while. */
async function workForAnHour(hour: number): Promise<void> {
  for (const status of ["completed", "completed", "failed"] as const) {
    const task = await submitAcceptedTask(t, boss, worker);
    await t.clock.advance(2_000);
    const result = status === "failed" ? "no such file: report.pdf" : "done";
    const receipt = createReceipt(worker, task, { status, result });
    expect(await t.as(worker, "POST", `${task.path}/result`, receipt)).toMatchObject({
      status: 200,
    });
  }
  if (hour % 6 === 0) await submitAcceptedTask(t, boss, worker);
  if (hour === 10) {
    const withdrawal = { amount: 3, destination: "IBAN 1" };
    await t.as(worker, "POST", `/api/v1/agents/${worker.agentId}/withdrawals`, withdrawal);
  }
  if (hour === 12) {
    await t.asOperator("POST", "/api/v1/admin/freeze", { reason: "moving to another disk" });
    await t.clock.advance(60_000);
    await t.asOperator("POST", "/api/v1/admin/unfreeze");
  }
  for (let minute = 0; minute < 60; minute += 10) {
    await t.clock.advance(HOUR_MS / 6 - 1_000);
    await t.relay.tick();
  }
}

/** Runs one command as an operator types it. */
const run = (line: string, options?: OperatorOptions) =>
  runCommand({ url: t.baseUrl, now: t.clock.now }, line.split(" "), options);

describe("after a day of work each question has one command", () => {
  test("`agents` lists each agent with its tasks", async () => {
    const { code, out } = await run("agents");
    expect(code).toBe(0);
    const lines = out.split("\n");
    expect(lines.find((line) => line.includes(worker.agentId))).toMatch(/bound.*\b23\b/);
    expect(lines.some((line) => line.includes(boss.agentId))).toBe(true);
  });

  test("`accounts` lists the accounts that hold money, those without an agent as well", async () => {
    const { code, out } = await run("accounts", { sort: "balance" });
    expect(code).toBe(0);
    const [, first = ""] = out.split("\n");
    expect(first).toContain(boss.agentId);
    expect(out).toMatch(new RegExp(`${stranger}\\s+no such agent\\s+7.00 USD`));
  });

  test("`holds` lists what is held, for which task and agent, and since when", async () => {
    const { out } = await run("holds");
    expect(out).toMatch(new RegExp(`${running}\\s+${boss.agentId}\\s+2.40 USD\\s+5.0 s`));
    expect((await run("holds", { "older-than": "1h" })).out).toBe("nothing is held\n");
  });

  test("`tasks --failed` lists what failed, and why", async () => {
    const { out } = await run("tasks", { failed: true, limit: "100" });
    const rows = out.trim().split("\n").slice(1);
    expect(rows).toHaveLength(28);
    expect(rows.filter((row) => row.includes("failed: no such file: report.pdf"))).toHaveLength(24);
    expect(rows.filter((row) => row.includes("expired: no executor finished it"))).toHaveLength(4);
  });

  test("`tasks --state claimed` lists what runs now", async () => {
    const { out } = await run("tasks", { state: "claimed" });
    const rows = out.trim().split("\n").slice(1);
    expect(rows).toHaveLength(1);
    expect(rows[0]).toContain(running);
  });

  test.runIf(onlyOn("sqlite"))(
    "`doctor` reports a missing backup, and a healthy relay after one",
    async () => {
      const before = await run("doctor");
      expect(before).toMatchObject({ code: 1 });
      expect(before.out).toContain("FAULT  backup: no backup is recorded");
      const to = join(folder, "backup.db");
      const made = await commands["backup"]?.run({
        arguments: [to],
        status: false,
        path,
        now: t.clock.now(),
        randomBytes: (length) => new Uint8Array(length),
      });
      expect(made).toMatchObject({ ok: true });
      await t.clock.advance(1_000);
      const after = await run("doctor");
      expect(after.out).toContain("healthy");
      expect(after.code).toBe(0);
      expect((await run("status")).out).toMatch(/database {2}.* MB, backup 1.0 s ago/);
    },
  );

  test("`doctor` reports whether the books balance", async () => {
    const { out } = await run("doctor", { json: true });
    const { findings } = JSON.parse(out) as { findings: { name: string; ok: boolean }[] };
    const books = findings.filter(({ name }) => name === "books");
    expect(books.length).toBeGreaterThan(10);
    expect(books.every(({ ok }) => ok)).toBe(true);
  });

  test("`freeze` and `status` say whether the relay is frozen, and why", async () => {
    expect((await run("freeze")).out).toBe("state     running\n");
    expect(await run("freeze the disk is full")).toMatchObject({ code: 0 });
    const { out } = await run("freeze");
    expect(out).toMatch(/FROZEN since \S+ by operator: the disk is full/);
    expect(out).toContain("end it by `agent-relay unfreeze`");
    const status = (await run("status")).out;
    expect(status).toContain("FROZEN");
    expect(status).toContain("! frozen: end it by `agent-relay unfreeze`");
    const refused = await run(`deposit ${boss.agentId} 5`, { reference: "wire 9" });
    expect(refused.code).toBe(1);
    expect(refused.errors).toContain("the disk is full (server.frozen)");
    expect(await run("unfreeze")).toMatchObject({ code: 0 });
  });

  test("`deposit` says whether a payment was credited before, and to which agent", async () => {
    const credit = (id: string, amount: number) =>
      run(`deposit ${id} ${amount}`, { reference: "invoice 17" });
    const first = (await credit(boss.agentId, 5)).out;
    expect(first).toBe(`5.00 USD for ${boss.agentId}, paid as invoice 17\n`);
    const again = (await credit(boss.agentId, 50)).out;
    expect(again).toBe(`nothing was credited: invoice 17 was credited to ${boss.agentId} before\n`);
    const { out } = await run(`deposit ${stranger} 1`, { reference: "invoice 18" });
    expect(out).toContain(
      `! no agent has the id ${stranger} yet; the money will belong to the agent that binds it`,
    );
  });

  test("`withdrawals` lists what is to be paid out, until it is", async () => {
    const { out } = await run("withdrawals", { state: "pending" });
    expect(out).toMatch(new RegExp(`${worker.agentId}\\s+3.00 USD\\s+IBAN 1\\s+pending`));
    const [, id = ""] = /^(\S+)\s+\S+\s+3.00/m.exec(out) ?? [];
    const paid = await run(`withdrawals complete ${id}`, { "payout-reference": "wire 11" });
    expect(paid).toMatchObject({ code: 0, out: `${id} is completed\n` });
    expect((await run("withdrawals", { state: "pending" })).out).toBe("no withdrawals\n");
  });

  test("`audit` lists what agents and operators did", async () => {
    const { out } = await run("audit", { limit: "200" });
    expect(out).toMatch(/operator\s+freeze\s+-\s+200\s+.*moving to another disk/);
    expect(out).toMatch(new RegExp(`operator\\s+deposit\\s+-\\s+200\\s+.*${stranger}`));
    expect(out).toMatch(new RegExp(`${worker.agentId}\\s+withdrawal.requested`));
  });

  test("`series` sums up the last hour and the day", async () => {
    const { out } = await run("series", { from: "2d", step: "1h" });
    const totals = Object.fromEntries(
      out
        .trim()
        .split("\n")
        .slice(1)
        .map((line) => line.split(/\s{2,}/).slice(0, 2)),
    ) as Record<string, string>;
    expect(totals).toMatchObject({
      submitted: "77",
      completed: "48",
      failed: "24",
      expired: "4",
      settled: "96.00 USD",
      fees: "4.80 USD",
    });
    const hour = await run("series completed", { json: true });
    const { points } = JSON.parse(hour.out) as { points: { value: number }[] };
    expect(points).toHaveLength(61);
    expect(points.reduce((sum, { value }) => sum + value, 0)).toBe(2);
  });

  test("`events` lists what happened, in the order in which it did", async () => {
    const { out } = await run("events", { json: true, limit: "200" });
    const { events } = JSON.parse(out) as { events: { sequence: number; type: string }[] };
    const numbers = events.map(({ sequence }) => sequence);
    expect(numbers).toEqual(numbers.map((_, at) => (numbers[0] ?? 0) + at));
    expect(events.map(({ type }) => type)).toContain("task.expired");
  });

  test("`task` shows where the money of one task is", async () => {
    const { out } = await run(`task ${running}`);
    expect(out).toContain(`held       2.40 USD of ${boss.agentId}`);
    expect(out).toMatch(new RegExp(`agent:${boss.agentId}\\s+allocation_hold\\s+-2.40 USD`));
    expect(out).toContain("sum        0.00 USD");
    expect(out).toMatch(/socket\s+1\s/);
  });

  test("`online` shows when an agent was online", async () => {
    const present = await t.createWorker(1, "translate");
    for (let minute = 0; minute < 5; minute += 1) {
      await t.clock.advance(60_000);
      await t.relay.tick();
    }
    const { out } = await run(`online ${present.agentId}`, { from: "3m" });
    expect(out).toMatch(/^online 100 %: .* of .* that the relay checked, of the last 3 min\n/);
    expect(out.trim().split("\n")).toHaveLength(3);
    expect((await run(`online ${worker.agentId}`)).out).toContain("not seen online");
    const unknown = await run(`online ${t.createUnknownAgent().agentId}`);
    expect(unknown).toMatchObject({ code: 1 });
    expect(unknown.errors).toContain("(agent.not_found)");
    const wrong = await run(`online ${present.agentId}`, { from: "yesterday" });
    expect(wrong).toMatchObject({ code: 2 });
  });
});
