import { asMicro, type Micro } from "@agent/budget";
import {
  checkProposalAnswer,
  buildProposalAnswer,
  checkConfirmationAnswer,
  computeCreditAfterHandshake,
  type Confirmation,
  type RelayDescription,
  isLive,
  checkConfirmation,
  applyPeerEvent,
  NEW_PEER,
  type PeerRecord,
  type Proposal,
  createProposal,
} from "@agent/federation-protocol/peering";
import { getExposure } from "@agent/federation-protocol/settlement";
import type { Reply } from "../links.ts";
import { applyEvent } from "./heartbeats.ts";
import type { SimRelay } from "./sim-relay.ts";

const MAX_PEERS = 50;

/**
 * Starts the handshake with a relay that the operator adds; its credit is kept if the peer itself ended the
 * peering.
 */
export function startHandshake(relay: SimRelay, peerId: string): void {
  if (!relay.isWorking || relay.isLivePeer(peerId)) return;
  const expected = relay.world.relays.get(peerId);
  if (expected === undefined) return;
  const { random, truth } = relay.world;
  applyEvent(relay, peerId, { type: "admitted" });
  truth.admit(relay.id, peerId);
  const begun = createProposal(buildSelfDescription(relay), random.randomBytes(32));
  relay.send(peerId, "peer/propose", begun.message, (_, answer) => {
    const confirming = checkProposalAnswer(begun.state, answer, {
      expected: { relayId: peerId, publicKey: expected.publicKey },
      secretKey: relay.secretKey,
    });
    if (!confirming.ok) return;
    relay.send(peerId, "peer/confirm", confirming.message, (__, end) => {
      const done = checkConfirmationAnswer(confirming.state, end);
      if (done.ok) activatePeer(relay, done.peer, { added: true });
    });
  });
}

export function receiveProposal(relay: SimRelay, _: string, body: Proposal): Reply {
  const live = [...relay.store.peers.values()].filter(({ record }) => isLive(record));
  const answered = buildProposalAnswer(body, {
    self: buildSelfDescription(relay),
    policy: { blocked: [], allowed: null, maxPeers: MAX_PEERS },
    getAdmissionInput: (relayId) => {
      const known = relay.peer(relayId);
      const record = getPeerRecord(relay, relayId);
      return {
        known: known && record ? { ...record, publicKey: known.publicKey } : null,
        livePeers: live.length,
      };
    },
    nonce: relay.world.random.randomBytes(32),
    secretKey: relay.secretKey,
    now: relay.now,
  });
  if (!answered.ok) return relay.refuse(answered);
  relay.store.pending.set(body.relay_id, answered.pending);
  return { status: 200, body: answered.answer };
}

export function receiveConfirmation(relay: SimRelay, from: string, body: Confirmation): Reply {
  const checked = checkConfirmation(relay.store.pending.get(from) ?? null, body, relay.now);
  relay.store.pending.delete(from);
  if (!checked.ok) return relay.refuse(checked);
  const record = getPeerRecord(relay, from);
  if (record?.removedByOperator === true) {
    return relay.refuse({ ok: false, code: "federation.peer_removed" });
  }
  activatePeer(relay, checked.peer, { added: false });
  return { status: 200, body: checked.answer };
}

/**
 * Removes a peer as the operator decides: it becomes a peer again only when the operator adds it, and has no
 * credit until the operator sets it. The peer is notified if the link works.
 */
export function removePeer(relay: SimRelay, peerId: string): void {
  const peer = relay.peer(peerId);
  if (peer === undefined) return;
  const wasLive = isLive(peer.record);
  const exposure = getExposure(relay.clearingLine(peerId));
  const ceiling = asMicro(Math.max(0, exposure));
  relay.store.peers.set(peerId, { ...peer, limit: asMicro(0), isLimitSet: true, ceiling });
  applyEvent(relay, peerId, { type: "removal", byOperator: true });
  relay.world.truth.remove(relay.id, peerId);
  if (wasLive && relay.isWorking) {
    relay.send(peerId, "peer/remove", { timestamp: relay.now }, () => {});
  }
}

/** Sets the maximum debt between the relay and a peer. */
export function setCredit(relay: SimRelay, peerId: string, limit: Micro): void {
  const peer = relay.peer(peerId);
  if (peer !== undefined) relay.store.peers.set(peerId, { ...peer, limit, isLimitSet: true });
}

function activatePeer(
  relay: SimRelay,
  { relayId, publicKey }: RelayDescription,
  { added }: { readonly added: boolean },
): void {
  const { random, faults, truth } = relay.world;
  const known = relay.peer(relayId);
  const record = getPeerRecord(relay, relayId) ?? NEW_PEER;
  const isSetByOperator = known?.isLimitSet === true && !faults.returnsCredit;
  const limit = computeCreditAfterHandshake(
    known ? { creditLimit: known.limit, isSetByOperator } : null,
    {
      added,
      initial: random.pick(creditLimits),
    },
  );
  const after = applyPeerEvent(record, { type: "confirmed", byOperator: added });
  const ceiling = known?.ceiling ?? asMicro(0);
  const isLimitSet = known?.isLimitSet ?? false;
  relay.store.peers.set(relayId, { relayId, publicKey, limit, isLimitSet, ceiling, record: after });
  if (truth.isRemoved(relay.id, relayId) && isLive(after)) {
    relay.reportViolation(
      `${relay.nameOf(relayId)} is a peer again, which its operator had removed`,
    );
  }
  if (known?.isLimitSet === true && limit > known.limit) {
    relay.reportViolation(
      `${relay.nameOf(relayId)} has credit again that the operator did not set`,
    );
  }
}

/** Returns the relay's record of a peer. */
function getPeerRecord(relay: SimRelay, relayId: string): PeerRecord | undefined {
  const record = relay.peer(relayId)?.record;
  return record && relay.world.faults.admitsRemovedPeers
    ? { ...record, removedByOperator: false }
    : record;
}

const creditLimits = [2e6, 10e6, 1e9, 1e9].map(asMicro) as [Micro, ...Micro[]];

function buildSelfDescription(relay: SimRelay): RelayDescription {
  const { id: relayId, publicKey, name } = relay;
  return { relayId, publicKey, endpointUrl: `http://${name}.example`, displayName: name };
}
