import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { canonicalize, sha256Hex } from "@agent/crypto";
import type { ExecutionReceipt } from "@agent/receipts";
import { verifyArtifact } from "@agent/verify";
import type { TestAgent } from "@agent/testkit";
import type { Task } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readAllStored, readStored } from "../../test/engine/stored.ts";
import { serveTestRelay, type ServedRelay } from "../../test/devices.ts";
import {
  createBuyer,
  submitAcceptedTask,
  createSeller,
  type Delegation,
} from "../../test/market.ts";
import {
  OPERATOR_TOKEN,
  createReceipt,
  startTestRelay,
  type Reply,
  type TestRelay,
} from "../../test/test-relay.ts";

let folder: string;
let t: TestRelay;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "relay-erasure-"));
  t = await startTestRelay({ AGENT_DB_PATH: join(folder, "relay.db") });
});
afterEach(async () => {
  await t.close();
  rmSync(folder, { recursive: true });
});

const PROMPT = `PROMPT-${"p".repeat(9_000)}-END`;
const RESULT = `RESULT-${"r".repeat(9_000)}-END`;
const textsOf = ({ task_id }: Delegation) => `/api/v1/admin/tasks/${task_id}/texts`;

/** Counts how often a text occurs in all that a database stores. */
async function occurrences(text: string, name = "relay.db"): Promise<number> {
  return (await readAllStored(join(folder, name))).split(text).length - 1;
}

async function deliver(by: TestAgent, { path }: Delegation, receipt: ExecutionReceipt) {
  expect(await t.as(by, "POST", `${path}/result`, receipt)).toMatchObject({ status: 200 });
}

async function evidenceOf({ path }: Delegation): Promise<string> {
  const answer = await t.request("GET", `${path}/evidence`, { token: OPERATOR_TOKEN });
  expect(answer.status).toBe(200);
  return answer.text;
}

const shown = async (by: TestAgent, { path }: Delegation) =>
  (await t.as(by, "GET", path)).body as unknown as { task: Task; receipt: ExecutionReceipt };

/** Submits and finishes a task whose texts are long enough to lie on pages of their own. */
async function finished() {
  const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
  const task = await submitAcceptedTask(t, boss, worker, { prompt: PROMPT });
  const receipt = createReceipt(worker, task, { result: RESULT });
  await deliver(worker, task, receipt);
  return { boss, worker, task, receipt };
}

