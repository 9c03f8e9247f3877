import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { Config } from "./config.ts";
import { readConfig } from "./read-config.ts";
import { listSecrets } from "./list-secrets.ts";
import { getRule } from "./config-values.ts";
import { type VariableName, variables } from "./config-variables.ts";
import { formatVariables, listVariables } from "./format-variables.ts";

const relayId = "0198c0de-7a5e-7c3d-8f00-0123456789ab";
const otherRelayId = "0198c0de-7a5e-7c3d-8f00-0123456789ac";
const required = {
  AGENT_API_TOKEN: "master-token",
  X402_PAY_TO_ADDRESS: `0x${"0".repeat(40)}`,
};

function configOf(env: Partial<Record<VariableName, string>>): Config {
  const result = readConfig({ ...required, ...env });
  if (!result.ok) throw new Error(result.faults.map(({ message }) => message).join("; "));
  return result.config;
}

function faultsOf(env: Record<string, string | undefined>): readonly string[] {
  const result = readConfig(env);
  return result.ok ? [] : result.faults.map(({ variable }) => variable);
}

test("every other variable has its default when only the two required ones are set", () => {
  expect(configOf({})).toEqual({
    apiTokens: ["master-token"],
    apiTokenFile: undefined,
    server: {
      host: "0.0.0.0",
      port: 3000,
      baseUrl: undefined,
      corsOrigins: "*",
      trustedProxies: [],
      rateLimitScale: 1,
      logLevel: "info",
      console: "on",
    },
    storage: {
      databasePath: ":memory:",
      databaseUrl: undefined,
      databasePool: 8,
      databaseListenUrl: undefined,
      processName: undefined,
      retentionDays: 30,
    },
    witness: { isOn: true, logs: [], asked: [], askIntervalMs: 10_000 },
    books: { reconcileIntervalMs: 3_600_000 },
    trust: { thresholds: { verified: 50_000, trusted: 500_000 } },
    log: { isOn: true, origin: undefined, intervalMs: 200, quorum: 0 },
    identity: { relayName: "agent-relay", keyPassphrase: undefined, issueCredentials: false },
    agents: { requireBootstrapProof: false, pairingTtlMs: 300_000, privateEndpoints: "auto" },
    tasks: { ttlMs: 900_000, ttlMaxMs: 604_800_000, requireMaxBudget: false },
    payments: {
      platformFeeRate: 0.05,
      payToAddress: required.X402_PAY_TO_ADDRESS,
      realPayments: false,
      cardSecretKey: undefined,
      cardWebhookSecret: undefined,
      cardHoldMs: 604_800_000,
      cardApiBase: undefined,
      x402: {
        facilitatorUrl: "https://x402.org/facilitator",
        network: "eip155:84532",
        asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
        assetName: "USDC",
        assetVersion: "2",
      },
    },
    disputes: {
      answerMs: 259_200_000,
      decisionMs: 604_800_000,
      feeRate: 0.05,
      feeMin: 0.01,
      windowMinMs: 60_000,
    },
    federation: {
      endpointUrl: undefined,
      maxPeers: 50,
      allowedPeers: undefined,
      blockedPeers: [],
      autoAcceptPeers: false,
      creditLimit: 1000,
      heartbeatIntervalMs: 60_000,
      maxHops: 3,
      retryScale: 1,
    },
  } satisfies Config);
});

