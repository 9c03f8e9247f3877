import {
  answerToProposal,
  hasLapsed,
  isRemovedByOperator,
  judgeConfirmation,
  type PendingPeer,
  type Proposal,
  signAnswer,
} from "@agent/federation-protocol";
import { limits, refuse, type Answer, type Operations } from "@agent/wire";
import { activatePeer, policyOf, standingOf, standingUnder } from "./admission.ts";
import type { FederationServices } from "./federation.ts";
import { readIdentity } from "./follow-peer-key.ts";
import { ownIntroduction } from "./introduction.ts";
import { findPeer } from "./peer-store.ts";
import { passOn } from "./refusal.ts";

/** Answers a proposal whose signature held under the key in it; nothing is stored before its confirmation. */
export async function answerPropose(
  services: FederationServices,
  proposal: Proposal,
): Promise<Answer<Operations["proposePeer"]>> {
  const { federation, identity, runtime, config } = services;
  const { succession, ...standing } = await standingOfProposer(services, proposal);
  const answered = answerToProposal(proposal, {
    self: ownIntroduction(services),
    policy: policyOf(config),
    standingOf: () => standing,
    nonce: runtime.randomBytes(32),
    secretKey: identity.secretKey,
    now: runtime.now(),
  });
  if (!answered.ok) return passOn(answered);
  if (await deniesIdentity(services, answered.pending)) return refuse("peer.identity_mismatch");
  const { pending } = answered;
  const kept = { ...pending, peer: { ...pending.peer, succession } };
  keepPending(federation.pending, kept, runtime.now());
  const signature = signAnswer(answered.answer, identity.secretKey);
  const headers = { "x-relay-signature": signature };
  return { status: 200, body: answered.answer, headers };
}

/** Whether the relay at the endpoint says that it is another; one that cannot be asked says nothing. */
async function deniesIdentity(
  services: FederationServices,
  { peer }: PendingPeer,
): Promise<boolean> {
  const address = { relay_id: peer.relayId, endpoint_url: peer.endpointUrl };
  const stated = await readIdentity(services, address);
  if (stated === undefined) return false;
  return stated.public_key !== peer.publicKey || stated.agent_id !== peer.relayId;
}

/** A relay that is known under another key is asked for the steps between the two. */
async function standingOfProposer(
  services: FederationServices,
  { relay_id, public_key, endpoint_url }: Proposal,
): ReturnType<typeof standingUnder> {
  const { read } = services.storage;
  const known = (await findPeer(read, relay_id))?.public_key ?? public_key;
  const isKnown = known === public_key;
  const stated = isKnown ? undefined : await readIdentity(services, { relay_id, endpoint_url });
  return standingUnder(read, { agent_id: relay_id, public_key, succession: stated?.succession });
}

/** Strangers can begin handshakes; those that they never finish are few and soon forgotten. */
function keepPending(pending: Map<string, PendingPeer>, added: PendingPeer, now: number): void {
  for (const [relayId, waiting] of pending) {
    if (hasLapsed(waiting, now)) pending.delete(relayId);
  }
  const [oldest] = pending.keys();
  if (pending.size >= limits.federationProposals && oldest !== undefined) pending.delete(oldest);
  pending.delete(added.peer.relayId);
  pending.set(added.peer.relayId, added);
}

/** Whatever is wrong with a confirmation ends the handshake (specification, "Relay peer"). */
export async function answerConfirm(
  services: FederationServices,
  relayId: string,
  confirmation: unknown,
): Promise<Answer<Operations["confirmPeer"]>> {
  const { federation, runtime, config, storage } = services;
  const judged = judgeConfirmation(
    federation.pending.get(relayId) ?? null,
    confirmation,
    runtime.now(),
  );
  federation.pending.delete(relayId);
  if (!judged.ok) return passOn(judged);
  const refused = await storage.transaction(async (tx) => {
    // Others may have become peers since it was proposed.
    const { known, livePeers } = await standingOf(tx, relayId);
    // So may this one have been removed.
    if (known !== null && isRemovedByOperator(known)) return refuse("federation.peer_removed");
    const isLive = known?.state === "active" || known?.state === "suspended";
    if (!isLive && livePeers >= config.federation.maxPeers) return refuse("peer.limit_reached");
    await activatePeer(tx, config, judged.peer, { added: false });
    return undefined;
  });
  if (refused !== undefined) return refused;
  federation.log.info("federation.peer.active", { relay_id: relayId });
  return { status: 200, body: judged.answer };
}
