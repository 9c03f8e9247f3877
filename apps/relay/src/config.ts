import { toMicro } from "@agent/budget";
import type { TrustThresholds } from "@agent/routing-semiring";
import type { VerifierKey } from "@agent/transparency";
import * as v from "valibot";
import {
  DEFAULT_FEES,
  EnvironmentSchema,
  variables,
  type VariableName,
  type VariableValues,
} from "./config-variables.ts";
import { getRule, operatorTokens, type WitnessAddress } from "./config-values.ts";
import { readTokenFile } from "./identity/read-token-file.ts";

/** All settings of a relay, validated. It holds secrets and must never be logged. */
export interface Config {
  /** One or two bearer tokens of the operator. */
  readonly apiTokens: readonly string[];
  /** The file that the tokens were read from, if any. */
  readonly apiTokenFile: string | undefined;
  readonly server: {
    readonly host: string;
    readonly port: number;
    /** The public address of the relay, without a slash at the end. */
    readonly baseUrl: string | undefined;
    readonly corsOrigins: "*" | readonly string[];
    /** IP addresses and CIDR ranges. */
    readonly trustedProxies: readonly string[];
    readonly rateLimitScale: number;
    readonly logLevel: "debug" | "info" | "warn" | "error";
    /** The pages for browsers; `verify` leaves only those that need no session. */
    readonly console: "on" | "off" | "verify";
  };
  readonly storage: {
    /** `:memory:` unless a file is configured. */
    readonly databasePath: string;
    /** A PostgreSQL database, used instead of a file. */
    readonly databaseUrl: string | undefined;
    readonly databasePool: number;
    /** Where processes notify each other; undefined if they do not. */
    readonly databaseListenUrl: string | undefined;
    /** Names this process among those that share the database. */
    readonly processName: string | undefined;
    /** 0 keeps tasks for ever. */
    readonly retentionDays: number;
  };
  readonly identity: {
    readonly relayName: string;
    /** Without it the key is stored in plain text. */
    readonly keyPassphrase: string | undefined;
    readonly issueCredentials: boolean;
  };
  readonly agents: {
    readonly requireBootstrapProof: boolean;
    readonly pairingTtlMs: number;
    readonly privateEndpoints: "auto" | "allow" | "block";
  };
  readonly tasks: {
    readonly ttlMs: number;
    readonly ttlMaxMs: number;
    readonly requireMaxBudget: boolean;
  };
  readonly payments: {
    /** A fraction from 0 to below 1 with at most 6 decimals. */
    readonly platformFeeRate: number;
    readonly payToAddress: string;
    /** False with the all-zero address, which leaves only virtual accounts. */
    readonly realPayments: boolean;
    /** Without it card deposits are off. */
    readonly cardSecretKey: string | undefined;
    readonly cardWebhookSecret: string | undefined;
    readonly cardHoldMs: number;
    /** Without it the default of the processor's library is used. */
    readonly cardApiBase: string | undefined;
    readonly x402: {
      readonly facilitatorUrl: string;
      /** CAIP-2, of the form eip155:<chain id>. */
      readonly network: string;
      readonly asset: string;
      /** Name and version of the asset's EIP-712 domain. */
      readonly assetName: string;
      readonly assetVersion: string;
    };
  };
  readonly disputes: {
    readonly answerMs: number;
    readonly decisionMs: number;
    /** A fraction from 0 to 0.5 with at most 6 decimals. */
    readonly feeRate: number;
    /** USD, at most 6 decimals. */
    readonly feeMin: number;
    readonly windowMinMs: number;
  };
  readonly books: { readonly reconcileIntervalMs: number };
  readonly trust: {
    /** In micro-units; 0 demands no fees. */
    readonly thresholds: TrustThresholds;
  };
  readonly log: {
    readonly isOn: boolean;
    /** Without it the log is named after the relay's id. */
    readonly origin: string | undefined;
    readonly intervalMs: number;
    /** The number of cosignatures that a head needs before it is published. */
    readonly quorum: number;
  };
  readonly federation: {
    /** Without it federation is off. */
    readonly endpointUrl: string | undefined;
    readonly maxPeers: number;
    /** Without it any relay may peer. */
    readonly allowedPeers: readonly string[] | undefined;
    readonly blockedPeers: readonly string[];
    readonly autoAcceptPeers: boolean;
    /** USD, at most 6 decimals. */
    readonly creditLimit: number;
    readonly heartbeatIntervalMs: number;
    readonly maxHops: number;
    readonly retryScale: number;
  };
  readonly witness: {
    /** Whether the relay cosigns the logs of its peers and those of `logs`. */
    readonly isOn: boolean;
    readonly logs: readonly VerifierKey[];
    /** The witnesses of the relay's own log, besides its active peers. */
    readonly asked: readonly WitnessAddress[];
    readonly askIntervalMs: number;
  };
}

