import type { Verdict } from "@agent/crypto";
import * as v from "valibot";
import { text, wholeNumber } from "../fields.ts";
import { buildIssuerCheck, issuer, type IssuerKeys, listSigningKeys } from "../keys/issuer-key.ts";
import { createRecordVerifier, signRecord } from "./signed-record.ts";

/**
 * A statement that an agent claimed a task and let the claim end without a receipt, a release or a
 * refusal; signed by the relay like a settlement record.
 */
export const NoShowRecordSchema = v.pipe(
  v.object(
    {
      // A fixed type, so that no other signed object can pass for a no-show record.
      type: v.literal("no_show", "must be no_show"),
      task_id: text,
      // The agent that had the claim; for a forwarded task the relay that it was forwarded to.
      agent_id: text,
      claimed_at: wholeNumber,
      lapsed_at: wholeNumber,
      wall_clock_ms: v.nullable(
        v.pipe(v.number("must be a number"), v.finite("must be finite"), v.minValue(1)),
      ),
      priced: v.boolean("must be a boolean"),
      issuer,
      suite: v.string("must be a string"),
      signature: text,
    },
    "is missing",
  ),
  v.check(
    ({ claimed_at, lapsed_at }) => claimed_at <= lapsed_at,
    "must lapse after it was claimed",
  ),
);

/** Times are in ms since the epoch by the relay's clock, `issuer` is a did:key. */
export type NoShowRecord = v.InferOutput<typeof NoShowRecordSchema>;

/** A no-show record before it is signed. */
export type NoShowRecordBody = Omit<NoShowRecord, "type" | "suite" | "signature">;

/** Every reason for which a no-show record is not valid. */
export type NoShowRefusal =
  | "no_show.malformed"
  | "no_show.suite"
  | "no_show.wrong_issuer"
  | "no_show.signature_invalid";

/** Returns the body with `type`, `suite` and `signature`; `secretKey` is the relay's 32-byte seed. */
export function signNoShowRecord(body: NoShowRecordBody, secretKey: Uint8Array): NoShowRecord {
  return signRecord({ ...body, type: "no_show" as const }, secretKey);
}

const verifyRecord = createRecordVerifier({
  kind: "no_show",
  schema: NoShowRecordSchema,
  checks: [buildIssuerCheck("no_show")],
  listKeys: listSigningKeys,
});

/**
 * Verifies a no-show record with the key in its issuer's did:key. `publicKey` and `relayKeys` require a
 * certain relay, as in `verifySettlementRecord`; another one is refused with `no_show.wrong_issuer`. Never
 * throws on a value.
 */
export function verifyNoShowRecord(
  value: unknown,
  options: IssuerKeys = {},
): Verdict<NoShowRefusal> {
  return verifyRecord(value, options);
}
