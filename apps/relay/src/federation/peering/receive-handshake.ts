import type { PeerOperations } from "@agent/federation-protocol/http";
import {
  buildProposalAnswer,
  checkConfirmation,
  type PendingPeer,
  type Proposal,
} from "@agent/federation-protocol/peering";
import { signAnswer } from "@agent/federation-protocol/signing";
import { refuse, type Answer } from "@agent/wire";
import {
  activatePeer,
  buildAdmissionPolicy,
  loadAdmissionInput,
  loadAdmissionInputUnderKey,
} from "./admission.ts";
import type { FederationServices } from "../federation-services.ts";
import { fetchIdentity } from "../peers/peer-key.ts";
import { buildSelfDescription } from "./self-description.ts";
import { findPeer } from "../peers/peer-store.ts";
import { toWireRefusal } from "../transport/to-wire-refusal.ts";

/**
 * Answers a proposal whose signature is valid under the key in it; nothing is stored before its
 * confirmation.
 */
export async function receiveProposal(
  services: FederationServices,
  proposal: Proposal,
): Promise<Answer<PeerOperations["proposePeer"]>> {
  const { federation, identity, runtime, config } = services;
  const { succession, ...admissionInput } = await loadProposerAdmissionInput(services, proposal);
  const answered = buildProposalAnswer(proposal, {
    self: buildSelfDescription(services),
    policy: buildAdmissionPolicy(config),
    getAdmissionInput: () => admissionInput,
    nonce: runtime.randomBytes(32),
    secretKey: identity.secretKey,
    now: runtime.now(),
  });
  if (!answered.ok) return toWireRefusal(answered);
  if (await contradictsIdentity(services, answered.pending))
    return refuse("peer.identity_mismatch");
  const { pending } = answered;
  const pendingWithSuccession = { ...pending, peer: { ...pending.peer, succession } };
  await federation.pendingPeers.add(pendingWithSuccession, runtime.now());
  const signature = signAnswer(answered.answer, identity.secretKey);
  const headers = { "x-relay-signature": signature };
  return { status: 200, body: answered.answer, headers };
}

/** Whether the relay at the endpoint identifies itself as another one; false if it cannot be asked. */
async function contradictsIdentity(
  services: FederationServices,
  { peer }: PendingPeer,
): Promise<boolean> {
  const address = { relay_id: peer.relayId, endpoint_url: peer.endpointUrl };
  const stated = await fetchIdentity(services, address);
  if (stated === undefined) return false;
  return stated.public_key !== peer.publicKey || stated.agent_id !== peer.relayId;
}

/**
 * Loads the facts about the proposer; one that is known under another key is asked for its key
 * succession.
 */
async function loadProposerAdmissionInput(
  services: FederationServices,
  { relay_id, public_key, endpoint_url }: Proposal,
): ReturnType<typeof loadAdmissionInputUnderKey> {
  const { read } = services.storage;
  const known = (await findPeer(read, relay_id))?.public_key ?? public_key;
  const isKnown = known === public_key;
  const stated = isKnown ? undefined : await fetchIdentity(services, { relay_id, endpoint_url });
  return loadAdmissionInputUnderKey(read, {
    agent_id: relay_id,
    public_key,
    succession: stated?.succession,
  });
}

/** Completes a handshake. Any failure aborts it (specification, "Relay peer"). */
export async function receiveConfirmation(
  services: FederationServices,
  relayId: string,
  confirmation: unknown,
): Promise<Answer<PeerOperations["confirmPeer"]>> {
  const { federation, runtime, config, storage } = services;
  const pending = (await federation.pendingPeers.take(relayId)) ?? null;
  const checked = checkConfirmation(pending, confirmation, runtime.now());
  if (!checked.ok) return toWireRefusal(checked);
  const refused = await storage.transaction(async (tx) => {
    // Others may have become peers since the proposal.
    const { known, livePeers } = await loadAdmissionInput(tx, relayId);
    // The operator may have removed this relay since the proposal.
    if (known?.removedByOperator === true) return refuse("federation.peer_removed");
    const isLive = known?.state === "active" || known?.state === "suspended";
    if (!isLive && livePeers >= config.federation.maxPeers) return refuse("peer.limit_reached");
    await activatePeer(tx, services, checked.peer, { added: false });
    return undefined;
  });
  if (refused !== undefined) return refused;
  federation.log.info("federation.peer.active", { relay_id: relayId });
  return { status: 200, body: checked.answer };
}