export interface ConfigFault {
  readonly variable: VariableName;
  readonly message: string;
}

export type ConfigResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly faults: readonly ConfigFault[] };

export type Environment = Readonly<Record<string, string | undefined>>;

/** Reads the whole environment and names every fault at once; no message quotes a value. */
export function readConfig(env: Environment): ConfigResult {
  const given = readVariables(env);
  const faults = [...findContradictions(given)];
  const read = v.safeParse(EnvironmentSchema, given, { abortPipeEarly: true });
  for (const { path } of read.issues ?? []) {
    const variable = path?.[0].key as VariableName;
    if (faults.some((fault) => fault.variable === variable)) continue;
    const isMissing = given[variable] === undefined;
    const message = isMissing ? "is required" : `must be ${getRule(variables[variable].schema)}`;
    faults.push({ variable, message: `${variable} ${message}` });
  }
  const apiTokens = resolveTokens(given, faults);
  return faults.length > 0 || !read.success
    ? { ok: false, faults }
    : { ok: true, config: buildConfig(read.output, apiTokens) };
}

/** Returns the operator's tokens from the environment or a file; a fault is added when neither has any. */
function resolveTokens(given: GivenVariables, faults: ConfigFault[]): readonly string[] {
  const { AGENT_API_TOKEN_FILE: file } = given;
  if (faults.some(({ variable }) => variable.startsWith("AGENT_API_TOKEN"))) return [];
  const tokens = parseGiven(given, "AGENT_API_TOKEN") ?? (file && readTokenFile(file));
  if (tokens) return tokens;
  faults.unshift(
    file === undefined
      ? {
          variable: "AGENT_API_TOKEN",
          message: "AGENT_API_TOKEN is required, unless AGENT_API_TOKEN_FILE is set",
        }
      : {
          variable: "AGENT_API_TOKEN_FILE",
          message: `AGENT_API_TOKEN_FILE must name a readable file that holds ${getRule(operatorTokens)}`,
        },
  );
  return [];
}

/** The commands read it, and they are often called in the environment of the relay. */
const COMMAND_VARIABLE = "AGENT_RELAY_URL";

/** Lists what is named like a variable of the relay and is none, because a mistyped one has no effect. */
export function listUnknownVariables(env: Environment): readonly string[] {
  return Object.keys(env)
    .filter((name) => /^(?:AGENT|X402)_/.test(name) && name !== COMMAND_VARIABLE)
    .filter((name) => !Object.hasOwn(variables, name))
    .toSorted();
}

/** Lists the values that must never leave the process in a log line or a response. */
export function listSecrets(config: Config): readonly string[] {
  const { apiTokens, identity, payments, storage } = config;
  const { cardSecretKey, cardWebhookSecret } = payments;
  const secrets = new Set([
    ...apiTokens,
    identity.keyPassphrase,
    cardSecretKey,
    cardWebhookSecret,
    storage.databaseUrl,
    ...listPasswords(storage.databaseUrl),
    storage.databaseListenUrl,
    ...listPasswords(storage.databaseListenUrl),
  ]);
  return [...secrets].filter((secret) => secret !== undefined);
}

/** Lists the password of an address as it is written there and as it is meant. */
function listPasswords(address: string | undefined): readonly string[] {
  const { password = "" } = (address !== undefined && URL.parse(address)) || {};
  return password === "" ? [] : [password, decodeURIComponent(password)];
}

type GivenVariables = { readonly [Name in VariableName]?: string };

