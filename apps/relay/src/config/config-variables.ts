import { limits } from "@agent/wire";
import * as v from "valibot";
import { DAY_MS } from "../clock/day-ms.ts";
import {
  baseUrl,
  bearerToken,
  booleanFlag,
  cidrList,
  corsOrigins,
  decimalBetween,
  evmNetwork,
  integerBetween,
  listenAddress,
  logKeys,
  logOrigin,
  oneOf,
  operatorTokens,
  passphraseText,
  plainText,
  relayIds,
  postgresUrl,
  postgresUrlOrOff,
  walletAddress,
  witnessAddresses,
  type VariableSchema,
} from "./config-values.ts";

export interface Variable {
  readonly purpose: string;
  /** Its default is read like a given text; without `v.optional` the variable is required. */
  readonly schema: VariableSchema;
  /** The meaning of a variable without a value, where there is no default. */
  readonly unset?: string;
  readonly secret?: true;
}

/** The fees, in USD, behind a level; see docs/trust.md. */
export const DEFAULT_FEES = { verified: 0.05, trusted: 0.5 } as const;

/** A party needs at least so long to inspect; only tests use less. */
export const DEFAULT_MIN_WINDOW_MS = 60_000;

/** Every variable of the relay, in the order of the help text. */
export const variables = {
  AGENT_API_TOKEN: {
    purpose: "Master bearer token; a second one is valid beside it while it is replaced",
    schema: v.optional(operatorTokens),
    unset: "required, unless AGENT_API_TOKEN_FILE is set",
    secret: true,
  },
  AGENT_API_TOKEN_FILE: {
    purpose:
      "File with the value of AGENT_API_TOKEN, used instead of it; on SIGHUP only this file is read again",
    schema: v.optional(plainText),
    unset: "AGENT_API_TOKEN is used",
  },
  X402_PAY_TO_ADDRESS: {
    purpose: "Wallet that receives settlements; the all-zero address turns real payments off",
    schema: walletAddress,
  },
  AGENT_HOST: { purpose: "Address to listen on", schema: v.optional(listenAddress, "0.0.0.0") },
  PORT: {
    purpose: "Port to listen on; 0 takes a free one",
    schema: v.optional(integerBetween(0, 65_535), "3000"),
  },
  AGENT_BASE_URL: {
    purpose: "Public address of the relay in documents and links",
    schema: v.optional(baseUrl),
    unset: "AGENT_FEDERATION_ENDPOINT_URL, if that is set",
  },
  AGENT_CORS_ORIGIN: { purpose: "Allowed CORS origins", schema: v.optional(corsOrigins, "*") },
  AGENT_TRUSTED_PROXIES: {
    purpose: "Proxies whose X-Forwarded-For is trusted",
    schema: v.optional(cidrList),
    unset: "none",
  },
  AGENT_RATE_LIMIT_SCALE: {
    purpose: "Multiplies every rate limit; 0 turns them off",
    schema: v.optional(decimalBetween(0, 1_000_000), "1"),
  },
  LOG_LEVEL: {
    purpose: "Lowest level that is logged",
    schema: v.optional(oneOf("debug", "info", "warn", "error"), "info"),
  },
  AGENT_CONSOLE: {
    purpose: "Whether the relay serves pages for browsers; verify leaves only / and /verify",
    schema: v.optional(oneOf("on", "off", "verify"), "on"),
  },
  AGENT_DB_PATH: {
    purpose: "SQLite database file",
    schema: v.optional(plainText),
    unset: "in memory",
  },
  AGENT_DATABASE_URL: {
    purpose: "PostgreSQL database, of version 15 or later; not together with AGENT_DB_PATH",
    schema: v.optional(postgresUrl),
    unset: "SQLite",
    secret: true,
  },
  AGENT_DATABASE_POOL: {
    purpose: "Connections that read from PostgreSQL; one more writes",
    schema: v.optional(integerBetween(1, 1_000), "8"),
  },
  AGENT_DATABASE_LISTEN_URL: {
    purpose:
      "Address of the same database for notifications between processes, without a pooler that splits sessions; off: each process asks the database once a second instead",
    schema: v.optional(postgresUrlOrOff),
    unset: "AGENT_DATABASE_URL",
    secret: true,
  },
  AGENT_PROCESS_NAME: {
    purpose: "Name of this process in logs, metrics and readiness, where several share PostgreSQL",
    schema: v.optional(plainText),
    unset: "the host's name and the process id",
  },
  AGENT_RETENTION_DAYS: {
    purpose: "Days for which finished tasks can be polled; 0 keeps them for ever",
    schema: v.optional(integerBetween(0, 36_500), "30"),
  },
  AGENT_RECONCILE_INTERVAL_MS: {
    purpose: "Milliseconds between checks of the books",
    schema: v.optional(integerBetween(1, DAY_MS), "3600000"),
  },
  AGENT_LOG: {
    purpose: "Whether the relay keeps a transparency log",
    schema: v.optional(booleanFlag, "true"),
  },
  AGENT_LOG_ORIGIN: {
    purpose: "Name of the transparency log; it cannot be changed after the first start",
    schema: v.optional(logOrigin),
    unset: "agent-relay/ and the relay's id",
  },
  AGENT_LOG_INTERVAL_MS: {
    purpose: "Milliseconds between heads of the transparency log",
    schema: v.optional(integerBetween(50, 60_000), "200"),
  },
  AGENT_LOG_QUORUM: {
    purpose: "Cosignatures that a head needs before it is published",
    schema: v.optional(integerBetween(0, 16), "0"),
  },
  AGENT_RELAY_NAME: {
    purpose: "Display name of the relay",
    schema: v.optional(plainText, "agent-relay"),
  },
  AGENT_RELAY_KEY_PASSPHRASE: {
    purpose: "Seals the relay's private key at rest",
    schema: v.optional(passphraseText),
    unset: "key stored as plain hexadecimal",
    secret: true,
  },
  AGENT_RELAY_ISSUE_CREDENTIALS: {
    purpose: "Whether the relay issues credentials",
    schema: v.optional(booleanFlag, "false"),
  },
  AGENT_REQUIRE_BOOTSTRAP_PROOF: {
    purpose: "Whether bootstrap needs a signature of the new key",
    schema: v.optional(booleanFlag, "false"),
  },
  AGENT_PAIRING_TTL_MS: {
    purpose: "Lifetime of a pairing code in milliseconds",
    schema: v.optional(integerBetween(1, DAY_MS), String(limits.pairingTtlMs)),
  },
  AGENT_TASK_TTL_MS: {
    purpose: "Lifetime of an unfinished task in milliseconds",
    schema: v.optional(integerBetween(1, 7 * DAY_MS), String(limits.taskTtlMs)),
  },
  AGENT_TASK_TTL_MAX_MS: {
    purpose: "Longest lifetime in milliseconds that a submission may request (ttl_ms)",
    schema: v.optional(integerBetween(limits.minTaskTtlMs, 7 * DAY_MS), String(7 * DAY_MS)),
  },
  AGENT_REQUIRE_MAX_BUDGET: {
    purpose: "Whether a submission that costs something must name its max_budget",
    schema: v.optional(booleanFlag, "false"),
  },
  AGENT_PRIVATE_ENDPOINTS: {
    purpose:
      "Whether agents may have private or loopback addresses; auto blocks them on a public relay",
    schema: v.optional(oneOf("auto", "allow", "block"), "auto"),
  },
  AGENT_PLATFORM_FEE_RATE: {
    purpose: "Share of a charge that the relay keeps",
    // The rate is below 1, because a worker must always earn something.
    schema: v.optional(decimalBetween(0, 0.999999), "0.05"),
  },
  AGENT_DISPUTE_ANSWER_MS: {
    purpose: "Milliseconds for which an executor may contest the rejection of its result",
    schema: v.optional(integerBetween(100, 365 * DAY_MS), "259200000"),
  },
  AGENT_DISPUTE_DECISION_MS: {
    purpose: "Milliseconds for which an arbiter may decide a dispute, and then the operator",
    schema: v.optional(integerBetween(100, 365 * DAY_MS), "604800000"),
  },
  AGENT_DISPUTE_FEE_RATE: {
    purpose: "Share of the sum in dispute that the loser pays for the arbitration",
    schema: v.optional(decimalBetween(0, 0.5), "0.05"),
  },
  AGENT_DISPUTE_FEE_MIN: {
    purpose: "Minimum fee of an arbitration, in USD",
    schema: v.optional(decimalBetween(0, 100), "0.01"),
  },
  AGENT_DISPUTE_WINDOW_MIN_MS: {
    purpose:
      "Shortest inspection, in milliseconds, that agents may agree on; below 60000 for tests",
    schema: v.optional(
      integerBetween(limits.minInspectionWindowMs, DEFAULT_MIN_WINDOW_MS),
      String(DEFAULT_MIN_WINDOW_MS),
    ),
  },
  AGENT_TRUST_FEES_VERIFIED: {
    purpose:
      "Fees, in USD, that a payer must leave before its word for the level verified counts in full",
    schema: v.optional(decimalBetween(0, 1_000_000), String(DEFAULT_FEES.verified)),
  },
  AGENT_TRUST_FEES_TRUSTED: {
    purpose:
      "Fees, in USD, that a payer must leave before its word for the level trusted counts in full",
    schema: v.optional(decimalBetween(0, 1_000_000), String(DEFAULT_FEES.trusted)),
  },
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
  AGENT_FEDERATION_ENDPOINT_URL: {
    purpose: "Public address for other relays; enables federation",
    schema: v.optional(baseUrl),
    unset: "federation disabled",
  },
  AGENT_FEDERATION_MAX_PEERS: {
    purpose: "Maximum number of peers",
    schema: v.optional(integerBetween(0, 10_000), "50"),
  },
  AGENT_FEDERATION_ALLOWED_PEERS: {
    purpose: "Relays that may peer",
    schema: v.optional(relayIds),
    unset: "any",
  },
  AGENT_FEDERATION_BLOCKED_PEERS: {
    purpose: "Relays that may not peer",
    schema: v.optional(relayIds),
    unset: "none",
  },
  AGENT_FEDERATION_AUTO_ACCEPT_PEERS: {
    purpose: "Whether every admitted peer gets the default credit limit",
    schema: v.optional(booleanFlag, "false"),
  },
  AGENT_FEDERATION_CREDIT_LIMIT: {
    purpose: "Maximum amount that a trusted peer may owe, in USD",
    schema: v.optional(decimalBetween(0, 1_000_000_000), "1000"),
  },
  AGENT_FEDERATION_HEARTBEAT_INTERVAL_MS: {
    purpose: "Milliseconds between heartbeats",
    schema: v.optional(integerBetween(1, DAY_MS), "60000"),
  },
  AGENT_FEDERATION_MAX_HOPS: {
    purpose: "Maximum number of relays that a query passes",
    schema: v.optional(integerBetween(1, 3), "3"),
  },
  AGENT_FEDERATION_RETRY_SCALE: {
    purpose: "Multiplies the settlement retry schedule",
    schema: v.optional(decimalBetween(0.000001, 1_000), "1"),
  },
  AGENT_WITNESS: {
    purpose: "Whether the relay cosigns the transparency logs of its peers",
    schema: v.optional(booleanFlag, "true"),
  },
  AGENT_WITNESS_LOGS: {
    purpose: "Further logs that the relay cosigns",
    schema: v.optional(logKeys),
    unset: "none",
  },
  AGENT_LOG_WITNESSES: {
    purpose: "Further witnesses that are asked to cosign the relay's own log",
    schema: v.optional(witnessAddresses),
    unset: "active peers only",
  },
  AGENT_LOG_WITNESS_INTERVAL_MS: {
    purpose: "Milliseconds between requests to the witnesses of the relay's own log",
    schema: v.optional(integerBetween(1_000, 3_600_000), "10000"),
  },
} as const satisfies Record<string, Variable>;

export type VariableName = keyof typeof variables;

type Entries = { readonly [Name in VariableName]: (typeof variables)[Name]["schema"] };

/** The schema of the whole environment. */
export const EnvironmentSchema = v.object(
  Object.fromEntries(
    Object.entries(variables).map(([name, { schema }]) => [name, schema]),
  ) as Entries,
);

export type VariableValues = v.InferOutput<typeof EnvironmentSchema>;
