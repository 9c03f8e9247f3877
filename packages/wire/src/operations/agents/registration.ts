import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  agentId,
  capabilities,
  endpointUrl,
  longText,
  looseObject,
  objectOnly,
  publicKey,
  shortText,
  timestamp,
} from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";

/** A record or a list of them, oldest first; `verifySuccession` of `@agent/crypto` checks signatures. */
const succession = v.optional(
  v.union(
    [
      looseObject,
      v.pipe(
        v.array(looseObject),
        v.minLength(1, "must not be empty"),
        v.maxLength(
          limits.successionRecords,
          `must contain at most ${limits.successionRecords} records`,
        ),
      ),
    ],
    "must be a succession record or a list of them, oldest first",
  ),
);

/** The key and the id that it is bound to, with the proofs for both. */
export const BootstrapBody = v.object({
  agent_id: agentId,
  public_key: publicKey,
  succession: describeAs(
    succession,
    "A succession record from the earlier key, or a list of them, oldest first.",
  ),
  proof: describeAs(
    v.optional(
      v.object({
        timestamp: describeAs(timestamp, "The time of the signature, in ms since the Unix epoch."),
        signature: describeAs(shortText, "The Ed25519 signature of the proof in base64url."),
      }),
    ),
    "The proof that the caller has the secret key.",
  ),
});

/** The device whose key is the agent's. */
export const Bootstrapped = v.object({
  agent_id: v.string(),
  device_id: v.string(),
  registered: describeAs(
    v.boolean(),
    "Whether this is the first key of the agent; false if it had one before.",
  ),
});

/** Where an agent is reached and what it can do. */
export const RegisterBody = v.object({
  agent_id: agentId,
  endpoint_url: endpointUrl,
  capabilities,
  metadata: describeAs(
    v.optional(
      v.pipe(
        objectOnly(
          v.looseObject({
            name: describeAs(v.optional(shortText), "The name of the agent."),
            description: describeAs(v.optional(longText), "What the agent does, in plain text."),
          }),
        ),
        v.check(
          (value) => JSON.stringify(value).length <= 16_384,
          "must be at most 16384 characters of JSON",
        ),
      ),
    ),
    "What the agent states about itself; at most 16384 characters of JSON.",
  ),
  federation_visible: describeAs(
    v.optional(v.boolean()),
    "Whether other relays may find the agent.",
  ),
  public_key: v.optional(publicKey),
  succession: describeAs(
    succession,
    "A succession record from the earlier key, or a list of them, oldest first.",
  ),
});
