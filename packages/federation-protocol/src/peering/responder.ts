import { bytesToHex } from "@agent/crypto";
import { checkProposalAdmission, type AdmissionPolicy, type AdmissionInput } from "./admission.ts";
import { FEDERATION_LIMITS } from "../limits.ts";
import {
  ConfirmationSchema,
  type ConfirmationAnswer,
  type ProposalAnswer,
  ProposalSchema,
} from "../messages/handshake.ts";
import { parseMessage } from "../parse-message.ts";
import {
  type AdmissionCode,
  type FederationRefusal,
  type HandshakeCode,
  type RemovedCode,
  refuse,
} from "../refusals.ts";
import { signText, isTextSigned } from "../signing/signed-text.ts";
import { buildChallengeText } from "./challenge.ts";
import {
  type RelayDescription,
  toDescriptionMessage,
  parseDescription,
} from "./relay-description.ts";

/** An answered proposal that waits for its confirmation. */
export interface PendingPeer {
  readonly peer: RelayDescription;
  readonly nonceB: string;
  /** In ms since the epoch, by the responder's clock. */
  readonly proposedAt: number;
}

/**
 * Step 2: answers a proposal whose request signature was verified under the key in its body.
 * `nonce` is 32 random bytes, `now` the time in ms since the epoch by this relay's clock. Refused, without
 * signing anything: `federation.malformed` and the
 * codes of `checkProposalAdmission`.
 */
export function buildProposalAnswer(
  value: unknown,
  {
    self,
    policy,
    getAdmissionInput,
    nonce,
    secretKey,
    now,
  }: {
    readonly self: RelayDescription;
    readonly policy: AdmissionPolicy;
    readonly getAdmissionInput: (relayId: string) => Omit<AdmissionInput, "self">;
    readonly nonce: Uint8Array;
    readonly secretKey: Uint8Array;
    readonly now: number;
  },
):
  | { readonly ok: true; readonly pending: PendingPeer; readonly answer: ProposalAnswer }
  | FederationRefusal<AdmissionCode | RemovedCode | "federation.malformed"> {
  const read = parseMessage(ProposalSchema, value);
  if (!read.ok) return read;
  const peer = parseDescription(read.message);
  const admissionCheck = checkProposalAdmission(peer, policy, {
    self,
    ...getAdmissionInput(peer.relayId),
  });
  if (!admissionCheck.ok) return admissionCheck;
  const nonceB = bytesToHex(nonce);
  const challenge = signText(buildChallengeText(peer.relayId, read.message.nonce_a), secretKey);
  return {
    ok: true,
    pending: { peer, nonceB, proposedAt: now },
    answer: { ...toDescriptionMessage(self), nonce_b: nonceB, challenge },
  };
}

/**
 * Step 4: checks a confirmation whose request signature was verified under the pending peer's key,
 * and so activates the peer. `now` is in ms since the epoch, by this relay's clock. Any refusal deletes the
 * pending record: `peer.not_pending` (none, or older than 5 minutes), `federation.malformed`,
 * `peer.identity_mismatch`, `peer.challenge_invalid`.
 */
export function checkConfirmation(
  pending: PendingPeer | null,
  value: unknown,
  now: number,
):
  | { readonly ok: true; readonly peer: RelayDescription; readonly answer: ConfirmationAnswer }
  | FederationRefusal<HandshakeCode> {
  if (pending === null || isProposalExpired(pending, now)) return refuse("peer.not_pending");
  const read = parseMessage(ConfirmationSchema, value);
  if (!read.ok) return read;
  const { peer, nonceB } = pending;
  if (read.message.relay_id !== peer.relayId) return refuse("peer.identity_mismatch");
  const text = buildChallengeText(peer.relayId, nonceB);
  return isTextSigned(text, read.message.challenge_response, peer.publicKey)
    ? { ok: true, peer, answer: { status: "active" } }
    : refuse("peer.challenge_invalid");
}

/** Returns whether a pending proposal is too old to be confirmed. */
export function isProposalExpired({ proposedAt }: PendingPeer, now: number): boolean {
  return now - proposedAt > FEDERATION_LIMITS.proposalLifetimeMs;
}
