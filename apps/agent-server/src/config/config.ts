import { formatError, isJsonObject } from "@agent/crypto";
import { dirname, join, resolve } from "node:path";
import * as v from "valibot";
import { getCommand, type Flags } from "./parse-flags.ts";
import { Settings, settingSources, type SettingSource } from "./config-settings.ts";
import { findContradictions } from "./find-contradictions.ts";
import { buildModelEndpoint } from "./config-models.ts";
import { UNKNOWN_SETTING } from "./strict-settings.ts";
import type { LogLevel } from "../log.ts";
import { formatRule } from "./format-rule.ts";
import { readRegistrationToken, readVariable } from "./read-variable.ts";
import { parseJsonc } from "./parse-jsonc.ts";
import type { ModelEndpoint } from "../model/model-caller.ts";
import type { OfferSetting } from "../offer/offer.ts";
import type { Policy } from "../policy/policy-check.ts";
import type { ConfiguredQuorum } from "../relay/quorum/configured-quorum.ts";
import type { ServerAddress } from "../proxy/transport.ts";

/** The validated configuration. It holds secrets: never log this object. */
export interface Config {
  readonly name: string;
  readonly description: string;
  readonly agentType: string;
  /** Absolute paths of tools modules. */
  readonly tools: readonly string[];
  /** Absolute path of the owner's file of known agents. */
  readonly knownAgents: string | undefined;
  /** Wrapped MCP servers whose tools this agent offers, by their configured names. */
  readonly mcpServers: Readonly<Record<string, ServerAddress>>;
  readonly listing: Settings["listing"];
  /** The tools that other callers may use; absent: those of the listing. */
  readonly offer: OfferSetting;
  readonly policy: Policy;
  /** Absent: the owner approves calls. */
  readonly quorum: ConfiguredQuorum | undefined;
  /** Absolute path; absent: audit records go to the ordinary log. */
  readonly auditLog: string | undefined;
  /** Runs tools on the unchanged prompt, even if a model is configured. */
  readonly direct: boolean;
  readonly llm: ModelEndpoint | undefined;
  readonly memory: {
    /** Absolute path, or `:memory:`. */
    readonly path: string;
    readonly embeddings: ModelEndpoint | undefined;
  };
  readonly taskTimeoutMs: number;
  /** Whether the owner may let other agents work and pay them from this agent's account. */
  readonly delegation: boolean;
  /** Whether the agent signs a ledger of each relay task and stores it at the relay. */
  readonly ledgers: boolean;
  readonly logLevel: LogLevel;
  /** The command that is run instead of an agent; it listens nowhere. */
  readonly command: ReturnType<typeof getCommand>;
  readonly selfTest: boolean;
  /** Whether the operator's token deposits what the account lacks for the self-test. */
  readonly paidByOperator: boolean;
  readonly identity: {
    readonly dataDir: string;
    readonly passphrase: string | undefined;
    readonly privateKeyHex: string | undefined;
  };
  readonly server: {
    readonly transport: "http" | "stdio";
    readonly host: string;
    /** 0: any free port. */
    readonly port: number;
    readonly allowedHosts: readonly string[];
    /** Addresses and CIDR ranges. */
    readonly trustedProxies: readonly string[];
    readonly publicUrl: string | undefined;
    readonly authToken: string | undefined;
    readonly allowAnonymous: boolean;
  };
  /** Absent: the agent works without a relay. */
  readonly relay:
    | {
        readonly url: string;
        readonly relayKey: string | undefined;
        readonly registrationToken: string | undefined;
        readonly syncIntervalMs: number;
        readonly housekeepingIntervalMs: number;
        readonly monitorIntervalMs: number;
      }
    | undefined;
}

export interface ConfigInput {
  /** Absolute path and text of the configuration file. */
  readonly file?: { readonly path: string; readonly text: string };
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags: Flags;
  readonly workingDirectory: string;
}

export type ConfigResult =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly faults: readonly string[] };

type SettingTree = Record<string, unknown>;

