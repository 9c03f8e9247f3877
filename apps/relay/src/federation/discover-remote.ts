import { isUuid } from "@agent/crypto";
import {
  beginQuery,
  DiscoveryAnswerSchema,
  mergeEntries,
  peersToAsk,
  takeEntries,
  type AgentQuery,
  type Discovery,
  type KnownAgent,
} from "@agent/federation-protocol";
import { limits } from "@agent/wire";
import * as v from "valibot";
import { knownAgents } from "../agents/store.ts";
import { newId } from "../runtime.ts";
import type { FederationPeerRow } from "../storage/tables.ts";
import { scoreOf, UNKNOWN } from "../trust/levels.ts";
import { findTrust } from "../trust/store.ts";
import { addressed, callPeer } from "./call-peer.ts";
import type { FederationServices } from "./federation.ts";
import { listPeers } from "./peer-store.ts";

/** Agents of other relays that a query of this relay's own finds, nearest way each. */
export function discoverRemote(
  services: FederationServices,
  { capability, q }: Pick<AgentQuery, "capability" | "q">,
): Promise<readonly KnownAgent[]> {
  const { federation, identity, runtime, config } = services;
  return federation.remote.search(JSON.stringify([capability, q]), () => {
    const queryId = newId(runtime);
    // It may come back around a ring.
    federation.queries.take(queryId, runtime.now());
    const query = {
      ...(capability !== undefined && { capability }),
      ...(q !== undefined && { q }),
      limit: limits.pageMax,
    };
    const { maxHops } = config.federation;
    return askPeers(services, beginQuery(query, { self: identity.relayId, queryId, maxHops }));
  });
}

/** What peers tell of one agent: lately, or when they are asked now. */
export async function findRemote(
  services: FederationServices,
  agentId: string,
): Promise<KnownAgent | undefined> {
  const lately = services.federation.remote.get(agentId);
  if (lately !== undefined || !isUuid(agentId)) return lately;
  const found = await discoverRemote(services, { q: agentId });
  return found.find(({ agent_id }) => agent_id === agentId);
}

/** Hands a query to every active peer that it has not visited, and takes what counts of the answers. */
export async function askPeers(
  services: FederationServices,
  pass: Discovery,
): Promise<readonly KnownAgent[]> {
  const { federation, identity, storage } = services;
  const active = (await listPeers(storage.read)).filter(({ state }) => state === "active");
  const wanted = new Set(
    peersToAsk(
      active.map(({ relay_id }) => relay_id),
      pass,
    ),
  );
  const answers = await Promise.all(
    active.filter(({ relay_id }) => wanted.has(relay_id)).map((peer) => ask(services, peer, pass)),
  );
  const ids = answers.flatMap(({ agents }) => agents.map(idIn));
  const own = new Set(await knownAgents(storage.read, ids));
  const found = mergeEntries(
    answers.map(({ peer, agents }) =>
      takeEntries({ agents }, { peer, self: identity.relayId, isOwn: (id) => own.has(id) }),
    ),
  );
  federation.remote.note(found);
  return found;
}

async function ask(services: FederationServices, peer: FederationPeerRow, pass: Discovery) {
  const { identity, runtime, storage } = services;
  const { relay_id } = peer;
  const startedAt = runtime.now();
  const reply = await callPeer(services, peer, {
    method: "POST",
    path: "/federation/v1/discover",
    body: addressed(services, peer, pass),
    // Whoever asks waits for those it asks in turn.
    timeoutMs: (pass.max_hops - pass.hop_count + 1) * limits.federationHopMs,
  });
  const latencyMs = Math.max(0, runtime.now() - startedAt);
  const trust = await findTrust(storage.read, identity.relayId, relay_id);
  const answered = reply.delivery.kind === "answered" && reply.delivery.status === 200;
  const answer = v.safeParse(DiscoveryAnswerSchema, answered ? reply.body : undefined);
  const agents = answer.success ? answer.output.agents.slice(0, limits.pageMax) : [];
  const figures = { relayId: relay_id, trust: scoreOf(trust?.trust_level ?? UNKNOWN), latencyMs };
  return { peer: figures, agents };
}

function idIn(entry: unknown): string {
  const id = (entry as { agent_id?: unknown } | null)?.agent_id;
  return typeof id === "string" ? id : "";
}
