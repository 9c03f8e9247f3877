import { parseCheckpoint, parseLogEntry, parseProofFile } from "@agent/transparency";
import type { Claim } from "./claim.ts";
import { formatCount, formatTime, toPrintable } from "./format.ts";

/** Describes a checkpoint; its verdict says whether the log signed it. */
export function describeCheckpoint(text: string): Claim {
  const parsed = parseCheckpoint(text);
  const { origin, size } = parsed.ok ? parsed.head : { origin: "unknown", size: 0 };
  return {
    statement: `log ${toPrintable(origin)} had ${formatCount(size, "entry", "entries")}`,
    details: [],
    signer: `log ${toPrintable(origin)}`,
    key: null,
  };
}

/** Describes the entry of a proof file by its kind and its time. */
export function describeLogProof(text: string): Claim {
  const file = parseProofFile(text);
  const parsed = file.ok && file.entry !== null ? parseLogEntry(file.entry) : undefined;
  const head = describeCheckpoint(file.ok ? file.checkpoint : "");
  if (!file.ok || parsed?.ok !== true) return head;
  const { kind, kindNumber, time, artifactHash } = parsed.entry;
  const name = kind?.replace("_", " ") ?? `kind ${kindNumber}`;
  return {
    ...head,
    statement: `${head.signer} holds the ${name} with hash ${artifactHash} at index ${file.index}`,
    details: [`entered ${formatTime(time)}`, head.statement],
  };
}