const accepted: readonly [VariableName, string, (config: Config) => unknown, unknown][] = [
  ["AGENT_API_TOKEN", " padded\n", (c) => c.apiTokens, ["padded"]],
  ["AGENT_API_TOKEN", "old, new", (c) => c.apiTokens, ["old", "new"]],
  ["X402_PAY_TO_ADDRESS", `0x${"aB".repeat(20)}`, (c) => c.payments.realPayments, true],
  ["AGENT_HOST", "::1", (c) => c.server.host, "::1"],
  ["AGENT_HOST", "relay.internal", (c) => c.server.host, "relay.internal"],
  ["PORT", "0", (c) => c.server.port, 0],
  ["PORT", "65535", (c) => c.server.port, 65_535],
  ["AGENT_BASE_URL", "https://r.example/", (c) => c.server.baseUrl, "https://r.example"],
  ["AGENT_BASE_URL", "http://r.example:81/a/", (c) => c.server.baseUrl, "http://r.example:81/a"],
  [
    "AGENT_CORS_ORIGIN",
    "https://a.example, http://b.example:8080/",
    (c) => c.server.corsOrigins,
    ["https://a.example", "http://b.example:8080"],
  ],
  [
    "AGENT_TRUSTED_PROXIES",
    "10.0.0.0/8, ::1",
    (c) => c.server.trustedProxies,
    ["10.0.0.0/8", "::1"],
  ],
  ["AGENT_RATE_LIMIT_SCALE", "0", (c) => c.server.rateLimitScale, 0],
  ["AGENT_RATE_LIMIT_SCALE", "2.5", (c) => c.server.rateLimitScale, 2.5],
  ["LOG_LEVEL", "debug", (c) => c.server.logLevel, "debug"],
  ["AGENT_DB_PATH", "/var/lib/relay.db", (c) => c.storage.databasePath, "/var/lib/relay.db"],
  [
    "AGENT_DATABASE_URL",
    "postgres://relay@db.example/relay?sslmode=require",
    (c) => c.storage.databaseUrl,
    "postgres://relay@db.example/relay?sslmode=require",
  ],
  ["AGENT_DATABASE_POOL", "16", (c) => c.storage.databasePool, 16],
  [
    "AGENT_DATABASE_LISTEN_URL",
    "postgres://localhost/relay",
    (c) => c.storage.databaseListenUrl,
    "postgres://localhost/relay",
  ],
  ["AGENT_DATABASE_LISTEN_URL", "off", (c) => c.storage.databaseListenUrl, undefined],
  ["AGENT_RETENTION_DAYS", "0", (c) => c.storage.retentionDays, 0],
  ["AGENT_RECONCILE_INTERVAL_MS", "1000", (c) => c.books.reconcileIntervalMs, 1000],
  ["AGENT_RELAY_NAME", "Réseau", (c) => c.identity.relayName, "Réseau"],
  ["AGENT_RELAY_KEY_PASSPHRASE", " two words ", (c) => c.identity.keyPassphrase, " two words "],
  ["AGENT_RELAY_ISSUE_CREDENTIALS", "true", (c) => c.identity.issueCredentials, true],
  ["AGENT_REQUIRE_BOOTSTRAP_PROOF", "true", (c) => c.agents.requireBootstrapProof, true],
  ["AGENT_TASK_TTL_MS", "1500", (c) => c.tasks.ttlMs, 1500],
  ["AGENT_TASK_TTL_MAX_MS", "900000", (c) => c.tasks.ttlMaxMs, 900_000],
  ["AGENT_REQUIRE_MAX_BUDGET", "true", (c) => c.tasks.requireMaxBudget, true],
  ["AGENT_PRIVATE_ENDPOINTS", "block", (c) => c.agents.privateEndpoints, "block"],
  ["AGENT_DISPUTE_ANSWER_MS", "100", (c) => c.disputes.answerMs, 100],
  ["AGENT_DISPUTE_DECISION_MS", "100", (c) => c.disputes.decisionMs, 100],
  ["AGENT_DISPUTE_FEE_RATE", "0.5", (c) => c.disputes.feeRate, 0.5],
  ["AGENT_DISPUTE_FEE_RATE", "0.000001", (c) => c.disputes.feeRate, 0.000001],
  ["AGENT_DISPUTE_FEE_MIN", "0", (c) => c.disputes.feeMin, 0],
  ["AGENT_DISPUTE_FEE_MIN", "100", (c) => c.disputes.feeMin, 100],
  ["AGENT_DISPUTE_WINDOW_MIN_MS", "100", (c) => c.disputes.windowMinMs, 100],
  ["AGENT_PLATFORM_FEE_RATE", "0.000001", (c) => c.payments.platformFeeRate, 0.000001],
  ["AGENT_TRUST_FEES_VERIFIED", "0.01", (c) => c.trust.thresholds.verified, 10_000],
  ["AGENT_TRUST_FEES_TRUSTED", "5", (c) => c.trust.thresholds.trusted, 5_000_000],
  ["PAYMENT_SECRET_KEY", "sk_test_1", (c) => c.payments.cardSecretKey, "sk_test_1"],
  ["PAYMENT_WEBHOOK_SECRET", "whsec_1", (c) => c.payments.cardWebhookSecret, "whsec_1"],
  ["AGENT_CARD_HOLD_MS", "0", (c) => c.payments.cardHoldMs, 0],
  ["PAYMENT_API_BASE", "http://127.0.0.1:1/", (c) => c.payments.cardApiBase, "http://127.0.0.1:1"],
  [
    "X402_FACILITATOR_URL",
    "https://f.example/x",
    (c) => c.payments.x402.facilitatorUrl,
    "https://f.example/x",
  ],
  ["X402_NETWORK", "eip155:8453", (c) => c.payments.x402.network, "eip155:8453"],
  ["X402_ASSET", `0x${"1f".repeat(20)}`, (c) => c.payments.x402.asset, `0x${"1f".repeat(20)}`],
  ["X402_ASSET_NAME", "USD Coin", (c) => c.payments.x402.assetName, "USD Coin"],
  ["X402_ASSET_VERSION", "1", (c) => c.payments.x402.assetVersion, "1"],
  ["AGENT_FEDERATION_MAX_PEERS", "0", (c) => c.federation.maxPeers, 0],
  [
    "AGENT_FEDERATION_ALLOWED_PEERS",
    `${relayId.toUpperCase()},${otherRelayId}`,
    (c) => c.federation.allowedPeers,
    [relayId, otherRelayId],
  ],
  ["AGENT_FEDERATION_BLOCKED_PEERS", relayId, (c) => c.federation.blockedPeers, [relayId]],
  ["AGENT_FEDERATION_AUTO_ACCEPT_PEERS", "true", (c) => c.federation.autoAcceptPeers, true],
  ["AGENT_FEDERATION_CREDIT_LIMIT", "12.5", (c) => c.federation.creditLimit, 12.5],
  ["AGENT_FEDERATION_HEARTBEAT_INTERVAL_MS", "50", (c) => c.federation.heartbeatIntervalMs, 50],
  ["AGENT_FEDERATION_MAX_HOPS", "1", (c) => c.federation.maxHops, 1],
  ["AGENT_FEDERATION_RETRY_SCALE", "0.001", (c) => c.federation.retryScale, 0.001],
];

