import { limits } from "@agent/wire";
import type { ValueKind } from "./config-values.ts";
import {
  baseUrl,
  bearerToken,
  cidrs,
  corsOrigins,
  decimalBetween,
  evmNetwork,
  booleanFlag,
  listenAddress,
  oneOf,
  operatorTokens,
  passphrase,
  plainText,
  relayIds,
  unsupported,
  wallet,
  integerBetween,
} from "./config-values.ts";

interface Variable<T> {
  readonly purpose: string;
  readonly kind: ValueKind<T>;
  readonly required?: true;
  /** Text that is read like a given value when the variable is unset. */
  readonly default?: string;
  /** What being unset means, where there is no default. */
  readonly unset?: string;
  readonly secret?: true;
}

const DAY_MS = 86_400_000;

/** Every variable of the relay, in the order of the help text. */
export const variables = {
  AGENT_API_TOKEN: {
    purpose: "Master bearer token; a second one is valid beside it while it is replaced",
    kind: operatorTokens,
    unset: "AGENT_API_TOKEN_FILE is required",
    secret: true,
  },
  AGENT_API_TOKEN_FILE: {
    purpose:
      "File with what AGENT_API_TOKEN would hold, instead of it; read again on SIGHUP, when only it changes",
    kind: plainText,
    unset: "AGENT_API_TOKEN counts",
  },
  X402_PAY_TO_ADDRESS: {
    purpose: "Wallet that receives settlements; the all-zero address turns real payments off",
    kind: wallet,
    required: true,
  },
  AGENT_HOST: { purpose: "Address to listen on", kind: listenAddress, default: "0.0.0.0" },
  PORT: {
    purpose: "Port to listen on; 0 takes a free one",
    kind: integerBetween(0, 65_535),
    default: "3000",
  },
  AGENT_BASE_URL: {
    purpose: "What the relay calls itself in documents and links",
    kind: baseUrl,
    unset: "AGENT_FEDERATION_ENDPOINT_URL, if that is set",
  },
  AGENT_CORS_ORIGIN: { purpose: "Allowed CORS origins", kind: corsOrigins, default: "*" },
  AGENT_TRUSTED_PROXIES: {
    purpose: "Proxies whose X-Forwarded-For is believed",
    kind: cidrs,
    unset: "none",
  },
  AGENT_RATE_LIMIT_SCALE: {
    purpose: "Multiplies every rate limit; 0 turns them off",
    kind: decimalBetween(0, 1_000_000),
    default: "1",
  },
  LOG_LEVEL: {
    purpose: "Least level that is logged",
    kind: oneOf("debug", "info", "warn", "error"),
    default: "info",
  },
  AGENT_DB_PATH: { purpose: "SQLite database file", kind: plainText, unset: "in memory" },
  AGENT_DATABASE_URL: {
    purpose: "Postgres database",
    kind: unsupported,
    unset: "SQLite",
    secret: true,
  },
  AGENT_RETENTION_DAYS: {
    purpose: "Days for which finished tasks can be polled; 0 keeps them for ever",
    kind: integerBetween(0, 36_500),
    default: "30",
  },
  AGENT_RECONCILE_INTERVAL_MS: {
    purpose: "Milliseconds between checks of the books",
    kind: integerBetween(1, DAY_MS),
    default: "3600000",
  },
  AGENT_RELAY_NAME: {
    purpose: "Display name of the relay",
    kind: plainText,
    default: "agent-relay",
  },
  AGENT_RELAY_KEY_PASSPHRASE: {
    purpose: "Seals the relay's private key at rest",
    kind: passphrase,
    unset: "key stored as plain hexadecimal",
    secret: true,
  },
  AGENT_RELAY_ISSUE_CREDENTIALS: {
    purpose: "Whether the relay issues credentials",
    kind: booleanFlag,
    default: "false",
  },
  AGENT_REQUIRE_BOOTSTRAP_PROOF: {
    purpose: "Whether bootstrap needs a signature of the new key",
    kind: booleanFlag,
    default: "false",
  },
  AGENT_PAIRING_TTL_MS: {
    purpose: "Life of a pairing code in milliseconds",
    kind: integerBetween(1, DAY_MS),
    default: String(limits.pairingTtlMs),
  },
  AGENT_TASK_TTL_MS: {
    purpose: "Life of an unfinished task in milliseconds",
    kind: integerBetween(1, 7 * DAY_MS),
    default: String(limits.taskTtlMs),
  },
  AGENT_TASK_TTL_MAX_MS: {
    purpose: "Longest life in milliseconds that a submission may ask for (ttl_ms)",
    kind: integerBetween(limits.minTaskTtlMs, 7 * DAY_MS),
    default: String(7 * DAY_MS),
  },
  AGENT_REQUIRE_MAX_BUDGET: {
    purpose: "Whether a submission that costs something must name its max_budget",
    kind: booleanFlag,
    default: "false",
  },
  AGENT_PRIVATE_ENDPOINTS: {
    purpose:
      "Whether agents may have private or loopback addresses; auto blocks them on a public relay",
    kind: oneOf("auto", "allow", "block"),
    default: "auto",
  },
  AGENT_PLATFORM_FEE_RATE: {
    purpose: "Share of a charge that the relay keeps",
    // A worker always earns something: the split knows no rate of 1.
    kind: decimalBetween(0, 0.999999),
    default: "0.05",
  },
  PAYMENT_SECRET_KEY: {
    purpose: "Enables card deposits",
    kind: bearerToken,
    unset: "card deposits answer 501",
    secret: true,
  },
  PAYMENT_WEBHOOK_SECRET: {
    purpose: "Secret that the card processor signs its events with",
    kind: bearerToken,
    unset: "its events answer 501",
    secret: true,
  },
  AGENT_CARD_HOLD_MS: {
    purpose: "How long money from a card cannot be withdrawn, in milliseconds",
    kind: integerBetween(0, 365 * DAY_MS),
    default: String(limits.cardHoldMs),
  },
  PAYMENT_API_BASE: {
    purpose: "Where the card processor is called",
    kind: baseUrl,
    unset: "its public address",
  },
  X402_FACILITATOR_URL: {
    purpose: "Service that verifies and settles x402 payments",
    kind: baseUrl,
    default: "https://x402.org/facilitator",
  },
  X402_NETWORK: {
    purpose: "Chain of x402 payments, as a CAIP-2 id",
    kind: evmNetwork,
    default: "eip155:84532",
  },
  X402_ASSET: {
    purpose: "Token of x402 payments: a contract with 6 decimals and EIP-3009, worth 1 USD",
    kind: wallet,
    default: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  },
  X402_ASSET_NAME: {
    purpose: "Name in the EIP-712 domain of that token",
    kind: plainText,
    default: "USDC",
  },
  X402_ASSET_VERSION: {
    purpose: "Version in the EIP-712 domain of that token",
    kind: plainText,
    default: "2",
  },
  AGENT_FEDERATION_ENDPOINT_URL: {
    purpose: "Public address for other relays; enables federation",
    kind: baseUrl,
    unset: "federation disabled",
  },
  AGENT_FEDERATION_MAX_PEERS: {
    purpose: "Most peers at a time",
    kind: integerBetween(0, 10_000),
    default: "50",
  },
  AGENT_FEDERATION_ALLOWED_PEERS: {
    purpose: "Relays that may peer",
    kind: relayIds,
    unset: "any",
  },
  AGENT_FEDERATION_BLOCKED_PEERS: {
    purpose: "Relays that may not peer",
    kind: relayIds,
    unset: "none",
  },
  AGENT_FEDERATION_AUTO_ACCEPT_PEERS: {
    purpose: "Whether every admitted peer gets the default credit limit",
    kind: booleanFlag,
    default: "false",
  },
  AGENT_FEDERATION_CREDIT_LIMIT: {
    purpose: "Most that a trusted peer may owe, in USD",
    kind: decimalBetween(0, 1_000_000_000),
    default: "1000",
  },
  AGENT_FEDERATION_HEARTBEAT_INTERVAL_MS: {
    purpose: "Milliseconds between heartbeats",
    kind: integerBetween(1, DAY_MS),
    default: "60000",
  },
  AGENT_FEDERATION_MAX_HOPS: {
    purpose: "Most relays that a forwarded query passes",
    kind: integerBetween(1, 3),
    default: "3",
  },
  AGENT_FEDERATION_RETRY_SCALE: {
    purpose: "Multiplies the settlement retry schedule",
    kind: decimalBetween(0.000001, 1_000),
    default: "1",
  },
} as const satisfies Record<string, Variable<unknown>>;

