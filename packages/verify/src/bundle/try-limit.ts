import {
  canonicalizeSigned,
  fromBase64Url,
  hexToBytes,
  unlessMalformed,
  verify,
} from "@agent/crypto";
import { getIssuerKey, listSigningKeys } from "@agent/receipts";
import type { KeyLookup } from "./key-lookup.ts";

/**
 * The maximum number of keys tried under one limit. A signature that only one key can have made needs no
 * try.
 */
const MAX_KEY_TRIES = 4_096;

/** A long text takes longer to verify, so each 64 KiB of it, rounded up, count as one try. */
const TRY_LENGTH = 65_536;

/** A part of a bundle with its signature. */
interface Signed {
  readonly signature: string;
}

/**
 * Returns at most one of the keys, the one that may have signed. If that key did not sign, none of the keys
 * did.
 */
export type NarrowKeys = (signed: Signed, keys: readonly string[]) => readonly string[];

/**
 * Returns a function that narrows keys to the one that signed. Without a limit, a small file with many
 * signatures that name no key, of a signer with many keys, would take minutes to verify. Once no tries are
 * left, a part counts as signed by none of the keys. All parts that one function narrows share its tries.
 */
export function createTryLimit(): NarrowKeys {
  const known = new Map<Signed, SignatureTrial>();
  let triesLeft = MAX_KEY_TRIES;

  function isSignedBy(trial: SignatureTrial, key: string): boolean {
    const before = trial.results.get(key);
    if (before !== undefined) return before;
    const cost = Math.ceil(trial.signedText.length / TRY_LENGTH);
    if (cost > triesLeft) return false;
    triesLeft -= cost;
    const isSigned = verify(trial.signature, trial.signedText, hexToBytes(key));
    trial.results.set(key, isSigned);
    return isSigned;
  }

  return (signed, keys) => {
    if (keys.length < 2) return keys;
    const trial = known.get(signed) ?? buildTrial(signed);
    if (trial === undefined) return keys.slice(0, 1);
    known.set(signed, trial);
    const signing = keys.find((key) => isSignedBy(trial, key));
    // A single key that did not sign leads to the same refusal as all of them.
    return signing === undefined ? keys.slice(0, 1) : [signing];
  };
}

/** Narrows a lookup of the keys of receipts; a key that a receipt names needs no try. */
export function narrowLookup(listKeys: KeyLookup, narrow: NarrowKeys): KeyLookup {
  return (receipt) => {
    const keys = listKeys(receipt);
    const named = receipt.public_key;
    return named !== undefined && keys.includes(named) ? [named] : narrow(receipt, keys);
  };
}

/**
 * Narrows a relay's keys to the issuer of a record and the key that signed it; only the latter costs tries.
 */
export function narrowRelayKeys(
  record: Signed & { readonly issuer: string },
  relayKeys: readonly string[],
  narrow: NarrowKeys,
): readonly string[] {
  const kept = [getIssuerKey(record), ...narrow(record, listSigningKeys(record, { relayKeys }))];
  return relayKeys.filter((key) => kept.includes(key));
}

/** A signature and the keys that were tried for it. */
interface SignatureTrial {
  readonly signature: Uint8Array;
  readonly signedText: string;
  readonly results: Map<string, boolean>;
}

function buildTrial(signed: Signed): SignatureTrial | undefined {
  return unlessMalformed(() => ({
    signature: fromBase64Url(signed.signature),
    signedText: canonicalizeSigned(signed).signedText,
    results: new Map<string, boolean>(),
  }));
}
