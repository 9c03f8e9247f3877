import { isIP } from "node:net";
import { isUuid, HEX_OF_32_BYTES } from "@agent/crypto";
import { parseCidr } from "@agent/ip-networks";
import { limits, operations } from "@agent/wire";
import * as v from "valibot";
import { modelSettings } from "./config-models.ts";
import { strictSettings } from "./strict-settings.ts";
import { logLevels } from "../log.ts";

const text = v.pipe(v.string("must be text"), v.trim(), v.nonEmpty("must not be empty"));

const httpUrl = v.pipe(
  text,
  v.check(isHttpUrl, "must be an http or https URL without user name, query or fragment"),
);

function wholeNumber(min: number, max: number) {
  const rule = `must be a whole number from ${min} to ${max}`;
  return v.pipe(v.number(rule), v.integer(rule), v.minValue(min, rule), v.maxValue(max, rule));
}

/** RFC 6750 allows no blanks in a bearer token, and a header carries no other alphabet. */
export const BEARER_TOKEN = /^[\x21-\x7e]+$/;
export const BEARER_RULE = "must be printable ASCII without blanks";

// "agent:" marks the signed tokens.
const bearerToken = v.pipe(
  v.string("must be text"),
  v.regex(BEARER_TOKEN, BEARER_RULE),
  v.check((token) => !token.startsWith("agent:"), 'must not begin with "agent:"'),
);

/**
 * Checks an object whose members have one schema. The library would read a list as an empty object.
 */
function recordOf<S extends v.GenericSchema>(value: S, rule: string) {
  const isObject = (given: unknown) => typeof given === "object" && !Array.isArray(given);
  return v.pipe(
    v.custom<Record<string, unknown>>(isObject, rule),
    v.record(v.string(), value, rule),
  );
}

const texts = recordOf(v.string("must be text"), "must be an object of texts");

/** The usual form of MCP servers in the configuration of other programs. */
const mcpServer = v.union(
  [
    v.strictObject({
      command: text,
      args: v.optional(v.array(v.string()), []),
      env: v.optional(texts, {}),
    }),
    v.strictObject({ url: httpUrl, headers: v.optional(texts, {}) }),
  ],
  "must be {command, args, env} or {url, headers}",
);

const OFFER_RULE = 'must be "all", a list of tools, or an object {capability: [tools]}';

const relayKey = v.pipe(text, v.regex(HEX_OF_32_BYTES, "must be 64 lower-case hex digits"));

const riskBand = wholeNumber(0, 4);

// The form of a Host header: a name, an address, or an IPv6 address in brackets.
const hostName = v.pipe(
  text,
  v.regex(/^(?:[\w.-]+|\[[\da-f:.]+\])$/i, "must be a host name without scheme and port"),
);

const listenAddress = v.pipe(
  text,
  v.check(
    (host) => isIP(host) !== 0 || /^[\w.-]+$/.test(host),
    "must be an IP address or a host name without scheme and port",
  ),
);

const RANGES_RULE = "must be IP addresses or CIDR ranges, separated by commas";

/** A variable is one text, so an empty entry is an error in it, as in the relay's variables. */
const addressRanges = v.pipe(
  v.union(
    [
      v.array(v.string()),
      v.pipe(
        v.string(),
        v.transform((list) => list.split(",").map((entry) => entry.trim())),
      ),
    ],
    RANGES_RULE,
  ),
  v.check((ranges) => ranges.every((range) => parseCidr(range) !== undefined), RANGES_RULE),
);

const APPROVER_RULE = "must be {agent_id, public_key}: a UUID and 64 lower-case hex digits";
const APPROVERS_RULE = "must be a list of 1 to 50 approvers with distinct ids and keys";

/**
 * Keys must be distinct, because an agent that could vote under two ids would count as two
 * approvers.
 */
const approver = v.strictObject(
  {
    agent_id: v.pipe(v.string(APPROVER_RULE), v.check(isUuid, APPROVER_RULE)),
    public_key: v.pipe(v.string(APPROVER_RULE), v.regex(HEX_OF_32_BYTES, APPROVER_RULE)),
  },
  APPROVER_RULE,
);

/**
 * Agents that approve calls instead of the owner, and the number that must approve; all by default.
 * `show_arguments` shows them, and the relay, the arguments of the calls.
 */
