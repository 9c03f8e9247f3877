import {
  admitPeer,
  answerIsSigned,
  answerProposal,
  concludeHandshake,
  isRemovedByOperator,
  propose,
} from "@agent/federation-protocol";
import { refuse, type Answer, type Operations } from "@agent/wire";
import { activatePeer, policyOf, standingUnder } from "./admission.ts";
import { addressed, callPeer, type PeerAddress, type PeerReply } from "./call-peer.ts";
import type { FederationServices } from "./federation.ts";
import { readIdentity } from "./follow-peer-key.ts";
import { ownIntroduction } from "./introduction.ts";
import { changePeer, lifeOf } from "./peer-life.ts";
import { findPeer } from "./peer-store.ts";
import { operatorView } from "./peer-view.ts";
import { passOn } from "./refusal.ts";

type Added = Answer<Operations["addPeer"]>;

/**
 * Runs a whole handshake from this side. Only its success makes a peer; what a failed one leaves behind
 * is that the operator has admitted the relay again (docs/decisions.md, 7).
 */
export async function addPeer(services: FederationServices, endpointUrl: string): Promise<Added> {
  const { storage, identity, runtime, config, federation } = services;
  const unknown = { relay_id: identity.relayId, endpoint_url: endpointUrl };
  const stated = await readIdentity(services, unknown);
  if (stated === undefined) return refuse("peer.unreachable");
  const { agent_id: relayId, public_key: publicKey } = stated;
  const self = ownIntroduction(services);
  const { succession, ...standing } = await standingUnder(storage.read, stated);
  const admitted = admitPeer({ relayId, publicKey }, policyOf(config), { self, ...standing });
  if (!admitted.ok) return passOn(admitted);
  await admitAgain(services, relayId, endpointUrl);

  const address: PeerAddress = { relay_id: relayId, endpoint_url: endpointUrl };
  const ask = (step: string, message: object) =>
    callPeer(services, address, {
      method: "POST",
      path: `/federation/v1/peer/${step}`,
      body: addressed(services, address, message),
    });
  const proposed = propose(self, runtime.randomBytes(32));
  const answer = await ask("propose", proposed.message);
  if (!succeeded(answer)) return failure(answer);
  const confirming = answerProposal(proposed.state, answer.body, {
    expected: { relayId, publicKey },
    secretKey: identity.secretKey,
  });
  if (!confirming.ok) return broken(confirming);
  const confirmed = await ask("confirm", confirming.message);
  if (!succeeded(confirmed)) return failure(confirmed);
  const concluded = concludeHandshake(confirming.state, confirmed.body);
  if (!concluded.ok) return broken(concluded);

  // Where it says it can be reached is its own word; where it was reached is known.
  const { features, ...introduced } = concluded.peer;
  const isSigned = answerIsSigned(answer.body, answer.signature, publicKey);
  const peer = {
    ...introduced,
    endpointUrl,
    ...(isSigned && features !== undefined && { features }),
    succession,
  };
  const row = await storage.transaction((tx) => activatePeer(tx, config, peer, { added: true }));
  federation.log.info("federation.peer.active", { relay_id: relayId });
  return { status: 200, body: await operatorView(services, row) };
}

/**
 * The operator's word ends the removal before the handshake, or two relays that removed each other could
 * never be peers again. The identity is not proven yet, so it counts at the relay's own address only.
 */
async function admitAgain(
  services: FederationServices,
  relayId: string,
  endpointUrl: string,
): Promise<void> {
  const known = await findPeer(services.storage.read, relayId);
  if (known === undefined || known.endpoint_url !== endpointUrl) return;
  if (isRemovedByOperator(lifeOf(known))) {
    await changePeer(services, relayId, { type: "admitted" });
  }
}

function succeeded({ delivery }: PeerReply): boolean {
  return delivery.kind === "answered" && delivery.status === 200;
}

function failure({ delivery, code }: PeerReply): Added {
  return delivery.kind === "answered" ? refuse("peer.refused", code) : refuse("peer.unreachable");
}

/** What came back was no answer of the protocol, or none of that relay. */
function broken({
  code,
  detail,
}: {
  readonly code:
    | "federation.malformed"
    | "peer.identity_mismatch"
    | "peer.challenge_invalid"
    | "peer.not_pending";
  readonly detail?: string;
}): Added {
  return code === "peer.identity_mismatch" || code === "peer.challenge_invalid"
    ? refuse(code, detail)
    : refuse("peer.refused");
}
