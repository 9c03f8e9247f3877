import * as v from "valibot";
import { buildConfig } from "./build-config.ts";
import type { Config } from "./config.ts";
import {
  EnvironmentSchema,
  variables,
  type VariableName,
  type VariableValues,
} from "./config-variables.ts";
import { DEFAULT_FEES } from "./variables/fee-variables.ts";
import { getRule, operatorTokens } from "./config-values.ts";
import { readTokenFile } from "../identity/read-token-file.ts";

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

/** Lists variables that look like the relay's but do not exist, because a mistyped one has no effect. */
export function listUnknownVariables(env: Environment): readonly string[] {
  return Object.keys(env)
    .filter((name) => /^(?:AGENT|X402)_/.test(name) && name !== COMMAND_VARIABLE)
    .filter((name) => !Object.hasOwn(variables, name))
    .toSorted();
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
