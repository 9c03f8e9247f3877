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

/** A handshake that this relay began, before the first answer. */
export interface ProposedState {
  readonly step: "proposed";
  readonly self: RelayDescription;
  readonly nonceA: string;
}

/** A handshake whose responder has proved its key but has not answered the confirmation yet. */
export interface ConfirmingState {
  readonly step: "confirming";
  readonly peer: RelayDescription;
}

/** Step 1: creates the proposal; `nonce` is 32 random bytes. */
export function createProposal(
  self: RelayDescription,
  nonce: Uint8Array,
): { readonly state: ProposedState; readonly message: Proposal } {
  const nonceA = bytesToHex(nonce);
  const state: ProposedState = { step: "proposed", self, nonceA };
  return { state, message: { ...toDescriptionMessage(self), nonce_a: nonceA } };
}

/**
 * Step 3: checks the answer against the identity that the endpoint returned earlier, and signs the
 * confirmation. A refusal ends the handshake: `federation.malformed`, `peer.identity_mismatch`,
 * `peer.challenge_invalid`.
 */
export function checkProposalAnswer(
  { self, nonceA }: ProposedState,
  answer: unknown,
  {
    expected,
    secretKey,
  }: {
    /** The required sender of the answer. */
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
  // An answer under this relay's own identity may be a reflection of its own messages.
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

/** Step 4: accepts the peer as active if its answer says so. Refused: `federation.malformed`. */
export function checkConfirmationAnswer(
  { peer }: ConfirmingState,
  answer: unknown,
): { readonly ok: true; readonly peer: RelayDescription } | FederationRefusal<HandshakeCode> {
  const read = parseMessage(ConfirmationAnswerSchema, answer);
  return read.ok ? { ok: true, peer } : read;
}
