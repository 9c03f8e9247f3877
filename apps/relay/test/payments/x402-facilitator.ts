import type { ServerResponse } from "node:http";
import { startLoopbackServer, type LoopbackServer } from "@agent/testkit";
import type { PaymentRequirements } from "@x402/core/types";
import { recoverSigner, type Authorization } from "./x402-wallet.ts";

export const PAY_TO = "0x00000000000000000000000000000000000000Aa";

/** Builds the configuration of a relay that requires payments. */
export const x402Env = (url: string) => ({
  X402_PAY_TO_ADDRESS: PAY_TO,
  X402_FACILITATOR_URL: url,
  AGENT_BASE_URL: "http://relay.test",
});

/**
 * The facilitator's reaction to a settlement: it settles, at once or when the test releases it; it refuses; it
 * fails before it settles; or it settles without an answer, or answers that the payment is not confirmed (and
 * then refuses the same payment, because its nonce was used).
 */
export type FacilitatorMode =
  | "well"
  | "waiting"
  | "silent"
  | "refusing"
  | "broken"
  | "silent after settling"
  | "pending after settling"
  | "timed out after settling"
  | "rejected by the chain";

/** The reasons, with a transaction, for which a settlement is reported as failed. */
const UNCONFIRMED: Partial<Record<FacilitatorMode, string>> = {
  "pending after settling": "settlement_pending",
  "timed out after settling": "transaction_confirmation_timed_out",
  "rejected by the chain": "invalid_transaction_state",
};

export interface LocalFacilitator extends LoopbackServer {
  /** Settled authorizations, each with its number of requests. */
  readonly settled: Map<string, number>;
  mode: FacilitatorMode;
  /** The number of settlements that were requested in the mode `waiting` and are still unanswered. */
  countWaiting(): number;
  /** Answers these requests as in the mode `well`. */
  release(): void;
}

interface Asked {
  readonly paymentPayload: {
    readonly payload: { readonly authorization: Authorization; readonly signature: string };
  };
  readonly paymentRequirements: PaymentRequirements;
}

/**
 * Starts a local facilitator that makes the same checks as a chain: signer, recipient, amount, expiry, and that
 * no nonce is used twice. A repeated settlement gets the same answer.
 */
export async function startLocalFacilitator(
  now: () => number,
  port = 0,
): Promise<LocalFacilitator> {
  const settled = new Map<string, number>();
  const waiting: (() => void)[] = [];

  function fault({ paymentPayload, paymentRequirements }: Asked): string | undefined {
    const { authorization: of, signature } = paymentPayload.payload;
    const signer = recoverSigner(of, signature, paymentRequirements);
    if (signer !== of.from.toLowerCase()) return "invalid_exact_evm_payload_signature";
    if (of.to.toLowerCase() !== paymentRequirements.payTo.toLowerCase())
      return "invalid_exact_evm_payload_recipient_mismatch";
    if (BigInt(of.value) !== BigInt(paymentRequirements.amount))
      return "invalid_exact_evm_payload_authorization_value";
    if (Number(of.validBefore) <= now() / 1_000)
      return "invalid_exact_evm_payload_authorization_valid_before";
    return undefined;
  }

  function answer(path: string, asked: Asked | undefined, response: ServerResponse): void {
    const send = (body: object, status = 200) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    const network = "eip155:84532";
    if (path === "/supported" || asked === undefined) {
      const kinds = [{ x402Version: 2, scheme: "exact", network }];
      return send({ kinds, extensions: [], signers: {} });
    }
    const { from, nonce } = asked.paymentPayload.payload.authorization;
    const key = `${from}:${nonce}`.toLowerCase();
    const invalidReason = fault(asked);
    if (path === "/verify") {
      if (facilitator.mode === "broken") return send({ error: "down" }, 500);
      const reason = settled.has(key) ? "nonce_already_used" : invalidReason;
      return send({
        isValid: reason === undefined,
        ...(reason && { invalidReason: reason }),
        payer: from,
      });
    }
    if (facilitator.mode === "silent") return void response.destroy();
    if (facilitator.mode === "waiting") {
      waiting.push(() => answer(path, asked, response));
      return undefined;
    }
    const refusal = facilitator.mode === "refusing" ? "insufficient_funds" : invalidReason;
    if (refusal !== undefined)
      return send({ success: false, errorReason: refusal, transaction: "", network, payer: from });
    const transaction = `0x${nonce.slice(2)}`;
    const errorReason = UNCONFIRMED[facilitator.mode];
    if (errorReason !== undefined && settled.has(key)) {
      const used = { errorReason: "invalid_exact_evm_nonce_already_used", transaction: "" };
      return send({ success: false, ...used, network, payer: from });
    }
    settled.set(key, (settled.get(key) ?? 0) + 1);
    if (errorReason !== undefined) {
      return send({ success: false, errorReason, transaction, network, payer: from });
    }
    if (facilitator.mode === "silent after settling") return void response.destroy();
    send({ success: true, transaction, network, payer: from });
  }

  const server = await startLoopbackServer((request, response) => {
    let text = "";
    request.on("data", (chunk: Buffer) => (text += chunk.toString()));
    request.on("end", () => {
      answer(request.url ?? "", text === "" ? undefined : (JSON.parse(text) as Asked), response);
    });
  }, port);
  const facilitator: LocalFacilitator = {
    ...server,
    settled,
    mode: "well",
    countWaiting: () => waiting.length,
    release() {
      facilitator.mode = "well";
      for (const answerLater of waiting.splice(0)) answerLater();
    },
  };
  return facilitator;
}