export type VariableName = keyof typeof variables;

type ValueOf<V> = V extends { readonly kind: ValueKind<infer T> } ? T : never;

/** The value of every variable; undefined is possible only without `required` and `default`. */
export type VariableValues = {
  readonly [Name in VariableName]:
    | ValueOf<(typeof variables)[Name]>
    | ((typeof variables)[Name] extends { required: true } | { default: string }
        ? never
        : undefined);
};

/** The variables as text for `--help`: what an unset one means, its purpose and its rule. */
export function formatVariables(): string {
  const rows: readonly (readonly [string, Variable<unknown>])[] = Object.entries(variables);
  return rows
    .map(([name, { purpose, kind, required, default: fallback, unset }]) => {
      const whenUnset = required
        ? "required"
        : fallback
          ? `default ${fallback}`
          : `unset: ${unset}`;
      return `${name} (${whenUnset})\n    ${purpose}. Must be ${kind.rule}.`;
    })
    .join("\n");
}

/** The same as rows of a Markdown table, for docs/deployment.md. */
export function formatVariableRows(): string[] {
  const rows: readonly (readonly [string, Variable<unknown>])[] = Object.entries(variables);
  return rows.map(([name, { purpose, kind, required, default: fallback, unset }]) => {
    const whenUnset = required ? "required" : fallback ? `\`${fallback}\`` : unset;
    return `| \`${name}\` | ${whenUnset} | ${purpose}. Must be ${kind.rule}. |`;
  });
}
