import type { TestAgent } from "@agent/testkit";
import type { Withdrawal } from "@agent/wire";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createBuyer } from "../../../test/market.ts";
import { startTestRelay, type TestRelay } from "../../../test/test-relay.ts";

const ADMIN_PATH = "/api/v1/admin/withdrawals";

let t: TestRelay;
beforeEach(async () => {
  t = await startTestRelay();
});
afterEach(() => t.close());

async function withdraw({ agentId }: TestAgent, amount: number): Promise<string> {
  // Ids that were created in one millisecond are in no order.
  await t.clock.advance(1);
  const path = `/api/v1/agents/${agentId}/withdrawals`;
  const { status, body } = await t.asOperator("POST", path, { amount, destination: "IBAN 1" });
  expect(status).toBe(201);
  return String(body["withdrawal_id"]);
}

/** Lists the withdrawals of all pages of a list of the operator. */
async function listAll(query: string): Promise<Withdrawal[]> {
  const found: Withdrawal[] = [];
  for (let cursor = ""; ;) {
    const { status, body } = await t.asOperator("GET", `${ADMIN_PATH}?${query}${cursor}`);
    expect(status).toBe(200);
    found.push(...(body["withdrawals"] as Withdrawal[]));
    const next = body["next_cursor"] as string | null;
    if (next === null) return found;
    cursor = `&cursor=${next}`;
  }
}

const idsOf = (list: readonly Withdrawal[]) => list.map(({ withdrawal_id }) => withdrawal_id);

describe("The largest withdrawals", () => {
  test("a flood of the smallest withdrawals does not hide a large one", async () => {
    const honest = await withdraw(await createBuyer(t, 100), 40);
    const flood: string[] = [];
    for (let agent = 0; agent < 3; agent += 1) {
      const flooding = await createBuyer(t, 1);
      for (let at = 0; at < 20; at += 1) flood.push(await withdraw(flooding, 0.000001));
    }
    const newest = await t.asOperator("GET", `${ADMIN_PATH}?status=pending`);
    expect(idsOf(newest.body["withdrawals"] as Withdrawal[])).not.toContain(honest);
    const largest = await listAll("status=pending&sort=amount&limit=25");
    expect(largest[0]).toMatchObject({ withdrawal_id: honest, amount: 40, account_owes: 0 });
    expect(idsOf(largest).toSorted()).toEqual([honest, ...flood].toSorted());
  });

  test("the largest withdrawals are those in the requested state, or the pending ones if none is requested", async () => {
    const agent = await createBuyer(t, 100);
    const [small, large, paid] = [
      await withdraw(agent, 1),
      await withdraw(agent, 3),
      await withdraw(agent, 2),
    ];
    const complete = `${ADMIN_PATH}/${paid}/complete`;
    await t.asOperator("POST", complete, { payout_reference: "wire 7" });
    expect(idsOf(await listAll("sort=amount&limit=1"))).toEqual([large, small]);
    expect(idsOf(await listAll("sort=amount&status=completed"))).toEqual([paid]);
    expect(idsOf(await listAll("sort=newest"))).toEqual([paid, large, small]);
  });

  test.each(["sort=largest", "sort=amount&cursor=MA", "sort=amount&cursor=%20"])(
    "the query %j is refused",
    async (query) => {
      expect(await t.asOperator("GET", `${ADMIN_PATH}?${query}`)).toMatchObject({ status: 400 });
    },
  );
});
