import type { Reply } from "../../test-relay.ts";
import { openX402Fixture, type X402Fixture } from "../../payments/x402-fixture.ts";
import { withEditedDatabase, type Case, type Contract } from "../outcome.ts";

/** Runs a case with a payment, on a separate relay with a running facilitator. */
const paying =
  (run: (scene: X402Fixture, proof: Record<string, string>) => Promise<Reply>): Case =>
  async () => {
    const scene = await openX402Fixture();
    try {
      return await run(scene, await scene.wallet.pay((await scene.submit()).headers));
    } finally {
      await scene.close();
    }
  };

/** The refusals of a submission that its payment causes. */
export const paymentRefusals = {
  "payment.malformed": paying(({ submit }) => submit({ headers: { "payment-signature": "junk" } })),
  "payment.mismatch": paying(async ({ submit, t, worker }, headers) => {
    const path = `/api/v1/agents/${worker.agentId}/listing`;
    const { body } = await t.asOperator("GET", path);
    const [price] = body["pricing"] as [object];
    await t.as(worker, "POST", path, { ...body, pricing: [{ ...price, unit_cost: 3 }] });
    return submit({ headers });
  }),
  "payment.invalid": paying(async ({ submit, wallet }) =>
    submit({ headers: await wallet.pay((await submit()).headers, { value: "1" }) }),
  ),
  "payment.not_settled": paying(({ submit, facilitator }, headers) => {
    facilitator.mode = "refusing";
    return submit({ headers });
  }),
  "payment.reused": paying(async ({ submit }, headers) => {
    await submit({ headers });
    return submit({ headers });
  }),
  "payment.unavailable": paying(({ submit, facilitator }, headers) => {
    facilitator.mode = "broken";
    return submit({ headers });
  }),
  "payment.undecided": paying(({ submit, facilitator }, headers) => {
    facilitator.mode = "silent after settling";
    return submit({ headers });
  }),
} as const satisfies Record<string, Case>;

/** Resolves, `times` times, a payment of 2.00 whose outcome is unknown. */
const resolving = (outcome: "settled" | "failed", { balance = 0, times = 1 } = {}): Case =>
  withEditedDatabase(
    ({ agentId }) => `
      INSERT INTO x402_payments (proof_hash, payer_id, wallet, amount, payload, requirements, state,
          reason, created_at)
        VALUES ('proof-1', '${agentId}', 'w', 2000000, '{}', '{}', 'undecided', 'refused', 1);
      INSERT INTO accounts (account, balance, held, pending_withdrawals, sequence)
        VALUES ('agent:${agentId}', ${balance}, 0, 0, 1);`,
    async (t) => {
      const resolve = () =>
        t.asOperator("POST", "/api/v1/admin/payments/proof-1/resolve", { outcome, reason: "seen" });
      for (let i = 1; i < times; i += 1) await resolve();
      return resolve();
    },
  );

export const paymentsContract: Contract<"resolvePayment"> = {
  resolvePayment: {
    200: resolving("settled"),
    "payment.not_found": (t) =>
      t.asOperator("POST", "/api/v1/admin/payments/none/resolve", {
        outcome: "failed",
        reason: "not on the chain",
      }),
    "payment.resolved": resolving("failed", { times: 2 }),
    "money.balance_limit": resolving("settled", { balance: 9e15 }),
  },
};
