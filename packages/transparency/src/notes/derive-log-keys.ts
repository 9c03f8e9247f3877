import { deriveSeed, getPublicKey } from "@agent/crypto";
import type { WitnessSigner } from "./cosignature.ts";
import { buildVerifierKey, KEY_TYPES, type VerifierKey } from "./verifier-key.ts";

/** The keys with which a relay signs its own log and cosigns those of others. */
export interface LogKeys {
  /** The name of the log; from the second generation on it contains the generation. */
  readonly origin: string;
  /** The 32-byte seed of the log's key. */
  readonly secretKey: Uint8Array;
  readonly logKey: VerifierKey;
  readonly witness: WitnessSigner;
  readonly witnessKey: VerifierKey;
}

/**
 * Derives the keys of a relay's log from the relay's 32-byte seed, so that a backup of the seed is enough.
 * From the second generation on, the names of log and witness contain the generation, and the witness has a
 * new key: the witness's state was reset, and a cosignature does not commit to the witness's name.
 */
export function deriveLogKeys(
  seed: Uint8Array,
  { origin: firstOrigin, generation }: { readonly origin: string; readonly generation?: number },
): LogKeys {
  const suffix = generation === undefined ? "" : `/${generation}`;
  const origin = `${firstOrigin}${suffix}`;
  const secretKey = deriveSeed(seed, "agent-relay log v1");
  const witness = {
    name: `${origin}/witness`,
    secretKey: deriveSeed(seed, `agent-relay witness v1${suffix}`),
  };
  return {
    origin,
    secretKey,
    logKey: buildVerifierKey(origin, KEY_TYPES.log, getPublicKey(secretKey)),
    witness,
    witnessKey: buildVerifierKey(witness.name, KEY_TYPES.witness, getPublicKey(witness.secretKey)),
  };
}
