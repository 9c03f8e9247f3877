import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { buildTestLedger, buildTestReceipt } from "../../testing/tools/test-receipt.ts";
import { createReceiptStore } from "./receipt-store.ts";

const relayUrl = "http://relay.test";
const { agent_id: agentId } = buildTestReceipt("any");

let folder: string;
let path: string;
let events: string[];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "agent-outbox-"));
  path = join(folder, "outbox");
  events = [];
});
afterEach(() => rm(folder, { recursive: true }));

function storeOf(change: { relayUrl?: string; agentId?: string } = {}) {
  const runtime = { log: (_: unknown, event: string) => void events.push(event) };
  return createReceiptStore({ path, relayUrl, agentId, runtime, ...change });
}

const pendingReceipt = (taskId: string) => ({
  receipt: buildTestReceipt(taskId),
  targetAgentId: "target",
});

const finishedAt = (taskId: string, completed_at: number) => ({
  ...pendingReceipt(taskId),
  receipt: { ...buildTestReceipt(taskId), completed_at },
});

test("stored receipts are loaded by the next process, oldest first, until they are deleted", async () => {
  const unaddressed = { ...finishedAt("c", 2), targetAgentId: undefined };
  const pendingReceipts = [finishedAt("b", 1), unaddressed, finishedAt("a", 3)];
  for (const pendingReceipt of pendingReceipts.toReversed()) await storeOf().save(pendingReceipt);
  expect(await storeOf().load()).toEqual(pendingReceipts);
  await storeOf().delete("b");
  await storeOf().delete("never saved");
  expect(await storeOf().load()).toEqual(pendingReceipts.slice(1));
});

test("a missing folder holds no receipts", async () => {
  expect(await storeOf().load()).toEqual([]);
});

test("files are readable only by their owner, and a relay cannot choose their names", async () => {
  await storeOf().save(pendingReceipt("../../escape"));
  const names = (await readdir(path)).filter((name) => name !== ".gitignore");
  expect(names).toEqual([expect.stringMatching(/^[0-9a-f]{64}\.json$/)]);
  expect((await stat(join(path, names[0] ?? ""))).mode & 0o777).toBe(0o600);
  expect(await readdir(folder)).toEqual(["outbox"]);
});

test("receipts of another relay or agent stay in the folder and are not loaded", async () => {
  await storeOf().save(pendingReceipt("a"));
  expect(await storeOf({ relayUrl: "http://other.test" }).load()).toEqual([]);
  expect(await storeOf({ agentId: "other" }).load()).toEqual([]);
  expect(await storeOf().load()).toHaveLength(1);
});

test.each(["", "{", "null", "{}", '{"relay_url":1}'])(
  "a file that contains %j is logged and left unchanged",
  async (text) => {
    await storeOf().save(pendingReceipt("a"));
    await writeFile(join(path, "broken.json"), text);
    await writeFile(join(path, "draft.json.tmp"), text);
    expect(await storeOf().load()).toHaveLength(1);
    expect(events).toEqual(["outbox.file_unreadable"]);
    expect(await readdir(path)).toContain("broken.json");
  },
);

test("the creation of the folder is retried after a failure", async () => {
  await writeFile(path, "in the way");
  const store = storeOf();
  await expect(store.save(pendingReceipt("a"))).rejects.toThrow("EEXIST");
  await rm(path);
  await store.save(pendingReceipt("a"));
  expect(await store.load()).toHaveLength(1);
});

describe("a stored ledger", () => {
  test("a ledger is loaded together with the receipt that it was stored with", async () => {
    const both = { ...pendingReceipt("a"), ledger: buildTestLedger("a") };
    await storeOf().save(both);
    expect(await storeOf().load()).toEqual([both]);
  });

  test.each([
    ["no ledger", { spec: "x" }],
    ["without a signature", { ...buildTestLedger("a"), signature: undefined }],
  ])("a ledger that is %s is left out, and its receipt is loaded", async (_, ledger) => {
    await storeOf().save(pendingReceipt("a"));
    const [name] = (await readdir(path)).filter((one) => one.endsWith(".json"));
    const file = join(path, name ?? "");
    await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, "utf8")), ledger }));
    expect(await storeOf().load()).toEqual([pendingReceipt("a")]);
  });
});
