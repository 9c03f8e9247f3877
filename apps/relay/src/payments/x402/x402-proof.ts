import { asMicro, fromMicro, MAX_AMOUNT } from "@agent/budget";
import { canonicalize, sha256Hex, utf8ToBytes } from "@agent/crypto";
import type { PaymentPayload, PaymentRequirements } from "@x402/core/types";
import * as v from "valibot";
import { parsePayment } from "./x402-facilitator.ts";

/** The members of an EIP-3009 payment that identify the payer and the payment. */
const Authorization = v.object({
  from: v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{40}$/)),
  nonce: v.pipe(v.string(), v.regex(/^0x[0-9a-fA-F]{64}$/)),
});
const Proof = v.object({
  x402Version: v.literal(2),
  accepted: v.object({ amount: v.optional(v.unknown()) }),
  payload: v.object({ authorization: Authorization }),
});

export interface PaymentProof {
  readonly payload: PaymentPayload;
  /** In lower-case hex. */
  readonly wallet: string;
  readonly nonce: string;
  /** The price that the payer was asked for, in US dollars; undefined if it states none. */
  readonly askedPrice: number | undefined;
}

const MAX_HEADER_LENGTH = 16_384;

/** Parses the payment in a PAYMENT-SIGNATURE header; undefined when it is malformed. */
export function parsePaymentProof(header: string): PaymentProof | undefined {
  if (header.length > MAX_HEADER_LENGTH) return undefined;
  const payload = parsePayment(header);
  const parsed = v.safeParse(Proof, payload);
  if (payload === undefined || !parsed.success) return undefined;
  const { accepted, payload: signed } = parsed.output;
  const { from, nonce } = signed.authorization;
  return {
    payload,
    wallet: from.toLowerCase(),
    nonce: nonce.toLowerCase(),
    askedPrice: parsePrice(accepted.amount),
  };
}

/** Micro-units are the smallest units of the asset. */
function parsePrice(amount: unknown): number | undefined {
  const isAmount = typeof amount === "string" && /^[0-9]{1,16}$/.test(amount);
  return isAmount && Number(amount) <= MAX_AMOUNT ? fromMicro(asMicro(Number(amount))) : undefined;
}

/**
 * Builds an identifier from the members that a chain accepts only once: the rest can be written in many ways, and two payments that settle
 * as one must not be credited twice.
 */
export function hashPaymentProof(
  { wallet, nonce }: PaymentProof,
  { network, asset }: PaymentRequirements,
): string {
  const identity = { network, asset: asset.toLowerCase(), wallet, nonce };
  return sha256Hex(utf8ToBytes(canonicalize(identity)));
}
