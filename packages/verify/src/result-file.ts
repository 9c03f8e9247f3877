import { parseResultReference } from "@agent/receipts";
import { mergeChecks } from "./assign-proof-levels.ts";
import type { ResultFileRefusal } from "./refusals.ts";
import type { Verdict } from "./verdict.ts";

/** A file's SHA-256 in lower-case hex and its length in bytes. */
export interface FileDigest {
  readonly sha256: string;
  readonly bytes: number;
}

/**
 * Returns the verdict on a receipt or a bundle together with the file that its result refers to.
 * Refuses a valid artifact with `result.no_reference` if the result is not a reference to a file,
 * with `result.file_mismatch` if the file has another hash or length.
 *
 * @param artifact the parsed artifact that the verdict is about
 */
export function verifyResultFile(verdict: Verdict, artifact: unknown, file: FileDigest): Verdict {
  if (!verdict.valid) return verdict;
  const code = findFault(getResult(verdict, artifact), file);
  const check = { name: "hashes_match" as const, ok: code === undefined };
  const checks = mergeChecks([...verdict.checks, code === undefined ? check : { ...check, code }]);
  return code === undefined
    ? { ...verdict, checks }
    : { ...verdict, valid: false as const, code, checks };
}

function findFault(result: unknown, file: FileDigest): ResultFileRefusal | undefined {
  const read = typeof result === "string" ? parseResultReference(result) : undefined;
  if (read?.ok !== true) return "result.no_reference";
  const { sha256, bytes } = read.reference;
  return sha256 === file.sha256 && bytes === file.bytes ? undefined : "result.file_mismatch";
}

function getResult({ kind }: Verdict, artifact: unknown): unknown {
  if (kind !== "receipt" && kind !== "bundle") return undefined;
  const { receipt, result } = artifact as { receipt?: { result?: unknown }; result?: unknown };
  return kind === "bundle" ? receipt?.result : result;
}