/** Takes a blank value as unset and trims every other value but the passphrase. */
function readVariables(env: Environment): GivenVariables {
  const names = Object.keys(variables) as VariableName[];
  return Object.fromEntries(
    names.flatMap((name) => {
      const text = env[name];
      if (text === undefined || text.trim() === "") return [];
      return [[name, name === "AGENT_RELAY_KEY_PASSPHRASE" ? text : text.trim()]];
    }),
  );
}

/** Returns the value of a variable that is set and valid; a default does not count as set. */
function parseGiven<Name extends VariableName>(
  given: GivenVariables,
  name: Name,
): VariableValues[Name] | undefined {
  if (given[name] === undefined) return undefined;
  const read = v.safeParse(EnvironmentSchema.entries[name], given[name]);
  return read.success ? (read.output as VariableValues[Name]) : undefined;
}

function* findContradictions(given: GivenVariables): Iterable<ConfigFault> {
  for (const [variable, other] of EXCLUSIVE_VARIABLES) {
    if (given[variable] !== undefined && given[other] !== undefined) {
      yield { variable, message: `${variable} and ${other} must not be set together` };
    }
  }
  const ttlMs = parseGiven(given, "AGENT_TASK_TTL_MS");
  const maxTtlMs = parseGiven(given, "AGENT_TASK_TTL_MAX_MS");
  if (ttlMs !== undefined && maxTtlMs !== undefined && ttlMs > maxTtlMs) {
    yield {
      variable: "AGENT_TASK_TTL_MAX_MS",
      message: "AGENT_TASK_TTL_MAX_MS must not be below AGENT_TASK_TTL_MS",
    };
  }
  const verified = parseGiven(given, "AGENT_TRUST_FEES_VERIFIED") ?? DEFAULT_FEES.verified;
  const trusted = parseGiven(given, "AGENT_TRUST_FEES_TRUSTED") ?? DEFAULT_FEES.trusted;
  if (trusted < verified) {
    yield {
      variable: "AGENT_TRUST_FEES_TRUSTED",
      message: "AGENT_TRUST_FEES_TRUSTED must not be below AGENT_TRUST_FEES_VERIFIED",
    };
  }
  const allowed = parseGiven(given, "AGENT_FEDERATION_ALLOWED_PEERS");
  const blocked = parseGiven(given, "AGENT_FEDERATION_BLOCKED_PEERS");
  if (blocked?.some((id) => allowed?.includes(id))) {
    yield {
      variable: "AGENT_FEDERATION_BLOCKED_PEERS",
      message:
        "AGENT_FEDERATION_BLOCKED_PEERS must not name a relay of AGENT_FEDERATION_ALLOWED_PEERS",
    };
  }
}

/** The first of two variables that must not be set together is the one at fault. */
const EXCLUSIVE_VARIABLES = [
  ["AGENT_DATABASE_URL", "AGENT_DB_PATH"],
  ["AGENT_API_TOKEN_FILE", "AGENT_API_TOKEN"],
] as const;

/** A connection of its own receives hints; "off" leaves the polls alone to notice changes. */
function buildStorageConfig(values: VariableValues): Config["storage"] {
  const { AGENT_DATABASE_LISTEN_URL: listenUrl = values.AGENT_DATABASE_URL } = values;
  return {
    databasePath: values.AGENT_DB_PATH ?? ":memory:",
    databaseUrl: values.AGENT_DATABASE_URL,
    databasePool: values.AGENT_DATABASE_POOL,
    databaseListenUrl: listenUrl === "off" ? undefined : listenUrl,
    processName: values.AGENT_PROCESS_NAME,
    retentionDays: values.AGENT_RETENTION_DAYS,
  };
}