/** Lays flags, then the environment over the file; reports all faults at once, quoting no value. */
export function readConfig(input: ConfigInput): ConfigResult {
  const file = parseConfigFile(input.file);
  if (!file.ok) return { ok: false, faults: [file.fault] };

  const sources = new Map<string, string>();
  const tree = file.tree;
  if (input.file !== undefined) resolvePaths(tree, dirname(input.file.path));
  overlayFlags(tree, sources, input.flags);
  overlayEnvironment(tree, sources, input.env);

  const issues = collectIssues(tree);
  const faults = [...new Set(issues.map((issue) => formatIssue(issue, sources)))];
  const invalidSettings = new Set(issues.map((issue) => getIssuePath(issue).split(".")[0] ?? ""));
  // An invalid setting falls back to its default, so that the rules between settings can be
  // checked.
  for (const name of invalidSettings) delete tree[name];
  const config = buildConfig(v.parse(Settings, tree), input);
  for (const { settings, message } of findContradictions(config)) {
    if (!settings.some((name) => invalidSettings.has(name))) faults.push(message);
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, config };
}

/** Removes each unknown setting and checks again, because the library reports one at a time. */
function collectIssues(tree: SettingTree): v.BaseIssue<unknown>[] {
  const issues = v.safeParse(Settings, tree, { abortPipeEarly: true }).issues ?? [];
  const unknown = issues.filter(({ message }) => message === UNKNOWN_SETTING);
  for (const { path = [] } of unknown) {
    const keys = path.map(({ key }) => String(key));
    const parent = keys
      .slice(0, -1)
      .reduce<unknown>((at, key) => Reflect.get(Object(at), key), tree);
    Reflect.deleteProperty(Object(parent), keys.at(-1) ?? "");
  }
  return unknown.length > 0 ? [...issues, ...collectIssues(tree)] : issues;
}

function parseConfigFile(
  file: ConfigInput["file"],
): { ok: true; tree: SettingTree } | { ok: false; fault: string } {
  if (file === undefined) return { ok: true, tree: {} };
  try {
    const parsed = parseJsonc(file.text);
    if (isJsonObject(parsed)) return { ok: true, tree: parsed };
    return { ok: false, fault: `${file.path}: must hold a JSON object` };
  } catch (cause) {
    const reason = formatError(cause);
    return { ok: false, fault: `${file.path}: is not valid JSON (${reason})` };
  }
}

/** Both are allowed in place of a file's path. */
const ORDINARY_LOG = "-";
const IN_MEMORY = ":memory:";

/** Resolves the paths in a file relative to that file's folder. */
function resolvePaths(tree: SettingTree, folder: string): void {
  const { tools } = tree;
  // An empty path is a fault; it must not become the folder itself.
  const toAbsolute = (path: unknown) =>
    typeof path === "string" && path !== "" ? resolve(folder, path) : path;
  if (tools !== undefined)
    tree["tools"] = Array.isArray(tools) ? tools.map(toAbsolute) : toAbsolute(tools);
  for (const name of ["dataDir", "knownAgents", "auditLog"]) {
    if (tree[name] !== undefined && tree[name] !== ORDINARY_LOG)
      tree[name] = toAbsolute(tree[name]);
  }
  const { memory } = tree;
  if (isJsonObject(memory) && memory["path"] !== undefined && memory["path"] !== IN_MEMORY) {
    tree["memory"] = { ...memory, path: toAbsolute(memory["path"]) };
  }
}

function overlayFlags(tree: SettingTree, names: Map<string, string>, flags: Flags): void {
  const { tools, transport, host, port } = flags;
  for (const [path, value] of Object.entries({ tools, transport, host, port: parseNumber(port) })) {
    if (value !== undefined) setSetting(tree, names, path, value, `--${path}`);
  }
}

function overlayEnvironment(
  tree: SettingTree,
  names: Map<string, string>,
  env: ConfigInput["env"],
): void {
  for (const { path, variable, kind } of settingSources) {
    const text = readVariable(env, variable);
    if (text === undefined) continue;
    setSetting(tree, names, path, parseVariable(text, kind), variable);
  }
}

function parseVariable(text: string, kind: SettingSource["kind"]): unknown {
  switch (kind) {
    case "number":
      return parseNumber(text);
    case "list":
      return parseList(text);
    case "boolean":
      return text === "true" ? true : text === "false" ? false : text;
    case undefined:
      return text;
  }
}

