import {
  agentId,
  describeAs,
  finite,
  looseObject,
  price,
  publicKey,
  shortText,
  timestamp,
} from "@agent/wire/engine";
import * as v from "valibot";

/** Above this amount, micro-units are no longer safe integers. */
const MAX_BALANCE = 9_000_000_000;

/** An id of a relay, an agent or a query; its fixed form keeps signed texts unambiguous. */
export const uuid = agentId;
/** A key, a hash or a nonce: 32 bytes as 64 lower-case hex digits. */
export const hex32 = publicKey;
/** Ed25519 signature: 64 bytes in base64url, whose unused bits must be zero. */
export const signature = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9_-]{85}[AQgw]$/, "must be an Ed25519 signature in base64url"),
);
/** A latency in ms, bounded so that its sum over a path stays finite and comparable. */
export const latencyMs = v.pipe(
  finite,
  v.minValue(0, "must be 0 or more"),
  v.maxValue(1e9, "must be at most 1000000000"),
);
/** Money in a message: USD from 0 to 1e9 with at most 6 decimals. */
export const money = price;
/** Names from `FEDERATION_FEATURES`; unknown ones belong to a newer version. */
export const features = v.pipe(
  v.array(shortText),
  v.maxLength(100, "must hold at most 100 entries"),
);
/** An amount in USD that may be below 0. */
export const balance = v.pipe(
  v.number(),
  v.check(
    (value) => Math.abs(value) <= MAX_BALANCE && Number(value.toFixed(6)) === value,
    `must be an amount from -${MAX_BALANCE} to ${MAX_BALANCE} with at most 6 decimals`,
  ),
);
/** A signed object of another kind, kept as it was received and checked by its own verifier. */
export const signedObject = looseObject;

/** The receiver of a signed body; without it the body is valid at any relay. */
export const receiver = describeAs(
  v.optional(uuid),
  "The id of the relay that the message is for; absent from a message that names no receiver.",
);
/** Optional members of signed bodies that bind them to a time (ms) and to one receiver. */
export const envelope = { timestamp: v.optional(timestamp), to: receiver };
