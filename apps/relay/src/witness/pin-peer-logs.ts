import { formatVerifierKey, openLogStatement, type StatedLog } from "@agent/transparency";
import { limits } from "@agent/wire";
import { listPeers } from "../federation/peers/peer-store.ts";
import { EgressError } from "../http/egress/egress.ts";
import type { Services } from "../services.ts";
import type { FederationPeerRow } from "../storage/tables/federation.ts";
import { checkStatedLog, type StatedLogResult } from "./check-stated-log.ts";
import { isPeer } from "./find-known-log.ts";
import {
  changeLogOwner,
  deletePeerWitness,
  findWitnessed,
  insertWitnessed,
  listWitnessedOf,
  savePeerWitness,
} from "./store.ts";

type PinParts = Pick<Services, "config" | "runtime" | "storage" | "egress" | "log">;

/** When a peer is asked again for the statement about its log. */
export type StatementTimes = Map<string, { readonly dueAt: number; readonly incarnation: number }>;

/**
 * Reads the statements of active peers about their logs and witnesses: soon after the handshake, then
 * once an hour and after a restore of the peer's database; with each heartbeat until one is known.
 */
export async function pinPeerLogs(services: PinParts, times: StatementTimes): Promise<void> {
  const { storage, runtime, config } = services;
  const now = runtime.now();
  const peers = await listPeers(storage.read);
  const due = peers.filter(({ relay_id, state, incarnation }) => {
    const last = times.get(relay_id);
    const isDue = last === undefined || now >= last.dueAt || incarnation !== last.incarnation;
    return state === "active" && isDue;
  });
  for (const relayId of times.keys()) {
    if (!peers.some(({ relay_id }) => relay_id === relayId)) times.delete(relayId);
  }
  await Promise.all(
    due.map(async (peer) => {
      const { relay_id, incarnation } = peer;
      const retryAt = now + config.federation.heartbeatIntervalMs;
      times.set(relay_id, { dueAt: retryAt, incarnation });
      const isKnown = await pinPeerLog(services, peer);
      if (isKnown) times.set(relay_id, { dueAt: now + limits.logStatementMs, incarnation });
    }),
  );
}

/** Returns whether the peer made a statement that could be stored. */
async function pinPeerLog(services: PinParts, peer: FederationPeerRow): Promise<boolean> {
  const { relay_id, public_key } = peer;
  const value = await fetchStatement(services, peer);
  if (value === undefined || value === null) return false;
  const opened = openLogStatement(value, { relayId: relay_id, publicKey: public_key });
  if (!opened.ok) {
    services.log.warn("log.statement_refused", { relay_id, code: opened.code });
    return false;
  }
  const result = await storeStatement(services, relay_id, opened);
  if (result === "log.key_changed") {
    const origin = opened.log?.key.name;
    services.log.warn("log.key_changed", { relay_id, origin });
  }
  return result !== "too_soon";
}

async function fetchStatement(
  { egress }: PinParts,
  { endpoint_url }: FederationPeerRow,
): Promise<unknown> {
  const url = `${endpoint_url.replace(/\/+$/, "")}/.well-known/agent-relay.json`;
  try {
    const answer = await egress.withTimeout(limits.federationProbeMs)(url);
    const document: unknown = JSON.parse(await answer.text());
    return (document as { log?: unknown } | null)?.log;
  } catch (error) {
    if (error instanceof EgressError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function storeStatement(
  { storage, runtime, config }: PinParts,
  relayId: string,
  { log, witness }: StatedLog,
): Promise<StatedLogResult> {
  const now = runtime.now();
  return storage.transaction(async (tx) => {
    const prefix = witness?.prefix ?? null;
    if (witness === null || prefix === null) await deletePeerWitness(tx, relayId);
    else {
      const vkey = formatVerifierKey(witness.key);
      await savePeerWitness(tx, { relay_id: relayId, vkey, prefix });
    }
    if (log === null || !config.witness.isOn) return "known";
    const { name: origin } = log.key;
    const vkey = formatVerifierKey(log.key);
    const known = await findWitnessed(tx, origin);
    const named = config.witness.logs.find(({ name }) => name === origin);
    const result = checkStatedLog(
      { relayId, origin, vkey, named: named && formatVerifierKey(named), now },
      {
        sameOrigin: known && { ...known, isOfPeer: await isPeer(tx, known.relay_id) },
        generations: await listWitnessedOf(tx, relayId),
      },
    );
    if (result === "pin") {
      await insertWitnessed(tx, { origin, vkey, relay_id: relayId, pinned_at: now });
    } else if (result === "new_owner") {
      await changeLogOwner(tx, { origin, vkey, relay_id: relayId });
    }
    return result;
  });
}
