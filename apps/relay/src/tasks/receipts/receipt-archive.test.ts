import { canonicalize } from "@agent/crypto";
import { createReceipt, type TestAgent } from "@agent/testkit";
import { verifyArtifact } from "@agent/verify";
import type { ArchivedReceipt } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  createBuyer,
  submitAcceptedTask,
  createSeller,
  type Delegation,
} from "../../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

let t: TestRelay;
let boss: TestAgent;
let worker: TestAgent;
beforeEach(async () => {
  t = await startTestRelay({ AGENT_RETENTION_DAYS: "1" });
  boss = await createBuyer(t, 100);
  worker = await createSeller(t, 2);
});
afterEach(() => t.close());

const archive = ({ agentId }: TestAgent, rest = "") => `/api/v1/agents/${agentId}/receipts${rest}`;

async function deliver(
  write: (receipt: object) => string = JSON.stringify,
  change: Parameters<typeof createReceipt>[2] = {},
): Promise<{ readonly task: Delegation; readonly raw: string }> {
  const task = await submitAcceptedTask(t, boss, worker);
  const raw = write(createReceipt(worker, task, change));
  const token = await t.token(worker);
  const answer = await t.request("POST", `${task.path}/result`, { token, raw });
  expect(answer).toMatchObject({ status: 200 });
  return { task, raw };
}

/** Returns the text of the answer byte for byte, because parsing would hide differences. */
async function bytesOf(path: string): Promise<[type: string | null, bytes: string]> {
  const headers = { authorization: `Bearer ${await t.token(worker)}` };
  const answer = await t.relay.fetch(new Request(`http://relay.test${path}`, { headers }));
  return [answer.headers.get("content-type"), Buffer.from(await answer.arrayBuffer()).toString()];
}

async function listed(query = ""): Promise<[ArchivedReceipt[], cursor: string | null]> {
  const { body } = await t.as(worker, "GET", archive(worker, query));
  return [body["receipts"] as ArchivedReceipt[], body["next_cursor"] as string | null];
}

describe("receipts as they arrived", () => {
  const writings: Readonly<Record<string, (receipt: object) => string>> = {
    "as it is commonly written": JSON.stringify,
    "with space around and inside": (receipt) => `\r\n ${JSON.stringify(receipt, null, "\t")} \n`,
    "with escapes": (receipt) => JSON.stringify(receipt).replace("done", "\\u0064one"),
    "in canonical form": canonicalize,
    "with its members turned around": (receipt) =>
      JSON.stringify(Object.fromEntries(Object.entries(receipt).toReversed())),
  };

  test.each(Object.entries(writings))("a receipt is returned unchanged %s", async (_, write) => {
    const { task, raw } = await deliver(write);
    expect(await bytesOf(archive(worker, `/${task.task_id}`))).toEqual(["application/json", raw]);
  });

  test("a receipt is returned unchanged with members unknown to this relay, and text of any script", async () => {
    const { task, raw } = await deliver(JSON.stringify, {
      result: "\u{1f600} \u0000 e\u0301",
      ...JSON.parse('{"__proto__": {"a": 1}, "later": [1e2]}'),
    });
    expect(await bytesOf(archive(worker, `/${task.task_id}`))).toEqual(["application/json", raw]);
  });

  // The relay reads such a text like every parser of doubles and accepts it, but verifiers refuse it.
  test.each<[string, (text: string) => string]>([
    ["a number with digits that parsing changes", (text) => text.replace("740992", "740993")],
    ["a member twice", (text) => text.replace("{", '{"order_id":1,')],
  ])("a paid receipt whose text has %s is returned as a text that verifies", async (_, change) => {
    const { task } = await deliver((receipt) => change(JSON.stringify(receipt)), {
      ...({ order_id: 2 ** 53 } as object),
    });
    const [, bytes] = await bytesOf(archive(worker, `/${task.task_id}`));
    expect(verifyArtifact(bytes, { publicKey: worker.publicKey })).toMatchObject({
      kind: "receipt",
      valid: true,
    });
    expect(bytes).toBe(canonicalize(JSON.parse(bytes)));
  });

  test("a receipt with a byte order mark, which would be lost, is refused", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    const raw = `\ufeff${JSON.stringify(createReceipt(worker, task))}`;
    const token = await t.token(worker);
    expect(await t.request("POST", `${task.path}/result`, { token, raw })).toMatchObject({
      status: 400,
      body: { code: "request.malformed_json" },
    });
  });
});

describe("the archive", () => {
  test("the archive lists the receipts that the agent signed, newest task first, page by page", async () => {
    const tasks = [];
    for (let i = 0; i < 3; i += 1) {
      tasks.push((await deliver()).task.task_id);
      await t.clock.advance(1_000);
    }
    const [first, cursor] = await listed("?limit=2");
    const [last, end] = await listed(`?limit=2&cursor=${String(cursor)}`);
    expect([...first, ...last].map(({ task_id }) => task_id)).toEqual(tasks.toReversed());
    expect(end).toBeNull();
  });

  test("the archive shows the receipt's hash, its time of arrival, and the task's status", async () => {
    const { task, raw } = await deliver(JSON.stringify, { status: "failed" });
    const [[entry]] = await listed();
    const { settlements } = (
      await t.as(worker, "GET", `/api/v1/agents/${worker.agentId}/settlements`)
    ).body as { settlements: { receipt_hash: string }[] };
    expect(JSON.parse(raw)).toMatchObject({ status: "failed" });
    expect(entry).toEqual({
      task_id: task.task_id,
      receipt_hash: settlements[0]?.receipt_hash,
      received_at: t.clock.now(),
      status: "failed",
    });
  });

  test("the archive keeps the receipt of a purged task", async () => {
    const { task, raw } = await deliver();
    await t.clock.advance(2 * 86_400_000);
    await t.relay.tick();
    expect((await t.asOperator("GET", task.path)).status).toBe(404);
    expect(await bytesOf(archive(worker, `/${task.task_id}`))).toEqual(["application/json", raw]);
    const [[entry]] = await listed();
    expect(entry).not.toHaveProperty("status");
  });

  test("the archive is readable only by the signer, and finds nothing under another agent", async () => {
    const { task } = await deliver();
    for (const path of [archive(worker), archive(worker, `/${task.task_id}`)]) {
      expect(await t.as(boss, "GET", path)).toMatchObject({
        status: 403,
        body: { code: "auth.not_owner" },
      });
      expect(await t.asOperator("GET", path)).toMatchObject({ status: 200 });
    }
    expect(await t.as(boss, "GET", archive(boss, `/${task.task_id}`))).toMatchObject({
      status: 404,
      body: { code: "receipt.not_found" },
    });
    expect((await t.as(boss, "GET", archive(boss))).body).toEqual({
      receipts: [],
      next_cursor: null,
    });
  });

  test("the archive holds no refused receipt and none of an open task", async () => {
    const task = await submitAcceptedTask(t, boss, worker);
    await t.as(worker, "POST", `${task.path}/result`, {
      ...createReceipt(worker, task),
      result: "another",
    });
    expect((await listed())[0]).toEqual([]);
    const path = archive(worker, `/${task.task_id}`);
    expect(await t.as(worker, "GET", path)).toMatchObject({ status: 404 });
  });
});
