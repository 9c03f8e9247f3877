import { bytesToHex } from "@agent/crypto";
import { admitProposal, type AdmissionPolicy, type PeerStanding } from "../admission.ts";
import { FEDERATION_LIMITS } from "../limits.ts";
import {
  ConfirmationSchema,
  type ConfirmationAnswer,
  type ProposalAnswer,
  ProposalSchema,
} from "../messages/handshake.ts";
import { readMessage } from "../read-message.ts";
import {
  type AdmissionCode,
  type FederationRefusal,
  type HandshakeCode,
  type RemovedCode,
  refuse,
} from "../refusals.ts";
import { signText, textIsSigned } from "../signed-text.ts";
import { challengeText } from "./challenge.ts";
import { type Introduction, introduce, introductionOf } from "./introduction.ts";

/** A proposal that was answered and waits for its confirmation; kept until then. */
export interface PendingPeer {
  readonly peer: Introduction;
  readonly nonceB: string;
  /** In ms, by the responder's clock. */
  readonly proposedAt: number;
}

/**
 * Step 2: answers a proposal whose request signature held under the key in its body. `nonce` is 32
 * random bytes. Refused, without any signature: `federation.malformed` and what `admitProposal` refuses.
 */
export function answerToProposal(
  value: unknown,
  {
    self,
    policy,
    standingOf,
    nonce,
    secretKey,
    now,
  }: {
    readonly self: Introduction;
    readonly policy: AdmissionPolicy;
    readonly standingOf: (relayId: string) => Omit<PeerStanding, "self">;
    readonly nonce: Uint8Array;
    readonly secretKey: Uint8Array;
    readonly now: number;
  },
):
  | { readonly ok: true; readonly pending: PendingPeer; readonly answer: ProposalAnswer }
  | FederationRefusal<AdmissionCode | RemovedCode | "federation.malformed"> {
  const read = readMessage(ProposalSchema, value);
  if (!read.ok) return read;
  const peer = introductionOf(read.message);
  const admitted = admitProposal(peer, policy, { self, ...standingOf(peer.relayId) });
  if (!admitted.ok) return admitted;
  const nonceB = bytesToHex(nonce);
  const challenge = signText(challengeText(peer.relayId, read.message.nonce_a), secretKey);
  return {
    ok: true,
    pending: { peer, nonceB, proposedAt: now },
    answer: { ...introduce(self), nonce_b: nonceB, challenge },
  };
}

/**
 * Step 4: whether a confirmation, whose request signature held under the pending peer's key, makes
 * it active. Any refusal drops the pending record: `peer.not_pending` (none, or older than 5
 * minutes), `federation.malformed`, `peer.identity_mismatch`, `peer.challenge_invalid`.
 */
export function judgeConfirmation(
  pending: PendingPeer | null,
  value: unknown,
  now: number,
):
  | { readonly ok: true; readonly peer: Introduction; readonly answer: ConfirmationAnswer }
  | FederationRefusal<HandshakeCode> {
  if (pending === null || hasLapsed(pending, now)) return refuse("peer.not_pending");
  const read = readMessage(ConfirmationSchema, value);
  if (!read.ok) return read;
  const { peer, nonceB } = pending;
  if (read.message.relay_id !== peer.relayId) return refuse("peer.identity_mismatch");
  const text = challengeText(peer.relayId, nonceB);
  return textIsSigned(text, read.message.challenge_response, peer.publicKey)
    ? { ok: true, peer, answer: { status: "active" } }
    : refuse("peer.challenge_invalid");
}

/** Whether a pending proposal is too old to be confirmed. */
export function hasLapsed({ proposedAt }: PendingPeer, now: number): boolean {
  return now - proposedAt > FEDERATION_LIMITS.proposalLifeMs;
}
