import {
  decodePaymentSignatureHeader,
  encodePaymentRequiredHeader,
  encodePaymentResponseHeader,
} from "@x402/core/http";
import { HTTPFacilitatorClient, x402ResourceServer } from "@x402/core/server";
import {
  SettleError,
  type Network,
  type PaymentPayload,
  type PaymentRequired,
  type PaymentRequirements,
  type SettleResponse,
} from "@x402/core/types";
import type { Micro } from "@agent/budget";
import type { Config } from "../../config/config.ts";
import type { Log } from "../../observability/log.ts";

/** The outcome of a settlement by the facilitator. */
export type SettleOutcome =
  | { readonly outcome: "settled"; readonly response: SettleResponse }
  | { readonly outcome: "refused"; readonly reason: string }
  /** The outcome is unknown: the payment may have been settled. */
  | { readonly outcome: "unknown"; readonly reason: string };

/** The facilitator of x402 payments, called through the protocol's official library. */
export interface Facilitator {
  /** Loads the supported payment kinds unless they are known; a facilitator that is down is logged and asked again later. */
  connect(): Promise<void>;
  /** Builds the requirements for a payment of the amount; undefined while the facilitator is not connected. */
  buildRequirements(amount: Micro): Promise<PaymentRequirements | undefined>;
  /** Undefined when the facilitator gives no answer. */
  verify(
    payload: PaymentPayload,
    requirements: PaymentRequirements,
  ): Promise<{ readonly valid: boolean; readonly reason: string } | undefined>;
  settle(payload: PaymentPayload, requirements: PaymentRequirements): Promise<SettleOutcome>;
  /** Returns whether the payment meets the requirements. */
  matches(payload: PaymentPayload, requirements: PaymentRequirements): boolean;
}

const TIMEOUT_MS = 15_000;
const SCHEME = "exact";
/** The reasons of the protocol for a payment that is not confirmed yet, and for one that the chain rejected. */
const SETTLEMENT_PENDING = "settlement_pending";
const REJECTED_BY_CHAIN = "invalid_transaction_state";

const exactScheme = {
  scheme: SCHEME,
  defaultAssetTransferMethod: "eip3009",
  paymentFlows: {
    eip3009: { supported: ["authorization", "upfront"], default: "authorization" },
  },
  // The price is already an amount of the asset.
  parsePrice: async (price: unknown) => price as never,
  enhancePaymentRequirements: async (requirements: PaymentRequirements) => requirements,
} as const;

/** Creates the facilitator; undefined while real payments are off. */
export function createFacilitator(
  { realPayments, payToAddress, x402 }: Config["payments"],
  log: Log,
): Facilitator | undefined {
  if (!realPayments) return undefined;
  const network = x402.network as Network;
  const client = new HTTPFacilitatorClient({ url: x402.facilitatorUrl, timeoutMs: TIMEOUT_MS });
  let supported: Awaited<ReturnType<typeof client.getSupported>> | undefined;
  const server = new x402ResourceServer({
    verify: (...of) => client.verify(...of),
    settle: (...of) => settleOnce(client, ...of),
    // `connect` loads this already, because the library would write its failures to the console.
    getSupported: async () => supported ?? client.getSupported(),
  }).register(network, exactScheme as never);
  let connecting: Promise<void> | undefined;
  let ready = false;

  async function loadSupported(): Promise<void> {
    try {
      supported = await client.getSupported();
      await server.initialize();
      ready = true;
      log.info("x402.facilitator.ready", { network });
    } catch (error) {
      log.warn("x402.facilitator.init_failed", { error: String(error) });
    } finally {
      connecting = undefined;
    }
  }

  return {
    connect: async () => (ready ? undefined : (connecting ??= loadSupported())),
    async buildRequirements(amount) {
      if (!ready) return undefined;
      const [requirements] = await server.buildPaymentRequirements({
        scheme: SCHEME,
        network,
        payTo: payToAddress,
        // Micro-units are the smallest units of an asset with 6 decimals.
        price: {
          asset: x402.asset,
          amount: String(amount),
          extra: { name: x402.assetName, version: x402.assetVersion },
        },
        maxTimeoutSeconds: 300,
      });
      return requirements;
    },
    matches: (payload, requirements) =>
      server.findMatchingRequirements([requirements], payload) !== undefined,
    async verify(payload, requirements) {
      try {
        const { isValid, invalidReason } = await server.verifyPayment(payload, requirements);
        return { valid: isValid, reason: sanitizeReason(invalidReason) };
      } catch (error) {
        log.warn("x402.facilitator.verify_failed", { error: String(error) });
        return undefined;
      }
    },
    async settle(payload, requirements) {
      try {
        const response = await server.settlePayment(
          payload,
          requirements,
          undefined,
          undefined,
          undefined,
          "before-handler",
        );
        return toSettleOutcome(response);
      } catch (error) {
        return toOutcomeOfError(error);
      }
    },
  };
}

/** The payment was sent to the chain, and may be settled whatever the facilitator answers next. */
class UnconfirmedPayment extends Error {
  override readonly name = "UnconfirmedPayment";
}

/**
 * Requests a settlement. Throws for a payment that was sent to the chain but is not confirmed, because the
 * library would ask again at once and interpret a refusal, such as that of a used nonce, as the outcome.
 */
async function settleOnce(
  client: HTTPFacilitatorClient,
  ...payment: Parameters<HTTPFacilitatorClient["settle"]>
): Promise<SettleResponse> {
  let response: SettleResponse;
  try {
    response = await client.settle(...payment);
  } catch (error) {
    if (error instanceof SettleError && isUnconfirmed(error)) throw toUnconfirmed(error);
    throw error;
  }
  if (!response.success && isUnconfirmed(response)) throw toUnconfirmed(response);
  return response;
}

type FailedSettlement = Pick<SettleResponse, "errorReason" | "transaction">;

function isUnconfirmed({ errorReason, transaction }: FailedSettlement): boolean {
  if (errorReason === SETTLEMENT_PENDING) return true;
  return Boolean(transaction) && errorReason !== REJECTED_BY_CHAIN;
}

const toUnconfirmed = ({ errorReason }: FailedSettlement) =>
  new UnconfirmedPayment(sanitizeReason(errorReason));

function toSettleOutcome(response: SettleResponse): SettleOutcome {
  return response.success
    ? { outcome: "settled", response }
    : { outcome: "refused", reason: sanitizeReason(response.errorReason) };
}

/** Only an answer of the facilitator itself is a refusal; after any other failure the payment may be settled. */
function toOutcomeOfError(error: unknown): SettleOutcome {
  if (error instanceof SettleError && error.statusCode < 500) {
    return { outcome: "refused", reason: sanitizeReason(error.errorReason) };
  }
  if (error instanceof UnconfirmedPayment) return { outcome: "unknown", reason: error.message };
  return { outcome: "unknown", reason: error instanceof Error ? error.name : "unknown" };
}

/** Parses the payment in a header; undefined when it is malformed. */
export function parsePayment(header: string): PaymentPayload | undefined {
  try {
    return decodePaymentSignatureHeader(header);
  } catch {
    return undefined;
  }
}

export const formatRequiredHeader = (required: PaymentRequired) =>
  encodePaymentRequiredHeader(required);
export const formatSettledHeader = (response: SettleResponse) =>
  encodePaymentResponseHeader(response);

/** Returns the facilitator's reason if it is a code, because its free text is not shown to callers. */
function sanitizeReason(reason: string | undefined): string {
  return reason !== undefined && /^\w{1,80}$/.test(reason) ? reason : "refused";
}
