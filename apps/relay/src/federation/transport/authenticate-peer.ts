import type { FederationRefusal } from "@agent/federation-protocol";
import { isLive } from "@agent/federation-protocol/peering";
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
import type { FederationServices } from "../federation-services.ts";
import { verifyWithPeerKey } from "../peers/follow-peer-key.ts";
import { findPeer } from "../peers/peer-store.ts";

/** A request whose signature holds. */
export interface PeerRequest {
  readonly ok: true;
  readonly relayId: string;
  /** Undefined during a handshake. */
  readonly peer: FederationPeerRow | undefined;
  /** The parsed body before its schema, because a signature is over unknown members as well. */
  readonly raw: unknown;
  /** False for a signature of nothing but `{}`, which is not bound to what is asked. */
  readonly bound: boolean;
}

export interface PeerRoute {
  readonly operation: Operation;
  /** Where the key is found of a relay that is no peer yet; a peer's is on record. */
  readonly resolveKey?: (relayId: string, raw: unknown) => string | undefined;
  /** What is said to a relay that has none. */
  readonly unknownPeerCode?: "peer.not_pending";
  /** No id in the body keeps it from being used again, so its signature does. */
  readonly singleUse?: true;
  /** Closed to a peer that is suspended. */
  readonly activeOnly?: true;
}

/**
 * Holds a request between relays to its headers: signature, age, receiver, replay, and then the
 * sender's rate. Nobody's rate is used up by whoever only claims to be that relay.
 */
export async function authenticatePeer(
  services: FederationServices,
  { limiter, draining }: { readonly limiter: RateLimiter; readonly draining: () => boolean },
  { operation, resolveKey, unknownPeerCode, singleUse, activeOnly }: PeerRoute,
  { headers, raw, path }: Pick<RequestContext, "headers" | "raw" | "path">,
): Promise<PeerRequest | PeerRefusal> {
  const { storage, runtime, identity, federation } = services;
  if (draining()) return { ...refuse("server.draining"), retryAfterSeconds: 10 };
  const now = runtime.now();
  const read = parseRequestClaim((name) => headers.get(name), now);
  if (!read.ok) return toPeerRefusal(read);
  const { claim } = read;

  const row = await findPeer(storage.read, claim.relayId);
  const known = row !== undefined && isLive(row) ? row : undefined;
  const key = resolveKey === undefined ? known?.public_key : resolveKey(claim.relayId, raw);
  // Who is no peer has no key, and is told no more than that.
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
      ? await verifyWithPeerKey(
          services,
          known,
          ({ public_key }) => verifyWithKey(public_key),
          isRefused,
        )
      : { peer: undefined, checked: await verifyWithKey(key) };
  if (!verified.ok) return toPeerRefusal(verified);
  const rate = limiter.take(
    limits.federationRequests,
    limits.rateWindowMs,
    `peer ${claim.relayId}`,
  );
  if (!rate.allowed) {
    return { ...refuse("rate.exceeded"), retryAfterSeconds: rate.retryAfterSeconds };
  }
  const envelope = checkEnvelope((raw ?? {}) as Parameters<typeof checkEnvelope>[0], {
    self: identity.relayId,
    now,
  });
  if (!envelope.ok) return toPeerRefusal(envelope);
  if (singleUse && verified.bound && !federation.seenSignatures.add(claim.signature, now)) {
    return refuse("federation.replayed");
  }
  if (activeOnly && peer?.state !== "active") return refuse("peer.suspended");
  return { ok: true, relayId: claim.relayId, peer, raw, bound: verified.bound };
}

const isRefused = ({ ok }: VerifyRequestResult) => !ok;

/** The rules of a request's form are held by the contract, so of those only these are left. */
function toPeerRefusal({ code, detail }: FederationRefusal): PeerRefusal {
  return refuse(code as PeerRefusal["code"], detail);
}
