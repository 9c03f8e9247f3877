import {
  isScopeGranted,
  limits,
  refuse,
  scopes,
  type Answer,
  type Operations,
  type Refusal,
  type Scope,
} from "@agent/wire";
import {
  countActiveDevices,
  findDevice,
  insertDevice,
  listScopes,
} from "../agents/devices/device-store.ts";
import { checkDeviceKey, checkUnprovenKey } from "../agents/keys/check-key.ts";
import { findAgent } from "../agents/store.ts";
import { recordAudit } from "../audit/record-audit.ts";
import { appendKeyBound } from "../log/entries/append.ts";
import { mayActFor, type Caller } from "../identity/caller.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import { findPairing, markPairingResolved } from "./store.ts";

type ResolveDependencies = Pick<Services, "storage" | "runtime">;

/** Scopes that only the owner's first device has unless the owner grants them. */
const withheldScopes: readonly Scope[] = ["account:write", "pair", "agent:write", "approvals:vote"];

interface Resolution {
  readonly pairingId: string;
  readonly caller: Caller;
}

/** Turns the key that claimed a session into a device, with the scopes that the owner grants. */
export async function approvePairing(
  { storage, runtime }: ResolveDependencies,
  { pairingId, caller, granted }: Resolution & { readonly granted: readonly Scope[] | undefined },
): Promise<Answer<Operations["approvePairing"]>> {
  const now = runtime.now();
  return storage.transaction(async (tx) => {
    const found = await findUnresolvedPairing(tx, pairingId, caller, now);
    if (!found.ok) return found;
    const { agent_id, public_key, device_name, pairing_id } = found.session;
    if (public_key === null) return refuse("pairing.not_claimed");
    const agent = await findAgent(tx, agent_id);
    if (agent === undefined || agent.revoked_at !== null) return refuse("agent.revoked");
    // Since the key claimed the code, the agent or another one may have bound it.
    const binding = { agent_id, public_key };
    const refused = (await checkDeviceKey(tx, binding)) ?? (await checkUnprovenKey(tx, binding));
    if (refused !== undefined) return refused;
    const given = await chooseScopes(tx, caller, granted);
    if (!given.ok) return given;
    if ((await countActiveDevices(tx, agent_id)) >= limits.devices) {
      return refuse("device.too_many", `revoke one of its ${limits.devices} devices`);
    }
    const device_id = newId(runtime);
    await insertDevice(tx, {
      device_id,
      agent_id,
      public_key,
      device_name,
      scopes: given.scopes.join(" "),
      registered_at: now,
      revoked_at: null,
    });
    await appendKeyBound(tx, { agent_id, public_key, device_id, valid_from: now }, now);
    await markPairingResolved(tx, { pairing_id, status: "approved", device_id });
    await recordAudit(tx, now, caller, {
      agentId: agent_id,
      action: "device.paired",
      detail: device_id,
    });
    return { status: 200 as const, body: { device_id, agent_id } };
  });
}

/**
 * Returns the scopes of a new device. A device cannot grant more than it has; otherwise one that may only
 * pair could pair another that may do everything.
 */
async function chooseScopes(
  read: Reader,
  caller: Caller,
  granted: readonly Scope[] | undefined,
): Promise<
  { readonly ok: true; readonly scopes: readonly Scope[] } | Refusal<"pairing.scope_not_held">
> {
  const device = caller.kind === "agent" ? await findDevice(read, caller.deviceId) : undefined;
  const own = new Set(device && listScopes(device));
  const mayGrant = (scope: Scope) => caller.kind === "master" || isScopeGranted(own, scope);
  const missing = granted?.filter((scope) => !mayGrant(scope)) ?? [];
  if (missing.length > 0) return refuse("pairing.scope_not_held", missing.join(" "));
  const usual = scopes.filter((scope) => !withheldScopes.includes(scope) && mayGrant(scope));
  return { ok: true, scopes: [...new Set(granted ?? usual)] };
}

export async function denyPairing(
  { storage, runtime }: ResolveDependencies,
  { pairingId, caller }: Resolution,
): Promise<Answer<Operations["denyPairing"]>> {
  return storage.transaction(async (tx) => {
    const found = await findUnresolvedPairing(tx, pairingId, caller, runtime.now());
    if (!found.ok) return found;
    const { pairing_id } = found.session;
    await markPairingResolved(tx, { pairing_id, status: "denied", device_id: null });
    return { status: 200 as const, body: { pairing_id, status: "denied" as const } };
  });
}

/** Finds a session of the caller that still waits for approval. */
async function findUnresolvedPairing(read: Reader, pairingId: string, caller: Caller, now: number) {
  const session = await findPairing(read, pairingId);
  if (session === undefined) return refuse("pairing.not_found");
  if (!mayActFor(caller, [session.agent_id])) return refuse("pairing.not_owner");
  if (session.status === "approved" || session.status === "denied") {
    return refuse("pairing.resolved");
  }
  if (now >= session.expires_at) return refuse("pairing.expired");
  return { ok: true as const, session };
}
