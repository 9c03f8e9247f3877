import type { FederationRefusal } from "@agent/federation-protocol";
import { isLive, mayConcludeTasks } from "@agent/federation-protocol/peering";
import {
  checkEnvelope,
  parseRequestClaim,
  verifyRequestAsync,
  type VerifyRequestResult,
} from "@agent/federation-protocol/signing";
import { limits, refuse, type Operation, type PeerRefusal } from "@agent/wire";
import type { RequestContext } from "../../http/handler.ts";
import type { RateLimiter } from "../../http/limits/rate-limit.ts";
import type { FederationPeerRow } from "../../storage/tables/federation.ts";
import { getPeerPosition } from "../exposure/position-store.ts";
import type { FederationServices } from "../federation-services.ts";
import { verifyWithPeerKey } from "../peers/peer-key.ts";
import { findPeer } from "../peers/peer-store.ts";

/** A request with a valid signature. */
export interface PeerRequest {
  readonly ok: true;
  readonly relayId: string;
  /** Undefined during a handshake. */
  readonly peer: FederationPeerRow | undefined;
  /** The parsed body before its schema, because a signature is over unknown members as well. */
  readonly raw: unknown;
  /** False for a signature over nothing but `{}`, which is not bound to the request. */
  readonly bound: boolean;
}

export interface PeerAuthOptions {
  readonly limiter: RateLimiter;
  readonly isDraining: () => boolean;
  /** False while this process may not be alive for the others, or its clock is wrong. */
  readonly mayServe: () => boolean;
}

export interface PeerRoute {
  readonly operation: Operation;
  /** Resolves the key of a relay that is not a peer yet; a peer's key is on record. */
  readonly resolveKey?: (
    relayId: string,
    raw: unknown,
  ) => string | undefined | Promise<string | undefined>;
  /** The code for a relay without a key. */
  readonly unknownPeerCode?: "peer.not_pending";
  /** Allows each signature once, because no id in the body prevents a replay. */
  readonly singleUse?: true;
  /** Also accepts a removed peer, which may conclude the tasks that were sent before its removal. */
  readonly concludesTasks?: true;
  /** Refuses a suspended peer. */
  readonly activeOnly?: true;
}

/**
 * Authenticates a request by the signature, age and receiver in its headers, then applies the sender's rate
 * limit and refuses replays. A request that the sender did not just make for this relay does not count
 * against its rate; otherwise another peer could block it by replaying bodies that it received. Each
 * operation has its own rate, because a sender's users cause its queries and forwards, which must not block
 * its settlements, results and heartbeats.
 */
export async function authenticatePeer(
  services: FederationServices,
  { limiter, isDraining, mayServe }: PeerAuthOptions,
  route: PeerRoute,
  { headers, raw, path }: Pick<RequestContext, "headers" | "raw" | "path">,
): Promise<PeerRequest | PeerRefusal> {
  const { storage, runtime, identity, federation } = services;
  const { operation, resolveKey, unknownPeerCode, singleUse, activeOnly } = route;
  if (isDraining()) return { ...refuse("server.draining"), retryAfterSeconds: 10 };
  if (!mayServe()) return { ...refuse("server.unavailable"), retryAfterSeconds: 2 };
  const now = runtime.now();
  const read = parseRequestClaim((name) => headers.get(name), now);
  if (!read.ok) return toPeerRefusal(read);
  const { claim } = read;

  const row = await findPeer(storage.read, claim.relayId);
  const known = row !== undefined && isAdmitted(row, route) ? row : undefined;
  const key = resolveKey === undefined ? known?.public_key : await resolveKey(claim.relayId, raw);
  // A relay that is not a peer has no key here, and learns nothing more.
  if (key === undefined) return refuse(unknownPeerCode ?? "federation.signature_invalid");
  const request = {
    method: operation.method,
    path,
    to: identity.relayId,
    ...(raw !== undefined && { body: raw }),
  };
  const verifyWithKey = (publicKey: string) => verifyRequestAsync(request, claim, publicKey);
  const { peer, checked: verified } =
    resolveKey === undefined && known !== undefined
      ? await verifyKnownPeer(services, known, ({ public_key }) => verifyWithKey(public_key))
      : { peer: undefined, checked: await verifyWithKey(key) };
  if (!verified.ok) return toPeerRefusal(verified);
  const envelope = checkEnvelope((raw ?? {}) as Parameters<typeof checkEnvelope>[0], {
    self: identity.relayId,
    now,
  });
  if (!envelope.ok) return toPeerRefusal(envelope);
  const rate = limiter.take(
    limits.federationRequests,
    limits.rateWindowMs,
    `peer ${claim.relayId} ${operation.path}`,
  );
  if (!rate.allowed) {
    return { ...refuse("rate.exceeded"), retryAfterSeconds: rate.retryAfterSeconds };
  }
  if (singleUse && verified.bound && !(await federation.seenSignatures.add(claim.signature, now))) {
    return refuse("federation.replayed");
  }
  if (activeOnly && peer?.state !== "active") return refuse("peer.suspended");
  return { ok: true, relayId: claim.relayId, peer, raw, bound: verified.bound };
}

function isAdmitted(peer: FederationPeerRow, { concludesTasks }: PeerRoute): boolean {
  return isLive(peer) || (concludesTasks === true && mayConcludeTasks(peer));
}

/**
 * A removed peer is asked for a new key only while work that was begun is under way with it, because strangers may
 * become removed peers without end, at any address.
 */
async function verifyKnownPeer(
  services: FederationServices,
  peer: FederationPeerRow,
  verify: (peer: FederationPeerRow) => Promise<VerifyRequestResult>,
): ReturnType<typeof verifyWithPeerKey<VerifyRequestResult>> {
  const { read } = services.storage;
  const mayAsk = isLive(peer) || (await getPeerPosition(read, peer.relay_id)).underWay;
  return verifyWithPeerKey(services, peer, verify, ({ ok }) => !ok && mayAsk);
}

/** The contract's schemas check the form, so only these codes remain. */
function toPeerRefusal({ code, detail }: FederationRefusal): PeerRefusal {
  return refuse(code as PeerRefusal["code"], detail);
}
