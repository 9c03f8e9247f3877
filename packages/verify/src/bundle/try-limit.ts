import { fromBase64Url, hexToBytes, unlessMalformed, verify } from "@agent/crypto";
import { type ExecutionReceipt, parseReceipt } from "@agent/receipts";
import type { KeyLookup } from "./key-lookup.ts";

/**
 * The keys that are tried for all receipts of a bundle together, each receipt with all of its agent's
 * keys; one that names a key of its agent needs no try.
 */
const MAX_KEY_TRIES = 4_096;

/** A longer text takes longer to verify, so it counts as one try for each begun 64 KiB. */
const TRY_LENGTH = 65_536;

/**
 * Returns a function that narrows a lookup to the one key that signed. Without it, a small file with
 * many receipts that name no key, of an agent with many keys, would take minutes to verify. A receipt for
 * which no tries are left counts as signed by none of the keys, which refuses no receipt around it: an
 * executor must not make evidence invalid by what it adds. All lookups that one function narrowed share
 * its tries.
 */
export function createTryLimit(): (listKeys: KeyLookup) => KeyLookup {
  const known = new Map<ExecutionReceipt, SignatureTrial>();
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

  return (listKeys) => (receipt) => {
    const keys = listKeys(receipt);
    const named = receipt.public_key;
    if (named !== undefined && keys.includes(named)) return [named];
    const trial = known.get(receipt) ?? buildTrial(receipt);
    if (trial === undefined) return keys.slice(0, 1);
    known.set(receipt, trial);
    const signing = keys.find((key) => isSignedBy(trial, key));
    // One key that did not sign leads to the same refusal as all of them.
    return signing === undefined ? keys.slice(0, 1) : [signing];
  };
}

/** A receipt's signature and the keys that were tried for it. */
interface SignatureTrial {
  readonly signature: Uint8Array;
  readonly signedText: string;
  readonly results: Map<string, boolean>;
}

function buildTrial(receipt: ExecutionReceipt): SignatureTrial | undefined {
  const parsed = parseReceipt(receipt);
  if (!parsed.ok) return undefined;
  const signature = unlessMalformed(() => fromBase64Url(receipt.signature));
  return signature && { signature, signedText: parsed.signedText, results: new Map() };
}
