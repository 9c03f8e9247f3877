import { asMicro } from "@agent/budget";
import { expect, it } from "vitest";
import { buildOutboundPayment } from "./peer-postings.ts";
import { computeTerms } from "./settlement-terms.ts";

it.each([
  ["a fee", 0.05, ["settlement_debit", "settlement_credit", "fee"]],
  ["no fee", 0, ["settlement_debit", "settlement_credit"]],
])("a payment to a peer with %s has no posting of 0", (_, feeRate, types) => {
  const terms = computeTerms(asMicro(200), feeRate);
  const task = { peerId: "peer", taskId: "task", payerId: "payer", locked: asMicro(240), terms };
  const [held, returned, ...paid] = buildOutboundPayment(task);
  expect([held?.amount, returned?.amount]).toEqual([-240, 240]);
  expect(paid.map(({ type }) => type)).toEqual(types);
});
