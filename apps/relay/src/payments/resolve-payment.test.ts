import { afterEach, beforeEach, expect, test } from "vitest";
import { openEditedRelay, type EditedRelay } from "../../test/stored/edited-relay.ts";
import { expectConsistentBooks } from "../../test/market.ts";

let scene: EditedRelay;
beforeEach(async () => {
  scene = await openEditedRelay(
    ({ agentId }) => `
      INSERT INTO x402_payments (proof_hash, payer_id, wallet, amount, payload, requirements, state,
          reason, created_at)
        VALUES ('proof-1', '${agentId}', 'w', 2000000, '{}', '{}', 'undecided', 'refused', 1);`,
  );
});
afterEach(() => scene.close());

/** Stores a second payment whose settlement was first requested `ms` before now. */
async function openSettling(ms: number): Promise<void> {
  await scene.close();
  const created_at = scene.t.clock.now() - ms;
  scene = await openEditedRelay(
    ({ agentId }) => `
      INSERT INTO x402_payments (proof_hash, payer_id, wallet, amount, payload, requirements, state,
          created_at)
        VALUES ('proof-1', '${agentId}', 'w', 2000000, '{}', '{}', 'settling', ${created_at});`,
  );
}

const resolve = (outcome: string, reason = "seen on the chain") =>
  scene.t.asOperator("POST", "/api/v1/admin/payments/proof-1/resolve", { outcome, reason });

const isUndecided = async () => {
  const { body } = await scene.t.asOperator("GET", "/api/v1/admin/reconciliation");
  return body["consistent"] === false;
};

test("A7: an undecided payment that the operator found on the chain is credited once", async () => {
  expect(await isUndecided()).toBe(true);
  const answers = await Promise.all([resolve("settled"), resolve("settled"), resolve("failed")]);
  expect(answers.map(({ status }) => status)).toEqual([200, 409, 409]);
  expect(answers[0]?.body).toEqual({
    payment_id: "proof-1",
    payer_id: scene.agent.agentId,
    amount: 2,
    status: "settled",
    reason: "seen on the chain",
  });
  expect(await scene.t.getBalance(scene.agent)).toBe(2);
  await expectConsistentBooks(scene.t, { deposits: 2 });
});

test("A7: an undecided payment that never arrived is closed and credits nothing", async () => {
  expect(await resolve("failed")).toMatchObject({ status: 200, body: { status: "failed" } });
  expect(await scene.t.getBalance(scene.agent)).toBe(0);
  await expectConsistentBooks(scene.t, { deposits: 0 });
});

test("A7: a payment that the facilitator did not answer for an hour is resolved and credited once", async () => {
  await openSettling(3_600_000);
  expect(await isUndecided()).toBe(true);
  const answers = await Promise.all([resolve("settled"), resolve("settled")]);
  expect(answers.map(({ status }) => status)).toEqual([200, 409]);
  expect(await scene.t.getBalance(scene.agent)).toBe(2);
  await expectConsistentBooks(scene.t, { deposits: 2 });
});

test("A7: a payment cannot be resolved before the facilitator has had an hour to answer", async () => {
  await openSettling(3_599_999);
  expect(await isUndecided()).toBe(false);
  expect(await resolve("settled")).toMatchObject({ status: 409 });
  expect(await scene.t.getBalance(scene.agent)).toBe(0);
});

test("MN23: a payment that began while the clock was three days ahead is resolved and credited once", async () => {
  await openSettling(-3 * 86_400_000);
  expect(await isUndecided()).toBe(true);
  const answers = await Promise.all([resolve("settled"), resolve("settled")]);
  expect(answers.map(({ status }) => status)).toEqual([200, 409]);
  expect(await scene.t.getBalance(scene.agent)).toBe(2);
  await expectConsistentBooks(scene.t, { deposits: 2 });
});

test("MN23: the operator may not resolve a payment that began a mere step of the clock in the future", async () => {
  await openSettling(-60_000);
  expect(await isUndecided()).toBe(false);
  expect(await resolve("settled")).toMatchObject({ status: 409 });
});

test.each([
  ["an invalid outcome", "lost", "seen", "outcome"],
  ["an empty reason", "settled", "", "reason"],
])("A7: %s is refused with its field and leaves the payment undecided", async (...given) => {
  const [, outcome, reason, field] = given;
  const { status, body } = await resolve(outcome, reason);
  expect([status, body["issues"]]).toMatchObject([400, [{ path: field }]]);
  expect(await isUndecided()).toBe(true);
  expect(await scene.t.getBalance(scene.agent)).toBe(0);
});

test("A7: an agent cannot resolve its own payment", async () => {
  const path = "/api/v1/admin/payments/proof-1/resolve";
  const body = { outcome: "settled", reason: "mine" };
  expect(await scene.t.as(scene.agent, "POST", path, body)).toMatchObject({ status: 403 });
  expect(await isUndecided()).toBe(true);
});
