import { getPublicKey, sign } from "#ed25519";
import { canonicalize } from "../json/canonical-json.ts";
import { bytesToHex, toBase64Url } from "../formats.ts";
import { SUITE } from "../suite.ts";

/**
 * An agent's change from one key to the next. Both keys sign the canonical JSON of all members but
 * the two signatures: the old key releases the agent id and the new key accepts it.
 */
export interface SuccessionRecord {
  readonly agent_id: string;
  /** 64 lower-case hex digits, like `new_public_key`. */
  readonly old_public_key: string;
  readonly new_public_key: string;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly reason?: string;
  readonly suite: typeof SUITE;
  /** Base64url, like `new_key_signature`. */
  readonly old_key_signature: string;
  readonly new_key_signature: string;
}

/** The content of an agent's succession record and the 32-byte seeds of both keys. */
export interface SignSuccessionOptions {
  readonly agent_id: string;
  readonly oldSecretKey: Uint8Array;
  readonly newSecretKey: Uint8Array;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly reason?: string;
}

/** Builds a succession record, signed with both secret keys. */
export function signSuccession(options: SignSuccessionOptions): SuccessionRecord {
  return signSuccessionStep({ agent_id: options.agent_id }, options);
}

/** Returns the key that a record says to end; undefined for any other value. */
export function getOldKey(record: unknown): string | undefined {
  const key = (record as { readonly old_public_key?: unknown } | null)?.old_public_key;
  return typeof key === "string" ? key : undefined;
}

/** Signs like `signSuccession`, for a key of an agent or a relay. */
export function signSuccessionStep<Owner extends object>(
  owner: Owner,
  options: Omit<SignSuccessionOptions, "agent_id">,
): Owner & Omit<SuccessionRecord, "agent_id"> {
  const { oldSecretKey, newSecretKey, timestamp, reason } = options;
  const body = {
    ...owner,
    old_public_key: bytesToHex(getPublicKey(oldSecretKey)),
    new_public_key: bytesToHex(getPublicKey(newSecretKey)),
    timestamp,
    ...(reason === undefined ? {} : { reason }),
    suite: SUITE,
  } as const;
  const message = canonicalize(body);
  return {
    ...body,
    old_key_signature: toBase64Url(sign(message, oldSecretKey)),
    new_key_signature: toBase64Url(sign(message, newSecretKey)),
  };
}
