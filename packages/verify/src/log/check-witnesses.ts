import { openCheckpoint, type VerifierKey } from "@agent/transparency";
import type { LogOptions } from "../artifacts/options.ts";
import type { LogRefusal } from "../refusals.ts";
import type { CheckResult } from "../verdict.ts";

/** The check of one proof level, and the code of a refusal. */
export interface LogCheck {
  readonly check: CheckResult;
  readonly code?: LogRefusal;
}

export function passLevel(name: "logged" | "witnessed"): LogCheck {
  return { check: { name, ok: true } };
}

export function refuseLevel(name: "logged" | "witnessed", code: LogRefusal): LogCheck {
  return { check: { name, ok: false, code }, code };
}

/**
 * Checks that the named witnesses cosigned a checkpoint; undefined if none was named. Without a checkpoint,
 * the quorum is missing (`log.quorum_missing`).
 */
export function checkWitnesses(
  checkpoint: { readonly text: string; readonly logKey: VerifierKey } | undefined,
  { witnesses = [], quorum = 1 }: LogOptions,
): LogCheck | undefined {
  if (witnesses.length === 0) return undefined;
  if (checkpoint === undefined) return refuseLevel("witnessed", "log.quorum_missing");
  const { text, logKey } = checkpoint;
  // A head without a cosignature must never be reported as witnessed.
  const opened = openCheckpoint(text, { logKey, witnesses, quorum: Math.max(1, quorum) });
  return opened.ok ? passLevel("witnessed") : refuseLevel("witnessed", opened.code);
}
