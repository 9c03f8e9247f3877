import { toMicro } from "@agent/budget";
import type { Config } from "./config.ts";
import type { VariableValues } from "./config-variables.ts";

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

/** Arranges the values of the variables, which are valid by now, by their purpose. */
export function buildConfig(values: VariableValues, apiTokens: readonly string[]): Config {
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
