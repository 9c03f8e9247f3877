import type { TestAgent } from "@agent/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { serveTestRelay, type ServedRelay } from "../../../test/devices.ts";
import { createBuyer, expectConsistentBooks } from "../../../test/market.ts";
import { runCommand } from "../../../test/processes/operator-command.ts";

const ADMIN_PATH = "/api/v1/admin/withdrawals";

let t: ServedRelay;
let robbed: TestAgent;
let other: TestAgent;
beforeEach(async () => {
  t = await serveTestRelay();
  [robbed, other] = [await createBuyer(t, 5), await createBuyer(t, 5)];
});
afterEach(() => t.close());

const withdrawalsPath = ({ agentId }: TestAgent) => `/api/v1/agents/${agentId}/withdrawals`;
const request = (amount: number) => ({ amount, destination: "IBAN of a thief" });

/** Requests a withdrawal with the stolen key, which the owner then has revoked. */
async function rob(): Promise<number> {
  await t.as(other, "POST", withdrawalsPath(other), request(3));
  await t.as(robbed, "POST", withdrawalsPath(robbed), request(4));
  await t.clock.advance(1_000);
  await t.asOperator("POST", `/api/v1/agents/${robbed.agentId}/revoke`, { reason: "stolen" });
  return t.clock.now();
}

test("A23: the operator's list marks a withdrawal that an agent requested before it was revoked", async () => {
  const agent_revoked_at = await rob();
  await t.clock.advance(1_000);
  // The operator pays out the rest for the owner.
  await t.asOperator("POST", withdrawalsPath(robbed), { amount: 1, destination: "IBAN 1" });
  const { body } = await t.asOperator("GET", `${ADMIN_PATH}?status=pending&sort=amount`);
  expect(body["withdrawals"]).toMatchObject([
    { agent_id: robbed.agentId, amount: 4, agent_revoked_at },
    { agent_id: other.agentId, amount: 3, agent_revoked_at: null },
    { agent_id: robbed.agentId, amount: 1, agent_revoked_at: null },
  ]);
  const all = await t.asOperator("GET", ADMIN_PATH);
  const marked = (all.body["withdrawals"] as { agent_revoked_at: unknown }[]).filter(
    (each) => each.agent_revoked_at !== null,
  );
  expect(marked).toMatchObject([{ amount: 4 }]);
});

test("A23: the operator's command shows which withdrawals precede the revocation of their agent", async () => {
  const revokedAt = new Date(await rob()).toISOString().replace(/\.\d+Z$/, "Z");
  const { out } = await runCommand({ url: t.baseUrl, now: t.clock.now }, ["withdrawals"], {});
  const findLine = (amount: string) =>
    out
      .split("\n")
      .find((line) => line.includes(amount))
      ?.trim();
  expect(findLine("4.00 USD")).toMatch(new RegExp(` ${revokedAt}$`));
  expect(findLine("3.00 USD")).toMatch(/ -$/);
});

test("A23: a withdrawal of a revoked agent that the operator fails returns to its account", async () => {
  await rob();
  const { body } = await t.asOperator("GET", withdrawalsPath(robbed));
  const [{ withdrawal_id: id } = {}] = body["withdrawals"] as { withdrawal_id?: string }[];
  await t.asOperator("POST", `${ADMIN_PATH}/${id}/fail`, { reason: "requested by a thief" });
  expect(await t.getBalance(robbed)).toBe(5);
  await expectConsistentBooks(t, { deposits: 10, withdrawals: 0 });
});
