import type { Reply } from "../test-relay.ts";
import { openX402, type X402Scene } from "../x402-scene.ts";
import type { Case } from "./outcome.ts";

/** A submission with a payment, on a relay of its own whose facilitator is there. */
const paying =
  (run: (scene: X402Scene, proof: Record<string, string>) => Promise<Reply>): Case =>
  async () => {
    const scene = await openX402();
    try {
      return await run(scene, await scene.wallet.pay((await scene.submit()).headers));
    } finally {
      await scene.close();
    }
  };

/** What a submission is refused with for its payment. */
export const paymentRefusals = {
  "payment.malformed": paying(({ submit }) => submit({ headers: { "payment-signature": "junk" } })),
  "payment.mismatch": paying(async ({ submit, t, worker }, headers) => {
    const path = `/api/v1/agents/${worker.agentId}/listing`;
    const { body } = await t.asMaster("GET", path);
    const [price] = body["pricing"] as [object];
    await t.as(worker, "POST", path, { ...body, pricing: [{ ...price, unit_cost: 3 }] });
    return submit({ headers });
  }),
  "payment.invalid": paying(async ({ submit, wallet }) =>
    submit({ headers: await wallet.pay((await submit()).headers, { value: "1" }) }),
  ),
  "payment.not_settled": paying(({ submit, facilitator }, headers) => {
    facilitator.mood = "refusing";
    return submit({ headers });
  }),
  "payment.reused": paying(async ({ submit }, headers) => {
    await submit({ headers });
    return submit({ headers });
  }),
  "payment.unavailable": paying(({ submit, facilitator }, headers) => {
    facilitator.mood = "broken";
    return submit({ headers });
  }),
  "payment.undecided": paying(({ submit, facilitator }, headers) => {
    facilitator.mood = "silent after settling";
    return submit({ headers });
  }),
} as const satisfies Record<string, Case>;
