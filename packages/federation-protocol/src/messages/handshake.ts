import { count, endpointUrl, shortText } from "@agent/wire/engine";
import * as v from "valibot";
import { envelope, features, hex32, signature, uuid } from "../fields.ts";

/** A relay's identity: the answer of `GET /federation/v1/identity`. */
export const RelayIdentitySchema = v.object({
  agent_id: uuid,
  public_key: hex32,
  did: v.string(),
  /** Informative only; a peer relies on the features of a signed heartbeat. */
  features: v.optional(features),
  incarnation: v.optional(count),
  /** The signed steps from the relay's first key to this one, oldest first. */
  succession: v.optional(v.array(v.looseObject({}))),
});
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
export type Proposal = v.InferOutput<typeof ProposalSchema>;

/** The answer to peer/propose; `challenge` signs `<initiator's relay_id>:<nonce_a>`. */
export const ProposalAnswerSchema = v.object({
  ...descriptionMembers,
  nonce_b: hex32,
  challenge: signature,
});
export type ProposalAnswer = v.InferOutput<typeof ProposalAnswerSchema>;

/** The body of peer/confirm; `challenge_response` signs `<initiator's relay_id>:<nonce_b>`. */
export const ConfirmationSchema = v.object({
  relay_id: uuid,
  challenge_response: signature,
  ...envelope,
});
export type Confirmation = v.InferOutput<typeof ConfirmationSchema>;

export const ConfirmationAnswerSchema = v.object({ status: v.literal("active") });
export type ConfirmationAnswer = v.InferOutput<typeof ConfirmationAnswerSchema>;