test.each(accepted)("%s accepts %j", (variable, text, read, value) => {
  expect(read(configOf({ [variable]: text }))).toEqual(value);
});

test.each<[VariableName, ...string[]]>([
  ["AGENT_API_TOKEN", "two words", "tökén"],
  ["X402_PAY_TO_ADDRESS", "0x1234", "0".repeat(42), `0x${"g".repeat(40)}`],
  ["AGENT_HOST", "256.0.0.1", "http://host", "a_b", "-a"],
  ["PORT", "65536", "-1", "3000.5", "1e3", "0x10", "abc", "99999999999999999999"],
  ["AGENT_BASE_URL", "r.example", "ftp://r.example", "https://u:p@r.example", "https://r/?a=1"],
  ["AGENT_CORS_ORIGIN", "r.example", "https://r.example/path", "*,https://r.example", ","],
  ["AGENT_TRUSTED_PROXIES", "10.0.0.0/33", "10.0.0", "proxy", "::1/129", "10.0.0.1,,"],
  ["AGENT_RATE_LIMIT_SCALE", "-1", "Infinity", "NaN", "1e2"],
  ["LOG_LEVEL", "verbose", "INFO"],
  ["AGENT_DB_PATH", "a\0b"],
  ["AGENT_DATABASE_URL", "mysql://localhost/relay"],
  ["AGENT_DATABASE_URL", "postgres://localhost"],
  ["AGENT_DATABASE_URL", "relay.db"],
  ["AGENT_DATABASE_POOL", "0"],
  ["AGENT_DATABASE_LISTEN_URL", "on"],
  ["AGENT_RETENTION_DAYS", "-1", "1.5"],
  ["AGENT_RECONCILE_INTERVAL_MS", "0", "86400001"],
  ["AGENT_RELAY_NAME", "a\nb"],
  ["AGENT_RELAY_ISSUE_CREDENTIALS", "yes", "1", "TRUE"],
  ["AGENT_REQUIRE_BOOTSTRAP_PROOF", "on"],
  ["AGENT_TASK_TTL_MS", "0", "1.5", "604800001"],
  ["AGENT_TASK_TTL_MAX_MS", "59999", "90000.5", "604800001", "long"],
  ["AGENT_REQUIRE_MAX_BUDGET", "yes"],
  ["AGENT_PRIVATE_ENDPOINTS", "deny"],
  ["AGENT_DISPUTE_ANSWER_MS", "99", "100.5", "soon"],
  ["AGENT_DISPUTE_DECISION_MS", "99", "100.5", "soon"],
  ["AGENT_DISPUTE_FEE_RATE", "0.500001", "-0.05", "0.0000001", "5%"],
  ["AGENT_DISPUTE_FEE_MIN", "100.000001", "-0.01", "0.0000001"],
  ["AGENT_DISPUTE_WINDOW_MIN_MS", "99", "60001", "100.5"],
  ["AGENT_PLATFORM_FEE_RATE", "1", "1.1", "-0.05", "0.0000001", "5%"],
  ["PAYMENT_SECRET_KEY", "sk test"],
  ["AGENT_FEDERATION_ENDPOINT_URL", "relay.example", "https://relay.example/#a"],
  ["AGENT_FEDERATION_MAX_PEERS", "-1", "many"],
  ["AGENT_FEDERATION_ALLOWED_PEERS", "relay-1", ","],
  ["AGENT_FEDERATION_BLOCKED_PEERS", "relay-1"],
  ["AGENT_FEDERATION_AUTO_ACCEPT_PEERS", "maybe"],
  ["AGENT_FEDERATION_CREDIT_LIMIT", "-1", "1000000001"],
  ["AGENT_FEDERATION_HEARTBEAT_INTERVAL_MS", "0"],
  ["AGENT_FEDERATION_MAX_HOPS", "0", "4"],
  ["AGENT_FEDERATION_RETRY_SCALE", "0"],
])("%s refuses %j", (variable, ...texts) => {
  for (const text of texts) {
    const result = readConfig({ ...required, [variable]: text });
    expect.soft(result, text).toEqual({
      ok: false,
      faults: [{ variable, message: `${variable} must be ${getRule(variables[variable].schema)}` }],
    });
  }
});

