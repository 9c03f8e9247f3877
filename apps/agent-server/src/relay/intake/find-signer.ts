import type { RelayClient } from "@agent/client";
import { BoundedMap } from "@agent/crypto";
import { TrustLevel } from "@agent/wire";
import * as v from "valibot";
import type { Caller } from "../../caller.ts";
import type { FindSigner, TokenIds } from "../../http/authentication/check-signed-token.ts";
import {
  buildFoundLookup,
  buildUnavailableLookup,
  toLookup,
  unknownLookup,
  type Lookup,
} from "../../lookup.ts";
import type { Runtime } from "../../runtime.ts";
import type { Membership } from "../membership/join-relay.ts";
import { createLookupBudget } from "./lookup-budget.ts";

const CACHE_TTL_MS = 60_000;
/** The time for which a known caller stays cached while it cannot be looked up again. */
const LAST_FOUND_MS = 300_000;
const CACHE_SIZE = 1_000;

interface LookupCache<T> {
  /** The final answers of the last minute, and the lookups in progress. */
  readonly answers: BoundedMap<string, Promise<Lookup<T>>>;
  readonly lastFound: BoundedMap<string, Lookup<T>>;
}

/**
 * Finds the signers of tokens: the relay by the key pinned when this agent joined, and other agents
 * by the relay's records, with the trust that this agent's delegations earned them. Final answers are
 * cached for a minute, and the requests are limited, because strangers cause them. A caller that was found
 * stays for five minutes while the limit is reached or the relay gives no answer.
 */
export function createFindSigner(parts: {
  agentId: string;
  membership: () => Membership | undefined;
  runtime: Pick<Runtime, "now">;
}): FindSigner {
  const { membership, runtime, agentId: self } = parts;
  const now = () => runtime.now();
  const createCache = <T>(): LookupCache<T> => ({
    answers: new BoundedMap(CACHE_SIZE, { ttlMs: CACHE_TTL_MS, now }),
    lastFound: new BoundedMap(CACHE_SIZE, { ttlMs: LAST_FOUND_MS, now }),
  });
  const keys = createCache<string>();
  const callers = createCache<Caller>();
  const budget = createLookupBudget(runtime);

  return async (ids, origin) => {
    const current = membership();
    if (current === undefined) return buildUnavailableLookup();
    const { client, relay } = current;
    const { agentId, deviceId } = ids;
    if (agentId === relay.relayId) {
      const caller = { kind: "relay", relayId: agentId } as const;
      const findCaller = async () => buildFoundLookup(caller);
      return buildFoundLookup({ publicKey: relay.publicKey, findCaller });
    }
    const key = await lookUpOnce(
      keys,
      `${agentId} ${deviceId}`,
      async () => budget.take(origin) ?? lookUpKey(client, ids),
    );
    if (key.status !== "found") return key;
    const findCaller = () =>
      lookUpOnce(
        callers,
        agentId,
        async () =>
          budget.take({ ...origin, isProven: true }) ?? lookUpCaller(client, { self, agentId }),
      );
    return buildFoundLookup({ publicKey: key.value, findCaller });
  };
}

/** Returns a cached answer or looks it up; an answer that is not final is not cached. */
async function lookUpOnce<T>(
  cache: LookupCache<T>,
  name: string,
  lookUp: () => Promise<Lookup<T>>,
): Promise<Lookup<T>> {
  const { answers, lastFound } = cache;
  const known = answers.get(name);
  if (known !== undefined) return known;
  const pending = lookUp().then((answer) => {
    if (answer.status === "unavailable") {
      answers.delete(name);
      return lastFound.get(name) ?? answer;
    }
    if (answer.status === "found") lastFound.set(name, answer);
    else lastFound.delete(name);
    return answer;
  });
  void answers.set(name, pending);
  return pending;
}

async function lookUpKey(
  client: RelayClient,
  { agentId, deviceId }: TokenIds,
): Promise<Lookup<string>> {
  const device = toLookup(await client.getDevice({ params: { deviceId } }), "device.not_found");
  if (device.status !== "found") return device;
  const { revoked, agent_id: owner, public_key: publicKey } = device.value;
  return revoked || owner !== agentId ? unknownLookup : buildFoundLookup(publicKey);
}

async function lookUpCaller(
  client: RelayClient,
  { self, agentId }: { readonly self: string; readonly agentId: string },
): Promise<Lookup<Caller>> {
  const params = { agentId: self, remoteId: agentId };
  const record = toLookup(await client.getTrust({ params }), "trust.not_found");
  // An agent that may be blocked must not pass as an unknown one.
  if (record.status === "unavailable") return record;
  const trust = record.status === "found" ? record.value.trust_level : "unknown";
  // An unknown level of a later version may mean a block as well.
  if (!v.is(TrustLevel, trust)) return buildUnavailableLookup();
  return buildFoundLookup({ kind: "agent", agentId, trust });
}
