import { isUuid, HEX_OF_32_BYTES } from "@agent/crypto";
import { TrustLevel } from "@agent/wire";
import * as v from "valibot";
import { createReloadingFile } from "../../files/reloading-file.ts";
import type { Runtime } from "../../runtime.ts";
import { formatRule } from "../../config/format-rule.ts";
import type { Caller } from "../../caller.ts";
import { buildFoundLookup, unknownLookup } from "../../lookup.ts";
import type { FindKnownLevel } from "../../policy/place-holder.ts";
import type { FindSigner } from "./check-signed-token.ts";
import { parseJson } from "../../model/parse-json.ts";

const KnownAgent = v.strictObject({
  agent_id: v.pipe(v.string(), v.check(isUuid, "must be a UUID in lower case")),
  public_key: v.pipe(v.string(), v.regex(HEX_OF_32_BYTES, "must be 64 lower-case hex digits")),
  trust_level: v.picklist(TrustLevel.options, `must be one of: ${TrustLevel.options.join(", ")}`),
  /** A note for readers of the file. */
  name: v.optional(v.string()),
});

interface KnownSigner {
  /** 64 hex digits. */
  readonly publicKey: string;
  readonly caller: Caller;
}

export type KnownAgents = ReadonlyMap<string, KnownSigner>;

export type KnownAgentsResult =
  | { readonly ok: true; readonly agents: KnownAgents }
  | { readonly ok: false; readonly faults: readonly string[] };

/**
 * Parses the owner's file of agents: a JSON array of `{agent_id, public_key, trust_level, name?}`.
 * Every fault names its place; none quotes a value.
 */
export function parseKnownAgents(text: string, path: string): KnownAgentsResult {
  const parsed = v.safeParse(v.array(KnownAgent, "must be a list of agents"), parseJson(text));
  if (!parsed.success) {
    const faults = parsed.issues.map((issue) => {
      const place = v.getDotPath(issue);
      const message = issue.expected === "never" ? "is not a known member" : formatRule(issue);
      return place === null ? `${path}: ${message}` : `${path}: ${place}: ${message}`;
    });
    return { ok: false, faults };
  }
  const agents = new Map<string, KnownSigner>();
  const faults: string[] = [];
  for (const [
    index,
    { agent_id: agentId, public_key: publicKey, ...one },
  ] of parsed.output.entries()) {
    if (agents.has(agentId)) faults.push(`${path}: ${index}.agent_id: is in the list twice`);
    const caller = { kind: "agent", agentId, trust: one.trust_level } as const;
    agents.set(agentId, { publicKey, caller });
  }
  return faults.length > 0 ? { ok: false, faults } : { ok: true, agents };
}

/** Looks up known agents. Each has one key for all of its devices. */
export function createKnownSignerLookup(agents: () => KnownAgents): FindSigner {
  return async ({ agentId }) => {
    const known = agents().get(agentId);
    if (known === undefined) return unknownLookup;
    const { publicKey, caller } = known;
    return buildFoundLookup({ publicKey, findCaller: async () => buildFoundLookup(caller) });
  };
}

/** Finds the levels that the owner's file states. */
export function createKnownLevelFinder(agents: () => KnownAgents): FindKnownLevel {
  return (agentId) => {
    const caller = agents().get(agentId)?.caller;
    return caller?.kind === "agent" ? caller.trust : undefined;
  };
}

/** Reads the file again when it changes, so that an agent blocked there is refused at once. */
export function createReloadingKnownAgents(
  path: string,
  initial: KnownAgents,
  runtime: Pick<Runtime, "log">,
): () => KnownAgents {
  const parse = (text: string) => {
    const read = parseKnownAgents(text, path);
    if (read.ok) return read.agents;
    runtime.log("error", "known_agents.not_read_again", { faults: read.faults });
    return undefined;
  };
  return createReloadingFile({ path, initial, parse, runtime });
}