describe("B13: erasure of texts", () => {
  test("an erasure of texts leaves no byte of prompt and result in the files of the database", async () => {
    const { boss, task } = await finished();
    expect(await occurrences("PROMPT-")).toBeGreaterThan(0);
    expect(await occurrences("RESULT-")).toBeGreaterThan(0);
    expect(await t.as(boss, "DELETE", textsOf(task))).toMatchObject({
      status: 200,
      body: { task_id: task.task_id, erased_at: t.clock.now(), copies_left: 0 },
    });
    for (const text of ["PROMPT-", "RESULT-", "pppp", "rrrr", "-END"]) {
      expect(await occurrences(text)).toBe(0);
    }
  });

  test("an erasure of texts shows their hashes instead, and keeps money, status and the receipt's hash", async () => {
    const { boss, worker, task, receipt } = await finished();
    const before = await shown(boss, task);
    await t.as(boss, "DELETE", textsOf(task));
    const after = await shown(worker, task);
    expect(after.task).toEqual({
      ...before.task,
      prompt: sha256Hex(PROMPT),
      erased_at: t.clock.now(),
    });
    expect(after.receipt).toEqual({ ...before.receipt, result: sha256Hex(RESULT) });
    const archive = await t.as(worker, "GET", `/api/v1/agents/${worker.agentId}/receipts`);
    expect(archive.body["receipts"]).toMatchObject([
      { task_id: task.task_id, receipt_hash: sha256Hex(canonicalize(receipt)) },
    ]);
    expect(await t.getBalance(worker)).toBe(1.9);
    const books = await t.asOperator("GET", "/api/v1/admin/reconciliation");
    expect(books.body["consistent"]).toBe(true);
  });

  test("an erasure of texts leaves earlier evidence valid, and later evidence states why it is not valid", async () => {
    const { boss, task } = await finished();
    const before = await evidenceOf(task);
    await t.as(boss, "DELETE", textsOf(task));
    expect(verifyArtifact(before)).toMatchObject({ kind: "bundle", valid: true });

    const after = await evidenceOf(task);
    expect(after).not.toMatch(/PROMPT-|RESULT-/);
    expect(JSON.parse(after)).toMatchObject({ erased: { erased_at: t.clock.now() } });
    const verdict = verifyArtifact(after);
    expect(verdict).toMatchObject({ kind: "bundle", valid: false, code: "bundle.erased" });
    const held = verdict.checks.filter(({ ok }) => ok).map(({ name }) => name);
    expect(held).toEqual(expect.arrayContaining(["well_formed", "intact", "attested", "settled"]));
    const changed = after.replace(sha256Hex(RESULT), sha256Hex("another"));
    expect(verifyArtifact(changed)).toMatchObject({ code: "bundle.signature_invalid" });
  });

  test("an erasure of texts happens once, appears in the submitter's audit, and may be repeated", async () => {
    const { boss, task } = await finished();
    const first = await t.as(boss, "DELETE", textsOf(task));
    const shownFirst = await shown(boss, task);
    await t.clock.advance(1_000);
    expect((await t.as(boss, "DELETE", textsOf(task))).body).toEqual(first.body);
    expect(await shown(boss, task)).toEqual(shownFirst);
    const audit = await t.as(boss, "GET", `/api/v1/agents/${boss.agentId}/audit`);
    const entries = audit.body["entries"] as { action: string; detail: string }[];
    expect(entries.filter(({ action }) => action === "task.texts_erased")).toMatchObject([
      { detail: task.task_id },
    ]);
  });

  test("an erasure of texts replaces the prompt of a cancelled task", async () => {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const task = await submitAcceptedTask(t, boss, worker, { prompt: PROMPT });
    await t.as(boss, "POST", `${task.path}/cancel`);
    expect(await t.as(boss, "DELETE", textsOf(task))).toMatchObject({ status: 200 });
    expect(await occurrences("PROMPT-")).toBe(0);
  });

  test("an erasure of texts is refused for an open task, and to the executor and strangers", async () => {
    const { boss, worker, task } = await finished();
    const open = await submitAcceptedTask(t, boss, worker, { prompt: "still open" });
    const before = [await shown(boss, task), await shown(boss, open)];
    const refusals: [Reply, number, string][] = [
      [await t.as(worker, "DELETE", textsOf(task)), 403, "task.not_submitter"],
      [await t.as(await t.createAgent(), "DELETE", textsOf(task)), 403, "task.not_submitter"],
      [await t.as(boss, "DELETE", textsOf(open)), 409, "task.not_finished"],
      [await t.asOperator("DELETE", textsOf(open)), 409, "task.not_finished"],
      [await t.asOperator("DELETE", textsOf({ ...open, task_id: "x" })), 404, "task.not_found"],
    ];
    for (const [reply, status, code] of refusals) {
      expect(reply).toMatchObject({ status, body: { code } });
    }
    expect([await shown(boss, task), await shown(boss, open)]).toEqual(before);
    await deliver(worker, open, createReceipt(worker, open));
  });
});