const quorum = v.pipe(
  strictSettings({
    approvers: v.pipe(
      v.array(approver, APPROVERS_RULE),
      v.minLength(1, APPROVERS_RULE),
      v.maxLength(limits.approvers, APPROVERS_RULE),
      v.check(
        (all) => new Set(all.map(({ agent_id }) => agent_id)).size === all.length,
        APPROVERS_RULE,
      ),
      v.check(
        (all) => new Set(all.map(({ public_key }) => public_key)).size === all.length,
        APPROVERS_RULE,
      ),
    ),
    required: v.optional(wholeNumber(1, limits.approvers)),
    show_arguments: v.optional(v.boolean("must be true or false"), false),
  }),
  v.transform(({ approvers, required = approvers.length, show_arguments }) => ({
    approvers,
    required,
    showsArguments: show_arguments,
  })),
  v.check(
    ({ approvers, required }) => required <= approvers.length,
    "must not require more agents than its approvers",
  ),
);
const DAY_MS = 86_400_000;

const monitorInterval = v.pipe(
  wholeNumber(0, DAY_MS),
  v.check((ms) => ms === 0 || ms >= 1_000, "must be 0, or at least 1000"),
);

/** The schema of the configuration file, applied after flags and environment were laid over it. */
export const Settings = strictSettings({
  name: v.optional(v.pipe(text, v.maxLength(256, "must be at most 256 characters")), "agent"),
  description: v.optional(v.string("must be text"), ""),
  agent_type: v.optional(
    v.picklist(["service", "personal"], 'must be "service" or "personal"'),
    "service",
  ),
  authToken: v.optional(bearerToken),
  knownAgents: v.optional(text),
  tools: v.optional(
    v.union(
      [
        v.pipe(
          text,
          v.transform((path) => [path]),
        ),
        v.array(text),
      ],
      "must be one path or a list of paths",
    ),
    [],
  ),
  mcpServers: v.optional(recordOf(mcpServer, "must be an object of servers"), {}),
  listing: v.optional(strictSettings(operations.putListing.body.entries)),
  offer: v.optional(
    v.union([v.literal("all"), v.array(text), recordOf(v.array(text), OFFER_RULE)], OFFER_RULE),
  ),
  policy: v.optional(
    strictSettings({
      max_risk_auto: v.optional(riskBand, 2),
      require_approval_above: v.optional(riskBand, 2),
      deny_above: v.optional(riskBand, 3),
      allow: v.optional(v.array(text, "must be a list of tool names"), []),
      deny: v.optional(v.array(text, "must be a list of tool names"), []),
      quorum: v.optional(quorum),
    }),
    {},
  ),
  relay: v.optional(
    strictSettings({ url: v.optional(httpUrl), public_key: v.optional(relayKey) }),
    {},
  ),
  publicUrl: v.optional(httpUrl),
  transport: v.optional(v.picklist(["http", "stdio"], 'must be "http" or "stdio"'), "http"),
  host: v.optional(listenAddress, "127.0.0.1"),
  port: v.optional(wholeNumber(0, 65_535), 3100),
  allowedHosts: v.optional(v.array(hostName, "must be a list of host names"), []),
  trustedProxies: v.optional(addressRanges, []),
  dataDir: v.optional(text, ".agent"),
  auditLog: v.optional(text),
  llm: modelSettings("AGENT_LLM", { httpUrl, text }),
  embeddings: modelSettings("AGENT_EMBEDDINGS", { httpUrl, text }),
  memory: v.optional(strictSettings({ path: v.optional(text, ":memory:") }), {}),
  delegation: v.optional(v.boolean("must be true or false"), false),
  ledgers: v.optional(v.boolean("must be true or false"), false),
  taskTimeoutMs: v.optional(wholeNumber(1, DAY_MS), 300_000),
  syncIntervalMs: v.optional(wholeNumber(100, DAY_MS), 30_000),
  housekeepingIntervalMs: v.optional(wholeNumber(100, DAY_MS), 1_800_000),
  monitorIntervalMs: v.optional(monitorInterval, 3_600_000),
  logLevel: v.optional(v.picklist(logLevels, `must be one of: ${logLevels.join(", ")}`), "info"),
});

export type Settings = v.InferOutput<typeof Settings>;

/** Another source of a setting; `kind` selects how its text is parsed. */
export interface SettingSource {
  readonly path: string;
  readonly variable: string;
  readonly kind?: "number" | "list" | "boolean";
  readonly summary: string;
}