function buildConfig(values: VariableValues, apiTokens: readonly string[]): Config {
  return {
    apiTokens,
    apiTokenFile: values.AGENT_API_TOKEN_FILE,
    server: {
      host: values.AGENT_HOST,
      port: values.PORT,
      baseUrl: values.AGENT_BASE_URL ?? values.AGENT_FEDERATION_ENDPOINT_URL,
      corsOrigins: values.AGENT_CORS_ORIGIN,
      trustedProxies: values.AGENT_TRUSTED_PROXIES ?? [],
      rateLimitScale: values.AGENT_RATE_LIMIT_SCALE,
      logLevel: values.LOG_LEVEL,
      console: values.AGENT_CONSOLE,
    },
    storage: buildStorageConfig(values),
    disputes: {
      answerMs: values.AGENT_DISPUTE_ANSWER_MS,
      decisionMs: values.AGENT_DISPUTE_DECISION_MS,
      feeRate: values.AGENT_DISPUTE_FEE_RATE,
      feeMin: values.AGENT_DISPUTE_FEE_MIN,
      windowMinMs: values.AGENT_DISPUTE_WINDOW_MIN_MS,
    },
    books: { reconcileIntervalMs: values.AGENT_RECONCILE_INTERVAL_MS },
    trust: {
      thresholds: {
        verified: toMicro(values.AGENT_TRUST_FEES_VERIFIED),
        trusted: toMicro(values.AGENT_TRUST_FEES_TRUSTED),
      },
    },
    ...buildLogConfig(values),
    identity: {
      relayName: values.AGENT_RELAY_NAME,
      keyPassphrase: values.AGENT_RELAY_KEY_PASSPHRASE,
      issueCredentials: values.AGENT_RELAY_ISSUE_CREDENTIALS,
    },
    agents: {
      requireBootstrapProof: values.AGENT_REQUIRE_BOOTSTRAP_PROOF,
      pairingTtlMs: values.AGENT_PAIRING_TTL_MS,
      privateEndpoints: values.AGENT_PRIVATE_ENDPOINTS,
    },
    tasks: {
      ttlMs: Math.min(values.AGENT_TASK_TTL_MS, values.AGENT_TASK_TTL_MAX_MS),
      ttlMaxMs: values.AGENT_TASK_TTL_MAX_MS,
      requireMaxBudget: values.AGENT_REQUIRE_MAX_BUDGET,
    },
    payments: {
      platformFeeRate: values.AGENT_PLATFORM_FEE_RATE,
      payToAddress: values.X402_PAY_TO_ADDRESS,
      realPayments: !/^0x0{40}$/.test(values.X402_PAY_TO_ADDRESS),
      cardSecretKey: values.PAYMENT_SECRET_KEY,
      cardWebhookSecret: values.PAYMENT_WEBHOOK_SECRET,
      cardHoldMs: values.AGENT_CARD_HOLD_MS,
      cardApiBase: values.PAYMENT_API_BASE,
      x402: {
        facilitatorUrl: values.X402_FACILITATOR_URL,
        network: values.X402_NETWORK,
        asset: values.X402_ASSET,
        assetName: values.X402_ASSET_NAME,
        assetVersion: values.X402_ASSET_VERSION,
      },
    },
    federation: {
      endpointUrl: values.AGENT_FEDERATION_ENDPOINT_URL,
      maxPeers: values.AGENT_FEDERATION_MAX_PEERS,
      allowedPeers: values.AGENT_FEDERATION_ALLOWED_PEERS,
      blockedPeers: values.AGENT_FEDERATION_BLOCKED_PEERS ?? [],
      autoAcceptPeers: values.AGENT_FEDERATION_AUTO_ACCEPT_PEERS,
      creditLimit: values.AGENT_FEDERATION_CREDIT_LIMIT,
      heartbeatIntervalMs: values.AGENT_FEDERATION_HEARTBEAT_INTERVAL_MS,
      maxHops: values.AGENT_FEDERATION_MAX_HOPS,
      retryScale: values.AGENT_FEDERATION_RETRY_SCALE,
    },
  };
}

function buildLogConfig(values: VariableValues): Pick<Config, "log" | "witness"> {
  return {
    log: {
      isOn: values.AGENT_LOG,
      origin: values.AGENT_LOG_ORIGIN,
      intervalMs: values.AGENT_LOG_INTERVAL_MS,
      quorum: values.AGENT_LOG_QUORUM,
    },
    witness: {
      isOn: values.AGENT_WITNESS,
      logs: values.AGENT_WITNESS_LOGS ?? [],
      asked: values.AGENT_LOG_WITNESSES ?? [],
      askIntervalMs: values.AGENT_LOG_WITNESS_INTERVAL_MS,
    },
  };
}
