import {
  checkAdmission,
  checkProposalAnswer,
  checkConfirmationAnswer,
  createProposal,
} from "@agent/federation-protocol/peering";
import { isAnswerSigned } from "@agent/federation-protocol/signing";
import { refuse, type Answer, type Operations } from "@agent/wire";
import { activatePeer, buildAdmissionPolicy, loadAdmissionInputUnderKey } from "./admission.ts";
import {
  withRecipient,
  callPeer,
  type PeerAddress,
  type PeerReply,
} from "../transport/call-peer.ts";
import type { FederationServices } from "../federation-services.ts";
import { fetchIdentity } from "../peers/peer-key.ts";
import { buildSelfDescription } from "./self-description.ts";
import { recordPeerEvent, toPeerRecord } from "../peers/peer-state.ts";
import { findPeer } from "../peers/peer-store.ts";
import { buildPeerView } from "../peers/peer-view.ts";
import { toWireRefusal } from "../transport/to-wire-refusal.ts";

type AddPeerAnswer = Answer<Operations["addPeer"]>;

/**
 * Runs a whole handshake as its initiator. Only a successful one creates a peer; a failed one changes
 * nothing except that the operator has admitted the relay again (docs/decisions.md, 7).
 */
export async function addPeer(
  services: FederationServices,
  endpointUrl: string,
): Promise<AddPeerAnswer> {
  const { storage, identity, runtime, config, federation } = services;
  const unknown = { relay_id: identity.relayId, endpoint_url: endpointUrl };
  const stated = await fetchIdentity(services, unknown);
  if (stated === undefined) return refuse("peer.unreachable");
  const { agent_id: relayId, public_key: publicKey } = stated;
  const self = buildSelfDescription(services);
  const { succession, ...admissionInput } = await loadAdmissionInputUnderKey(storage.read, stated);
  const admitted = checkAdmission({ relayId, publicKey }, buildAdmissionPolicy(config), {
    self,
    ...admissionInput,
  });
  if (!admitted.ok) return toWireRefusal(admitted);
  await readmitPeer(services, relayId, endpointUrl);

  const address: PeerAddress = { relay_id: relayId, endpoint_url: endpointUrl };
  const postStep = (step: string, message: object) =>
    callPeer(services, address, {
      method: "POST",
      path: `/federation/v1/peer/${step}`,
      body: withRecipient(services, address, message),
    });
  const proposed = createProposal(self, runtime.randomBytes(32));
  const answer = await postStep("propose", proposed.message);
  if (!isSuccess(answer)) return toCallRefusal(answer);
  const confirming = checkProposalAnswer(proposed.state, answer.body, {
    expected: { relayId, publicKey },
    secretKey: identity.secretKey,
  });
  if (!confirming.ok) return toHandshakeRefusal(confirming);
  const confirmed = await postStep("confirm", confirming.message);
  if (!isSuccess(confirmed)) return toCallRefusal(confirmed);
  const concluded = checkConfirmationAnswer(confirming.state, confirmed.body);
  if (!concluded.ok) return toHandshakeRefusal(concluded);

  // The relay only claims its endpoint, but the address at which it answered is known.
  const { features, ...introduced } = concluded.peer;
  const isSigned = isAnswerSigned(answer.body, answer.signature, publicKey);
  const peer = {
    ...introduced,
    endpointUrl,
    ...(isSigned && features !== undefined && { features }),
    succession,
  };
  const row = await storage.transaction((tx) => activatePeer(tx, services, peer, { added: true }));
  federation.log.info("federation.peer.active", { relay_id: relayId });
  return { status: 200, body: await buildPeerView(services, row) };
}

/**
 * Ends the operator's removal before the handshake, or two relays that removed each other could never
 * peer again. The identity is not proven yet, so this applies at the relay's own address only.
 */
async function readmitPeer(
  services: FederationServices,
  relayId: string,
  endpointUrl: string,
): Promise<void> {
  const known = await findPeer(services.storage.read, relayId);
  if (known === undefined || known.endpoint_url !== endpointUrl) return;
  if (toPeerRecord(known).removedByOperator) {
    await recordPeerEvent(services, relayId, { type: "admitted" });
  }
}

function isSuccess({ delivery }: PeerReply): boolean {
  return delivery.kind === "answered" && delivery.status === 200;
}

function toCallRefusal({ delivery, code }: PeerReply): AddPeerAnswer {
  return delivery.kind === "answered" ? refuse("peer.refused", code) : refuse("peer.unreachable");
}

/**
 * Converts a failed handshake to a refusal: the answer did not follow the protocol or did not come from
 * that relay.
 */
function toHandshakeRefusal({
  code,
  detail,
}: {
  readonly code:
    | "federation.malformed"
    | "peer.identity_mismatch"
    | "peer.challenge_invalid"
    | "peer.not_pending";
  readonly detail?: string;
}): AddPeerAnswer {
  return code === "peer.identity_mismatch" || code === "peer.challenge_invalid"
    ? refuse(code, detail)
    : refuse("peer.refused");
}
