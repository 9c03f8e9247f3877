import { count, describeAs, endpointUrl, shortText } from "@agent/wire/engine";
import * as v from "valibot";
import { envelope, features, hex32, signature, uuid } from "../fields.ts";

/** A relay's identity: the answer of `GET /federation/v1/identity`. */
export const RelayIdentitySchema = v.object({
  agent_id: describeAs(uuid, "The id of the relay, a UUID in lower case."),
  public_key: hex32,
  did: v.string(),
  /** Informative only; a peer relies on the features of a signed heartbeat. */
  features: v.optional(features),
  incarnation: v.optional(count),
  succession: describeAs(
    v.optional(v.array(v.looseObject({}))),
    "The succession records of the relay's key, oldest first; absent if the key never changed.",
  ),
});

/** The identity of a relay as its peers know it. */
export type RelayIdentity = v.InferOutput<typeof RelayIdentitySchema>;

const descriptionMembers = {
  relay_id: uuid,
  public_key: hex32,
  endpoint_url: endpointUrl,
  display_name: shortText,
  features: v.optional(features),
};

/** The body of peer/propose. */
export const ProposalSchema = v.object({ ...descriptionMembers, nonce_a: hex32, ...envelope });

/** The first message of a handshake. */
export type Proposal = v.InferOutput<typeof ProposalSchema>;

/** The answer to peer/propose. */
export const ProposalAnswerSchema = v.object({
  ...descriptionMembers,
  nonce_b: hex32,
  challenge: describeAs(
    signature,
    "The Ed25519 signature in base64url of the initiator's relay id, a colon and `nonce_a`.",
  ),
});

/** The second message of a handshake. */
export type ProposalAnswer = v.InferOutput<typeof ProposalAnswerSchema>;

/** The body of peer/confirm. */
export const ConfirmationSchema = v.object({
  relay_id: uuid,
  challenge_response: signature,
  ...envelope,
});

/** The third message of a handshake. */
export type Confirmation = v.InferOutput<typeof ConfirmationSchema>;

/** The answer to the third message of a handshake. */
export const ConfirmationAnswerSchema = v.object({
  status: describeAs(v.literal("active"), "Always `active`: the two relays are peers."),
});

/** The answer to the third message of a handshake. */
export type ConfirmationAnswer = v.InferOutput<typeof ConfirmationAnswerSchema>;