function parseNumber(text: string | undefined): unknown {
  return text !== undefined && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function parseList(text: string): string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

function setSetting(
  tree: SettingTree,
  names: Map<string, string>,
  path: string,
  value: unknown,
  source: string,
) {
  const [section = "", ...rest] = path.split(".");
  const sectionValue = tree[section];
  tree[section] =
    rest.length === 0
      ? value
      : { ...(isJsonObject(sectionValue) && sectionValue), [rest.join(".")]: value };
  names.set(path, source);
}

function getIssuePath(issue: v.BaseIssue<unknown>): string {
  return v.getDotPath(issue) ?? "";
}

/** Formats an issue after its flag or variable, or after the path of the setting in the file. */
function formatIssue(issue: v.BaseIssue<unknown>, names: ReadonlyMap<string, string>): string {
  const path = getIssuePath(issue);
  const source = names.get(path) ?? names.get(path.split(".")[0] ?? "") ?? `config ${path}`;
  return `${source}: ${formatRule(issue)}`;
}

function buildConfig(settings: Settings, { env, flags, workingDirectory }: ConfigInput): Config {
  const { memory, policy, relay } = settings;
  const toAbsolute = (path: string) => resolve(workingDirectory, path);
  return {
    name: settings.name,
    description: settings.description,
    agentType: settings.agent_type,
    tools: settings.tools.map(toAbsolute),
    knownAgents: settings.knownAgents === undefined ? undefined : toAbsolute(settings.knownAgents),
    mcpServers: settings.mcpServers,
    listing: settings.listing,
    offer: settings.offer,
    policy: {
      maxRiskAuto: policy.max_risk_auto,
      requireApprovalAbove: policy.require_approval_above,
      denyAbove: policy.deny_above,
      allow: policy.allow,
      deny: policy.deny,
    },
    quorum: policy.quorum,
    auditLog: resolveAuditLog(settings, env, toAbsolute),
    direct: flags.direct,
    llm: buildModelEndpoint(settings.llm, readVariable(env, "AGENT_LLM_API_KEY")),
    memory: {
      path: memory.path === IN_MEMORY ? IN_MEMORY : toAbsolute(memory.path),
      embeddings: buildModelEndpoint(
        settings.embeddings,
        readVariable(env, "AGENT_EMBEDDINGS_API_KEY"),
      ),
    },
    taskTimeoutMs: settings.taskTimeoutMs,
    delegation: settings.delegation,
    ledgers: settings.ledgers,
    logLevel: settings.logLevel,
    command: getCommand(flags),
    selfTest: flags.selfTest,
    paidByOperator: flags.paidByOperator,
    identity: {
      dataDir: toAbsolute(settings.dataDir),
      // Leading and trailing blanks belong to a passphrase.
      passphrase: readVariable(env, "AGENT_PASSPHRASE") && env["AGENT_PASSPHRASE"],
      privateKeyHex: readVariable(env, "AGENT_PRIVATE_KEY_HEX"),
    },
    server: {
      transport: settings.transport,
      host: settings.host,
      port: settings.port,
      allowedHosts: settings.allowedHosts,
      trustedProxies: settings.trustedProxies,
      publicUrl: settings.publicUrl,
      authToken: settings.authToken,
      allowAnonymous: flags.allowAnonymous,
    },
    relay:
      relay.url === undefined
        ? undefined
        : {
            url: relay.url,
            relayKey: relay.public_key,
            registrationToken: readRegistrationToken(env),
            syncIntervalMs: settings.syncIntervalMs,
            housekeepingIntervalMs: settings.housekeepingIntervalMs,
            monitorIntervalMs: settings.monitorIntervalMs,
          },
  };
}

/** An agent whose key comes from the environment may have no disk for an audit log. */
function resolveAuditLog(
  { auditLog, dataDir }: Settings,
  env: ConfigInput["env"],
  toAbsolute: (path: string) => string,
): string | undefined {
  if (auditLog === ORDINARY_LOG) return undefined;
  if (auditLog !== undefined) return toAbsolute(auditLog);
  const hasNoDataDir = readVariable(env, "AGENT_PRIVATE_KEY_HEX") !== undefined;
  return hasNoDataDir ? undefined : join(toAbsolute(dataDir), "audit.jsonl");
}
