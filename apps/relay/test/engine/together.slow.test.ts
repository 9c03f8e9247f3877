import { runStatement } from "@agent/test-postgres";
import { Client } from "pg";
import { expect, test, vi } from "vitest";
import { KEYED_TABLES } from "../../src/storage/tables/keyed-tables.ts";
import { countStatuses, createBuyer, createSeller } from "../market.ts";
import { createReceipt, startTestRelay } from "../test-relay.ts";
import { openDatabaseOf } from "./database-of-path.ts";

test.each(Object.entries(KEYED_TABLES))(
  "the key of %s finds one row of its table",
  async (_, { name, key, columns, where }) => {
    const url = await openDatabaseOf("keyed");
    const indexes = (await runStatement(
      url,
      `SELECT pg_get_indexdef(indexrelid) AS definition FROM pg_index
       WHERE indrelid = $1::regclass AND indisunique`,
      [name],
    )) as { definition: string }[];
    const isUnique = indexes.some(({ definition }) =>
      definition.endsWith(`USING btree (${key.join(", ")})`),
    );
    // With a `where`, use ensures one row: a payment is linked to its task once, and a task has one payment.
    expect(isUnique || where !== undefined).toBe(true);
    const all = `SELECT ${columns.join(", ")} FROM ${name} WHERE ${where ?? "true"}`;
    expect(await runStatement(url, all)).toEqual(expect.any(Array));
  },
);

// On a busy machine the requests may not arrive together, and then need more batches.
test("64 paid delegations at once cost at most two statements each", { retry: 3 }, async () => {
  const t = await startTestRelay({ AGENT_RATE_LIMIT_SCALE: "0" });
  const buyer = await createBuyer(t, 1_000);
  const sellers = await Promise.all(Array.from({ length: 64 }, () => createSeller(t, 1)));
  const token = await t.token(buyer);
  const tokens = await Promise.all(sellers.map((seller) => t.token(seller)));
  // The first use of a token needs more statements, because it proves a key and records that.
  const callers = [
    [buyer, token] as const,
    ...sellers.map((seller, at) => [seller, tokens[at]] as const),
  ];
  for (const [{ agentId }, own] of callers) {
    await t.request("GET", `/api/v1/agents/${agentId}/balance`, { token: own ?? "" });
  }
  const sent = vi.spyOn(Client.prototype, "query");
  const tasks = await Promise.all(
    sellers.map(async ({ agentId }) => {
      const path = `/agent/${agentId}/task`;
      const { body } = await t.request("POST", path, { token, body: { prompt: "work" } });
      return {
        task_id: String(body["task_id"]),
        prompt: "work",
        submitted_at: t.clock.now(),
        path,
      };
    }),
  );
  const ends = await Promise.all(
    tasks.map(({ path, ...task }, at) => {
      const [seller, own] = [sellers[at], tokens[at]];
      if (seller === undefined || own === undefined) throw new Error("a seller is missing");
      const body = createReceipt(seller, task, { result: "done" });
      return t.request("POST", `${path}/${task.task_id}/result`, { token: own, body });
    }),
  );
  const statements = sent.mock.calls.length;
  sent.mockRestore();
  expect(countStatuses(ends)).toEqual({ 200: 64 });
  expect(await t.getBalance(buyer)).toBe(1_000 - 64);
  await t.close();
  expect(statements / sellers.length).toBeLessThanOrEqual(2);
});