describe("readConfig", () => {
  test("readConfig names every fault at once", () => {
    const faults = faultsOf({ PORT: "70000", LOG_LEVEL: "loud", AGENT_TASK_TTL_MS: "soon" });
    expect(faults).toEqual([
      "AGENT_API_TOKEN",
      "X402_PAY_TO_ADDRESS",
      "PORT",
      "LOG_LEVEL",
      "AGENT_TASK_TTL_MS",
    ]);
  });

  test.each(["", "  ", "\t\n"])("readConfig treats the blank value %j as unset", (blank) => {
    const allBlank = Object.fromEntries(Object.keys(variables).map((name) => [name, blank]));
    expect(readConfig({ ...allBlank, ...required })).toEqual(readConfig(required));
    expect(faultsOf(allBlank)).toEqual(["AGENT_API_TOKEN", "X402_PAY_TO_ADDRESS"]);
  });

  test("readConfig never quotes a value in a message", () => {
    const marker = "s3cret value";
    const marked = Object.fromEntries(Object.keys(variables).map((name) => [name, marker]));
    const result = readConfig(marked);
    expect(result.ok).toBe(false);
    expect(JSON.stringify(result)).not.toContain(marker);
  });

  test("readConfig refuses a database file together with a database address", () => {
    const both = { AGENT_DB_PATH: "relay.db", AGENT_DATABASE_URL: "postgres://localhost/relay" };
    const result = readConfig({ ...required, ...both });
    expect(result).toMatchObject({ ok: false, faults: [{ variable: "AGENT_DATABASE_URL" }] });
    expect(JSON.stringify(result)).toContain("AGENT_DB_PATH must not be set together");
  });

  test.each(["old,", ",new", "old,,new", ",", "same,same", "same, same", "a,b,c"])(
    "D9: readConfig refuses %j as the operator's tokens",
    (AGENT_API_TOKEN) => {
      expect(faultsOf({ ...required, AGENT_API_TOKEN })).toEqual(["AGENT_API_TOKEN"]);
    },
  );

  describe("D9: a file with the operator's tokens", () => {
    const folder = mkdtempSync(join(tmpdir(), "relay-tokens-"));
    afterAll(() => rmSync(folder, { recursive: true }));
    const { X402_PAY_TO_ADDRESS } = required;
    const AGENT_API_TOKEN_FILE = join(folder, "tokens");

    test.each([
      ["one\n", ["one"]],
      ["old, new\n", ["old", "new"]],
    ])("D9: a file that holds %j is read instead of AGENT_API_TOKEN", (text, tokens) => {
      writeFileSync(AGENT_API_TOKEN_FILE, text);
      const read = readConfig({ X402_PAY_TO_ADDRESS, AGENT_API_TOKEN_FILE });
      expect(read).toMatchObject({
        ok: true,
        config: { apiTokens: tokens, apiTokenFile: AGENT_API_TOKEN_FILE },
      });
      expect(read.ok && listSecrets(read.config)).toEqual(tokens);
    });

    test.each(["", "old,", "same,same", "a,b,c", "a b"])(
      "D9: a file that holds %j is a fault that names the variable of the file",
      (text) => {
        writeFileSync(AGENT_API_TOKEN_FILE, text);
        const env = { X402_PAY_TO_ADDRESS, AGENT_API_TOKEN_FILE };
        expect(faultsOf(env)).toEqual(["AGENT_API_TOKEN_FILE"]);
      },
    );

    test("D9: a missing file, and tokens in both variables, are reported as faults of the file's variable", () => {
      const missing = { X402_PAY_TO_ADDRESS, AGENT_API_TOKEN_FILE: join(folder, "missing") };
      expect(faultsOf(missing)).toEqual(["AGENT_API_TOKEN_FILE"]);
      writeFileSync(AGENT_API_TOKEN_FILE, "one");
      expect(faultsOf({ ...required, AGENT_API_TOKEN_FILE })).toEqual(["AGENT_API_TOKEN_FILE"]);
    });
  });

  test("B12: a task lifetime above the maximum, which also limits the default, is refused", () => {
    const lives = { AGENT_TASK_TTL_MS: "900001", AGENT_TASK_TTL_MAX_MS: "900000" };
    expect(faultsOf({ ...required, ...lives })).toEqual(["AGENT_TASK_TTL_MAX_MS"]);
    expect(readConfig({ ...required, ...lives, AGENT_TASK_TTL_MS: "900000" }).ok).toBe(true);
    const short = readConfig({ ...required, AGENT_TASK_TTL_MAX_MS: "60000" });
    expect(short).toMatchObject({ config: { tasks: { ttlMs: 60_000, ttlMaxMs: 60_000 } } });
  });

  test("a relay that is both allowed and blocked, in any letter case, is refused", () => {
    const peers = {
      AGENT_FEDERATION_ALLOWED_PEERS: relayId,
      AGENT_FEDERATION_BLOCKED_PEERS: `${otherRelayId},${relayId.toUpperCase()}`,
    };
    expect(faultsOf({ ...required, ...peers })).toEqual(["AGENT_FEDERATION_BLOCKED_PEERS"]);
    const apart = { ...peers, AGENT_FEDERATION_BLOCKED_PEERS: otherRelayId };
    expect(faultsOf({ ...required, ...apart })).toEqual([]);
  });

  test("the relay's name is its base URL, or else its federation URL", () => {
    const federation = { AGENT_FEDERATION_ENDPOINT_URL: "https://fed.example" };
    expect(configOf(federation).server.baseUrl).toBe("https://fed.example");
    const both = { ...federation, AGENT_BASE_URL: "https://base.example" };
    expect(configOf(both).server.baseUrl).toBe("https://base.example");
    expect(configOf(both).federation.endpointUrl).toBe("https://fed.example");
  });
});

