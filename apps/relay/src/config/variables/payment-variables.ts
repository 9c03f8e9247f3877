import { limits } from "@agent/wire";
import * as v from "valibot";
import { DAY_MS } from "../../clock/durations.ts";
import {
  baseUrl,
  bearerToken,
  evmNetwork,
  integerBetween,
  plainText,
  walletAddress,
  type Variable,
} from "../config-values.ts";

/** The variables of deposits by card and by x402. */
export const paymentVariables = {
  PAYMENT_SECRET_KEY: {
    purpose: "Enables card deposits",
    schema: v.optional(bearerToken),
    unset: "card deposits answer 501",
    secret: true,
  },
  PAYMENT_WEBHOOK_SECRET: {
    purpose: "Secret that the card processor signs its events with",
    schema: v.optional(bearerToken),
    unset: "its events answer 501",
    secret: true,
  },
  AGENT_CARD_HOLD_MS: {
    purpose: "Milliseconds for which money from a card cannot be withdrawn",
    schema: v.optional(integerBetween(0, 365 * DAY_MS), String(limits.cardHoldMs)),
  },
  PAYMENT_API_BASE: {
    purpose: "Address of the card processor",
    schema: v.optional(baseUrl),
    unset: "its public address",
  },
  X402_FACILITATOR_URL: {
    purpose: "Service that verifies and settles x402 payments",
    schema: v.optional(baseUrl, "https://x402.org/facilitator"),
  },
  X402_NETWORK: {
    purpose: "Chain of x402 payments, as a CAIP-2 id",
    schema: v.optional(evmNetwork, "eip155:84532"),
  },
  X402_ASSET: {
    purpose: "Token of x402 payments: a contract with 6 decimals and EIP-3009, worth 1 USD",
    schema: v.optional(walletAddress, "0x036CbD53842c5426634e7929541eC2318f3dCF7e"),
  },
  X402_ASSET_NAME: {
    purpose: "Name in the EIP-712 domain of that token",
    schema: v.optional(plainText, "USDC"),
  },
  X402_ASSET_VERSION: {
    purpose: "Version in the EIP-712 domain of that token",
    schema: v.optional(plainText, "2"),
  },
} as const satisfies Record<string, Variable>;
