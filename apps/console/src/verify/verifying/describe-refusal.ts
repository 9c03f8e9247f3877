import { PROOF_LEVELS, type ProofLevelName, type Verdict } from "@agent/verify";

/** The reason for a refusal in words, and the advice to the reader. */
interface RefusalText {
  readonly reason: string;
  readonly remedy?: string;
}

const texts: Readonly<Record<string, RefusalText>> = {
  "artifact.key_unbound": {
    reason: "It was signed by a key that you did not name for its signer.",
    remedy: "Compare the key below with the one that you have, and with its source.",
  },
  "artifact.unrecognised": {
    reason: "Agents and relays sign no files of this kind.",
    remedy: "Ask the sender for the evidence of the task, exactly as the relay sent it.",
  },
  "artifact.unreadable": {
    reason: "The file cannot be read.",
    remedy: "Ask for the original file. A copy from a message or a viewer is often cut.",
  },
  "bundle.not_canonical": {
    reason: "The text was reformatted after it was signed.",
    remedy: "Ask for the original file: a single added space or line break makes it invalid.",
  },
  "bundle.signature_invalid": {
    reason: "Something in it was changed after the relay signed it.",
    remedy: "Do not rely on it. Ask the relay for the evidence of this task.",
  },
  "receipt.signature_invalid": {
    reason: "The receipt is not the one that the agent signed.",
    remedy: "Do not rely on it. Ask the agent or the relay for the receipt.",
  },
  "receipt.task_mismatch": { reason: "The receipt was signed for another task." },
  "bundle.key_not_in_force": { reason: "It was signed with a key that was not in force." },
  "bundle.postings_mismatch": { reason: "The postings do not add up to the payment." },
  "bundle.settlement_mismatch": { reason: "The settlement is not that of this receipt." },
  "bundle.erased": {
    reason: "The texts were erased at the relay, so the receipt cannot be verified.",
    remedy: "A file from before the erasure stays valid.",
  },
  "log.key_unknown": {
    reason: "It needs the key of a transparency log.",
    remedy:
      "Name the log's key under “Log and witnesses”. Get it from a source other than the file.",
  },
  "log.entry_missing": {
    reason: "Nothing here proves that it is in the log that you named.",
    remedy: "Ask the relay for new evidence or for the proof file.",
  },
  "log.quorum_missing": {
    reason: "Fewer of the witnesses that you named have signed the log than you require.",
    remedy: "Do not rely on it until they have: the relay may show others a different log.",
  },
};

/** An unchanged receipt whose key was not named is refused with the same code as a changed one. */
const FOREIGN_RECEIPT: RefusalText = {
  reason: "It was signed by a key that you did not name for its agent.",
  remedy:
    "A relay signs no receipts: compare the key below with the one of the agent, or ask for the evidence of the task.",
};

/** Describes the failed level by the claim that it would have proven. */
export function describeRefusal(verdict: Verdict): RefusalText {
  const failed = findFailedLevel(verdict);
  const isForeign = verdict.code === "receipt.signature_invalid" && failed === "key_bound";
  const known = isForeign ? FOREIGN_RECEIPT : texts[verdict.code ?? ""];
  if (known !== undefined) return known;
  const level = PROOF_LEVELS.find(({ name }) => name === failed);
  return { reason: `This does not hold: ${level?.proves ?? "it is an artifact of a known kind."}` };
}

/** Finds the decisive level: the one with the verdict's code, or otherwise the first that failed. */
export function findFailedLevel({ checks, code }: Verdict): ProofLevelName | undefined {
  const failed = checks.filter(({ ok }) => !ok);
  return (failed.find((check) => check.code === code) ?? failed[0])?.name;
}