describe("B13: nested receipts", () => {
  async function chain() {
    const [boss, middle, worker] = [
      await createBuyer(t, 10),
      await createSeller(t, 2),
      await createSeller(t, 1),
    ];
    await t.deposit(middle, 10);
    const outer = await submitAcceptedTask(t, boss, middle, { prompt: "outer" });
    const inner = await submitAcceptedTask(t, middle, worker, { prompt: PROMPT });
    const nested = createReceipt(worker, inner, { result: RESULT });
    await deliver(worker, inner, nested);
    await deliver(middle, outer, createReceipt(middle, outer, { delegation_receipts: [nested] }));
    return { boss, middle, worker, outer, inner };
  }

  test("a nested receipt stays whole when its submitter erases it, because another submitter paid for it", async () => {
    const { middle, outer, inner } = await chain();
    const erased = await t.as(middle, "DELETE", textsOf(inner));
    expect(erased).toMatchObject({ status: 200, body: { copies_left: 1 } });
    expect(verifyArtifact(await evidenceOf(outer))).toMatchObject({ valid: true });
    expect(verifyArtifact(await evidenceOf(inner))).toMatchObject({ code: "bundle.erased" });
  });

  test("a nested receipt that the operator erases is erased in the outer one too, and no byte of it remains", async () => {
    const { middle, outer, inner } = await chain();
    await t.as(middle, "DELETE", textsOf(inner));
    const erased = await t.asOperator("DELETE", textsOf(inner));
    expect(erased).toMatchObject({ status: 200, body: { copies_left: 0 } });
    for (const text of ["PROMPT-", "RESULT-"]) expect(await occurrences(text)).toBe(0);
    expect(verifyArtifact(await evidenceOf(outer))).toMatchObject({ code: "bundle.erased" });
  });

  test("a nested receipt is erased with the texts of the outer task, while its own archive entry stays", async () => {
    const { boss, outer, inner } = await chain();
    await t.as(boss, "DELETE", textsOf(outer));
    const { receipt } = await shown(boss, outer);
    expect(JSON.stringify(receipt)).not.toContain("RESULT-");
    expect(verifyArtifact(await evidenceOf(inner))).toMatchObject({ valid: true });
  });
});

describe("B13: the notes of a task", () => {
  let served: ServedRelay;
  afterEach(() => served.close());

  test("the notes of a task become their hashes in its events", async () => {
    served = await serveTestRelay({ AGENT_DB_PATH: join(folder, "served.db") });
    const [boss, worker] = [await createBuyer(served, 10), await createSeller(served, 2)];
    const task = await submitAcceptedTask(served, boss, worker, { prompt: PROMPT });
    const device = await served.connectDevice(worker);
    await device.next("task_assigned");
    device.send({ type: "claim", task_id: task.task_id });
    await device.next("claimed");
    device.send({ type: "progress", task_id: task.task_id, note: "a private note" });
    const receipt = { ...createReceipt(worker, task) };
    device.send({ type: "result", task_id: task.task_id, receipt });
    await device.next("result_accepted");
    const events = async () => (await served.as(boss, "GET", `${task.path}/events?after=0`)).text;
    expect(await events()).toContain("a private note");
    const erase = () => served.as(boss, "DELETE", textsOf(task));
    await erase();
    expect(await events()).not.toContain("a private note");
    expect(await events()).toContain(sha256Hex("a private note"));
    // A reader of the file delays the end of an erasure; a repeated erasure completes it.
    await expect
      .poll(async () => {
        await erase();
        return occurrences("a private note", "served.db");
      })
      .toBe(0);
  });
});

describe("B13: the notes of a task", () => {
  const NOTE = `NOTE-${"n".repeat(3_900)}-LAST`;

  async function noted() {
    const [boss, worker] = [await createBuyer(t, 10), await createSeller(t, 2)];
    const task = await submitAcceptedTask(t, boss, worker);
    await t.as(worker, "POST", `${task.path}/claim`);
    for (let sent = 0; sent < 5; sent += 1) {
      const reply = await t.as(worker, "POST", `${task.path}/progress`, { note: NOTE });
      expect(reply.status).toBe(200);
    }
    await deliver(worker, task, createReceipt(worker, task));
    expect(await occurrences("NOTE-")).toBeGreaterThan(0);
    return { boss, task };
  }

  test("H5: an erasure leaves no byte of notes that are stored as rows", async () => {
    const { boss, task } = await noted();
    expect(await t.as(boss, "DELETE", textsOf(task))).toMatchObject({ status: 200 });
    for (const text of ["NOTE-", "nnnn", "-LAST"]) expect(await occurrences(text)).toBe(0);
    const { text } = await t.as(boss, "GET", `${task.path}/events`);
    expect(text.split(sha256Hex(NOTE))).toHaveLength(6);
  });

  test("H5: no note of a purged task remains", async () => {
    const { boss, task } = await noted();
    await t.clock.advance(31 * 86_400_000);
    await t.relay.tick();
    expect((await t.as(boss, "GET", task.path)).status).toBe(404);
    expect(await readStored(join(folder, "relay.db"), "SELECT 1 FROM task_events")).toEqual([]);
  });
});
