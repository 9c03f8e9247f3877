import { bytesToHex } from "@agent/crypto";
import {
  type Confirmation,
  ConfirmationAnswerSchema,
  type Proposal,
  ProposalAnswerSchema,
} from "../messages/handshake.ts";
import { parseMessage } from "../parse-message.ts";
import { type FederationRefusal, type HandshakeCode, refuse } from "../refusals.ts";
import { signText, isTextSigned } from "../signing/signed-text.ts";
import { buildChallengeText } from "./challenge.ts";
import {
  type RelayDescription,
  toDescriptionMessage,
  parseDescription,
} from "./relay-description.ts";

/** A handshake that this relay began and that waits for its first answer. */
export interface ProposedState {
  readonly step: "proposed";
  readonly self: RelayDescription;
  readonly nonceA: string;
}

/** The other side has proved its key; its answer to the confirmation is awaited. */
export interface ConfirmingState {
  readonly step: "confirming";
  readonly peer: RelayDescription;
}

/** Step 1: the proposal to send; `nonce` is 32 random bytes. */
export function createProposal(
  self: RelayDescription,
  nonce: Uint8Array,
): { readonly state: ProposedState; readonly message: Proposal } {
  const nonceA = bytesToHex(nonce);
  const state: ProposedState = { step: "proposed", self, nonceA };
  return { state, message: { ...toDescriptionMessage(self), nonce_a: nonceA } };
}

/**
 * Step 3: holds the answer against the identity that the endpoint gave before, and signs the
 * confirmation. Refused, which ends the handshake: `federation.malformed`,
 * `peer.identity_mismatch`, `peer.challenge_invalid`.
 */
export function checkProposalAnswer(
  { self, nonceA }: ProposedState,
  answer: unknown,
  {
    expected,
    secretKey,
  }: {
    /** Whom the answer has to come from. */
    readonly expected: { readonly relayId: string; readonly publicKey: string };
    readonly secretKey: Uint8Array;
  },
):
  | { readonly ok: true; readonly state: ConfirmingState; readonly message: Confirmation }
  | FederationRefusal<HandshakeCode> {
  const read = parseMessage(ProposalAnswerSchema, answer);
  if (!read.ok) return read;
  const peer = parseDescription(read.message);
  const isExpected = peer.relayId === expected.relayId && peer.publicKey === expected.publicKey;
  // Whoever signed with our own key would have our own answer handed back to us.
  const isOther = peer.relayId !== self.relayId && peer.publicKey !== self.publicKey;
  if (!isExpected || !isOther) return refuse("peer.identity_mismatch");
  const text = buildChallengeText(self.relayId, nonceA);
  if (!isTextSigned(text, read.message.challenge, peer.publicKey)) {
    return refuse("peer.challenge_invalid");
  }
  const response = signText(buildChallengeText(self.relayId, read.message.nonce_b), secretKey);
  return {
    ok: true,
    state: { step: "confirming", peer },
    message: { relay_id: self.relayId, challenge_response: response },
  };
}

/** Step 4: the peer is active once it says so. Refused: `federation.malformed`. */
export function checkConfirmationAnswer(
  { peer }: ConfirmingState,
  answer: unknown,
): { readonly ok: true; readonly peer: RelayDescription } | FederationRefusal<HandshakeCode> {
  const read = parseMessage(ConfirmationAnswerSchema, answer);
  return read.ok ? { ok: true, peer } : read;
}
