import {
  parseDelegationChain,
  verifyDelegationToken,
  type DelegationRefusal,
  type DelegationToken,
} from "@agent/receipts";
import { refuse, type Refusal } from "@agent/wire";
import { listSigningKeys } from "../../agents/keys/key-store.ts";
import { findAgent } from "../../agents/store.ts";
import { findRemoteAgent } from "../../federation/discovery/search-remote-agents.ts";
import { parseJsonObject } from "../../http/server/body.ts";
import type { ExecutorServices } from "../../routing/rank-executors.ts";
import type { Reader } from "../../storage/storage.ts";

/** The submitted token, and all its parents. */
export type TokenChain = readonly [DelegationToken, ...DelegationToken[]];

/**
 * Checks the token of a submission: it must be the payer's, made for the target, and signed, with
 * all its parents, by keys that the relay binds to their issuers now (docs/decisions.md, 4).
 */
export async function checkDelegationToken(
  services: ExecutorServices,
  value: unknown,
  { targetId, payerId }: { readonly targetId: string; readonly payerId: string | null },
): Promise<
  | { readonly ok: true; readonly chain: TokenChain }
  | Refusal<DelegationRefusal | "delegation.wrong_issuer" | DelegateRefusal>
> {
  const { storage, runtime } = services;
  // The token is passed on as part of a task, so its depth is bounded like that of any body.
  if (typeof value === "string" && !parseJsonObject(value).ok)
    return refuse("delegation.malformed");
  const [shown, ...parents] = parseDelegationChain(value) ?? [];
  if (shown === undefined) return refuse("delegation.malformed");
  if (shown.issuer_agent_id !== payerId) return refuse("delegation.wrong_issuer");
  const chain: TokenChain = [shown, ...parents];
  const issuers = [...new Set(chain.map(({ issuer_agent_id }) => issuer_agent_id))];
  const keys = new Map(
    await Promise.all(
      issuers.map(async (issuer) => [issuer, await listCurrentKeys(storage.read, issuer)] as const),
    ),
  );
  const verdict = verifyDelegationToken(value, {
    now: runtime.now(),
    delegateId: targetId,
    listKeys: (issuer) => keys.get(issuer) ?? [],
  });
  if (!verdict.valid) return refuse(verdict.code);
  return (await checkDelegate(services, targetId)) ?? { ok: true, chain };
}

type DelegateRefusal = "delegation.remote_delegate" | "agent.not_found";

/**
 * Only an agent of this relay can use a token: tokens do not cross relays, and with an unknown
 * delegate the task would wait until it expires.
 */
async function checkDelegate(
  { federation, ...services }: ExecutorServices,
  delegateId: string,
): Promise<Refusal<DelegateRefusal> | undefined> {
  if ((await findAgent(services.storage.read, delegateId)) !== undefined) return undefined;
  const remote = federation && (await findRemoteAgent({ ...services, federation }, delegateId));
  return refuse(remote === undefined ? "agent.not_found" : "delegation.remote_delegate");
}

/** Former keys, and those of a revoked agent, must not sign new tokens. */
async function listCurrentKeys(read: Reader, agentId: string): Promise<string[]> {
  const agent = await findAgent(read, agentId);
  if (agent === undefined || agent.revoked_at !== null) return [];
  const rows = await listSigningKeys(read, agentId);
  return rows.filter(({ valid_until }) => valid_until === null).map((row) => row.public_key);
}