export const settingSources: readonly SettingSource[] = [
  { path: "name", variable: "AGENT_NAME", summary: "display name" },
  { path: "description", variable: "AGENT_DESCRIPTION", summary: "what the agent offers" },
  { path: "agent_type", variable: "AGENT_TYPE", summary: "service (default) or personal" },
  { path: "authToken", variable: "AGENT_AUTH_TOKEN", summary: "static bearer token of /mcp" },
  {
    path: "knownAgents",
    variable: "AGENT_KNOWN_AGENTS",
    summary: "file of agents whose signed tokens are accepted",
  },
  {
    path: "tools",
    variable: "AGENT_TOOLS",
    kind: "list",
    summary: "tools modules, comma-separated",
  },
  { path: "relay.url", variable: "AGENT_SYNC_URL", summary: "the relay to register with" },
  {
    path: "relay.public_key",
    variable: "AGENT_SYNC_PUBLIC_KEY",
    summary: "key of that relay, current or former; another relay is refused",
  },
  {
    path: "delegation",
    variable: "AGENT_DELEGATION",
    kind: "boolean",
    summary: "true: the owner may delegate to other agents and pay them (false)",
  },
  {
    path: "ledgers",
    variable: "AGENT_LEDGERS",
    kind: "boolean",
    summary: "true: sign a ledger of each relay task (false)",
  },
  {
    path: "publicUrl",
    variable: "AGENT_PUBLIC_URL",
    summary: "URL under which others reach this server",
  },
  { path: "transport", variable: "AGENT_TRANSPORT", summary: "http (default) or stdio" },
  { path: "host", variable: "AGENT_HOST", summary: "address to listen on (127.0.0.1)" },
  { path: "port", variable: "AGENT_PORT", kind: "number", summary: "port to listen on (3100)" },
  {
    path: "allowedHosts",
    variable: "AGENT_ALLOWED_HOSTS",
    kind: "list",
    summary: "further names for the Host and Origin check",
  },
  {
    path: "trustedProxies",
    variable: "AGENT_TRUSTED_PROXIES",
    summary: "proxies whose X-Forwarded-For is trusted: addresses and CIDR ranges",
  },
  { path: "dataDir", variable: "AGENT_DATA_DIR", summary: "folder of the identity (.agent)" },
  {
    path: "auditLog",
    variable: "AGENT_AUDIT_LOG",
    summary: "file of the audit log (audit.jsonl in the data folder), - for the ordinary log",
  },
  {
    path: "memory.path",
    variable: "AGENT_MEMORY_PATH",
    summary: "database of memories (:memory:)",
  },
  {
    path: "llm.baseUrl",
    variable: "AGENT_LLM_BASE_URL",
    summary: "OpenAI-compatible API, with /v1",
  },
  { path: "llm.model", variable: "AGENT_LLM_MODEL", summary: "model that plans tasks" },
  {
    path: "embeddings.baseUrl",
    variable: "AGENT_EMBEDDINGS_BASE_URL",
    summary: "OpenAI-compatible API for embeddings (built-in embedder)",
  },
  {
    path: "embeddings.model",
    variable: "AGENT_EMBEDDINGS_MODEL",
    summary: "model that embeds memories",
  },
  {
    path: "taskTimeoutMs",
    variable: "AGENT_TASK_TIMEOUT_MS",
    kind: "number",
    summary: "time limit of one task in ms (300000)",
  },
  {
    path: "syncIntervalMs",
    variable: "AGENT_SYNC_INTERVAL_MS",
    kind: "number",
    summary: "ms between heartbeats to the relay (30000)",
  },
  {
    path: "housekeepingIntervalMs",
    variable: "AGENT_HOUSEKEEPING_INTERVAL_MS",
    kind: "number",
    summary: "ms between gradient credentials (1800000)",
  },
  {
    path: "monitorIntervalMs",
    variable: "AGENT_MONITOR_INTERVAL_MS",
    kind: "number",
    summary: "ms between checks of the relay's log, 0 for none (3600000)",
  },
  { path: "logLevel", variable: "LOG_LEVEL", summary: "debug, info (default), warn or error" },
];

/** Variables that are read only from the environment, never from a file or a flag. */
export const secretVariables = [
  { variable: "AGENT_SYNC_TOKEN", summary: "token used once, to register at the relay" },
  {
    variable: "AGENT_API_TOKEN",
    summary:
      "used when AGENT_SYNC_TOKEN is not set; of two tokens, separated by a comma, the first",
  },
  { variable: "AGENT_LLM_API_KEY", summary: "sent to AGENT_LLM_BASE_URL only" },
  { variable: "AGENT_EMBEDDINGS_API_KEY", summary: "sent to AGENT_EMBEDDINGS_BASE_URL only" },
  { variable: "AGENT_PASSPHRASE", summary: "seals the stored private key" },
  { variable: "AGENT_PRIVATE_KEY_HEX", summary: "the private key itself, instead of a stored one" },
] as const;

function isHttpUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return /^https?:$/.test(protocol) && `${username}${password}${search}${hash}` === "";
}
