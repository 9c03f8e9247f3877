import { openCheckpoint } from "@agent/transparency";
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
 * Checks that the witnesses that the verifier named cosigned a checkpoint; undefined if it demands none.
 * Without a checkpoint, the quorum is missing (`log.quorum_missing`). Without the key of the log that they must
 * have cosigned, it is refused (`log.key_unknown`), because the relay could show them a different log from the one
 * that it states.
 */
export function checkWitnesses(
  checkpoint: string | undefined,
  { logKey, witnesses = [], quorum = Math.min(1, witnesses.length) }: LogOptions,
): LogCheck | undefined {
  if (witnesses.length === 0 && quorum <= 0) return undefined;
  if (checkpoint === undefined) return refuseLevel("witnessed", "log.quorum_missing");
  if (logKey === undefined) return refuseLevel("witnessed", "log.key_unknown");
  // A head without a cosignature must never be reported as witnessed.
  const opened = openCheckpoint(checkpoint, { logKey, witnesses, quorum: Math.max(1, quorum) });
  return opened.ok ? passLevel("witnessed") : refuseLevel("witnessed", opened.code);
}