test("the values of the variables marked secret are listed", () => {
  const secrets = {
    AGENT_API_TOKEN: "one",
    AGENT_RELAY_KEY_PASSPHRASE: "two",
    PAYMENT_SECRET_KEY: "three",
    PAYMENT_WEBHOOK_SECRET: "four",
    AGENT_DATABASE_URL: "postgres://relay:f%69ve@localhost/relay",
    AGENT_DATABASE_LISTEN_URL: "postgres://relay:six@localhost/relay",
  };
  const address = secrets.AGENT_DATABASE_URL;
  expect(listSecrets(configOf(secrets))).toEqual([
    "one",
    "two",
    "three",
    "four",
    address,
    "f%69ve",
    "five",
    secrets.AGENT_DATABASE_LISTEN_URL,
    "six",
  ]);
  expect(listSecrets(configOf({}))).toEqual(["master-token"]);
  const marked = Object.entries(variables).filter(([, variable]) => "secret" in variable);
  expect(marked.map(([name]) => name).toSorted()).toEqual(Object.keys(secrets).toSorted());
});

test("the table of docs/deployment.md matches the variables", () => {
  const document = readFileSync(new URL("../../../../docs/deployment.md", import.meta.url), "utf8");
  const rows = document.split("\n").map((line) => line.replaceAll(/ +/g, " "));
  const begin = rows.indexOf("## The relay's variables");
  const end = rows.indexOf("## The agent server's variables");
  const shown = rows.slice(begin, end).filter((row) => row.startsWith("| `"));
  const expected = listVariables().map(({ name, purpose, rule, fallback, unset }) => {
    const whenUnset = fallback === undefined ? (unset ?? "required") : `\`${fallback}\``;
    return `| \`${name}\` | ${whenUnset} | ${purpose}. Must be ${rule}. |`;
  });
  expect(shown).toEqual(expected);
});

test("the help text names the rule of every variable and the meaning of an unset one", () => {
  const help = formatVariables();
  for (const [name, variable] of Object.entries(variables)) {
    expect.soft(help).toContain(`${name} (`);
    expect.soft(help).toContain(`${variable.purpose}. Must be ${getRule(variable.schema)}.`);
  }
  expect(help).toContain("PORT (default 3000)");
  expect(help).toContain("AGENT_API_TOKEN (unset: required, unless AGENT_API_TOKEN_FILE is set)");
  expect(help).toContain("AGENT_DB_PATH (unset: in memory)");
});
