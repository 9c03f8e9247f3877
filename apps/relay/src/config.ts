import type { VariableValues, VariableName } from "./config-variables.ts";
import { variables } from "./config-variables.ts";
import { operatorTokens, type ValueKind } from "./config-values.ts";
import { readTokenFile } from "./read-token-file.ts";

/** Everything an operator can choose, validated. Secrets are here: never log this object. */
export interface Config {
  /** The operator's bearer tokens: one or two. */
  readonly apiTokens: readonly string[];
  /** Where they came from, when that was a file. */
  readonly apiTokenFile: string | undefined;
  readonly server: {
    readonly host: string;
    readonly port: number;
    /** What the relay calls itself, without a slash at the end. */
    readonly baseUrl: string | undefined;
    readonly corsOrigins: "*" | readonly string[];
    /** IP addresses and CIDR ranges. */
    readonly trustedProxies: readonly string[];
    readonly rateLimitScale: number;
    readonly logLevel: "debug" | "info" | "warn" | "error";
  };
  readonly storage: {
    /** `:memory:` unless a file is configured. */
    readonly databasePath: string;
    /** 0 = for ever. */
    readonly retentionDays: number;
  };
  readonly identity: {
    readonly relayName: string;
    /** Absent: the key is stored in plain. */
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
    /** False with the all-zero address: only virtual accounts then. */
    readonly realPayments: boolean;
    /** Absent: card deposits are off. */
    readonly cardSecretKey: string | undefined;
    readonly cardWebhookSecret: string | undefined;
    readonly cardHoldMs: number;
    /** Absent: where the processor's library calls by itself. */
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
  readonly books: { readonly reconcileIntervalMs: number };
  readonly federation: {
    /** Absent: federation is off. */
    readonly endpointUrl: string | undefined;
    readonly maxPeers: number;
    /** Absent: any relay may peer. */
    readonly allowedPeers: readonly string[] | undefined;
    readonly blockedPeers: readonly string[];
    readonly autoAcceptPeers: boolean;
    /** USD, at most 6 decimals. */
    readonly creditLimit: number;
    readonly heartbeatIntervalMs: number;
    readonly maxHops: number;
    readonly retryScale: number;
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
  const faults = [...findContradictions(env)];
  const values: Partial<Record<VariableName, unknown>> = {};
  for (const name of Object.keys(variables) as VariableName[]) {
    if (faults.some((fault) => fault.variable === name)) continue;
    const variable: { kind: ValueKind<unknown>; required?: true; default?: string } =
      variables[name];
    const text = readVariable(env, name) ?? variable.default;
    if (text === undefined) {
      if (variable.required) faults.push({ variable: name, message: `${name} is required` });
      continue;
    }
    const value = variable.kind.parse(text);
    if (value === undefined) {
      faults.push({ variable: name, message: `${name} must be ${variable.kind.rule}` });
    }
    values[name] = value;
  }
  const apiTokens = resolveTokens(values, faults);
  return faults.length > 0
    ? { ok: false, faults }
    : { ok: true, config: buildConfig(values as VariableValues, apiTokens) };
}

/** The operator's tokens from the environment or the file that it names; a fault when neither has any. */
function resolveTokens(
  values: Partial<Record<VariableName, unknown>>,
  faults: ConfigFault[],
): readonly string[] {
  const { AGENT_API_TOKEN: tokens, AGENT_API_TOKEN_FILE: file } = values as Partial<VariableValues>;
  const addFault = (variable: VariableName, message: string) => {
    const isNamed = faults.some((fault) => fault.variable.startsWith("AGENT_API_TOKEN"));
    if (!isNamed) faults.unshift({ variable, message: `${variable} ${message}` });
    return [];
  };
  if (tokens !== undefined) return tokens;
  if (file === undefined) {
    return addFault("AGENT_API_TOKEN", "is required, unless AGENT_API_TOKEN_FILE is set");
  }
  const message = `must name a readable file that holds ${operatorTokens.rule}`;
  return readTokenFile(file) ?? addFault("AGENT_API_TOKEN_FILE", message);
}

/** The values that must never leave the process in a log line or an answer. */
export function listSecrets(config: Config): readonly string[] {
  const { apiTokens, identity, payments } = config;
  const { cardSecretKey, cardWebhookSecret } = payments;
  return [...apiTokens, identity.keyPassphrase, cardSecretKey, cardWebhookSecret].filter(
    (secret) => secret !== undefined,
  );
}

/** A blank value counts as unset. Only a passphrase keeps its outer blanks. */
function readVariable(env: Environment, name: VariableName): string | undefined {
  const text = env[name];
  if (text === undefined || text.trim() === "") return undefined;
  return name === "AGENT_RELAY_KEY_PASSPHRASE" ? text : text.trim();
}

function* findContradictions(env: Environment): Iterable<ConfigFault> {
  if (readVariable(env, "AGENT_DB_PATH") && readVariable(env, "AGENT_DATABASE_URL")) {
    yield {
      variable: "AGENT_DATABASE_URL",
      message: "AGENT_DATABASE_URL and AGENT_DB_PATH must not be set together",
    };
  }
  if (readVariable(env, "AGENT_API_TOKEN") && readVariable(env, "AGENT_API_TOKEN_FILE")) {
    yield {
      variable: "AGENT_API_TOKEN_FILE",
      message: "AGENT_API_TOKEN_FILE and AGENT_API_TOKEN must not be set together",
    };
  }
  const [ttlMs, maxTtlMs] = (["AGENT_TASK_TTL_MS", "AGENT_TASK_TTL_MAX_MS"] as const).map((name) =>
    variables[name].kind.parse(readVariable(env, name) ?? ""),
  );
  if (ttlMs !== undefined && maxTtlMs !== undefined && ttlMs > maxTtlMs) {
    yield {
      variable: "AGENT_TASK_TTL_MAX_MS",
      message: "AGENT_TASK_TTL_MAX_MS must not be below AGENT_TASK_TTL_MS",
    };
  }
  const allowed = parseRelayIds(readVariable(env, "AGENT_FEDERATION_ALLOWED_PEERS"));
  if (
    parseRelayIds(readVariable(env, "AGENT_FEDERATION_BLOCKED_PEERS")).some((id) =>
      allowed.includes(id),
    )
  ) {
    yield {
      variable: "AGENT_FEDERATION_BLOCKED_PEERS",
      message:
        "AGENT_FEDERATION_BLOCKED_PEERS must not name a relay of AGENT_FEDERATION_ALLOWED_PEERS",
    };
  }
}

const parseRelayIds = (text: string | undefined): readonly string[] =>
  text === undefined ? [] : (variables.AGENT_FEDERATION_ALLOWED_PEERS.kind.parse(text) ?? []);

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
    },
    storage: {
      databasePath: values.AGENT_DB_PATH ?? ":memory:",
      retentionDays: values.AGENT_RETENTION_DAYS,
    },
    books: { reconcileIntervalMs: values.AGENT_RECONCILE_INTERVAL_MS },
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
