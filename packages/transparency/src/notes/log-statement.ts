import {
  hexToBytes,
  isJsonObject,
  signJson,
  SUITE,
  unlessMalformed,
  verifyJson,
} from "@agent/crypto";
import {
  formatVerifierKey,
  KEY_TYPES,
  parseVerifierKey,
  type VerifierKey,
} from "./verifier-key.ts";

/** A relay's statement about its log and its witness, in its identity document. */
export interface LogStatement {
  readonly relay_id: string;
  readonly origin: string | null;
  readonly vkey: string | null;
  readonly prefix: string | null;
  readonly witness_vkey: string | null;
  readonly witness_prefix: string | null;
  readonly suite: string;
  readonly signature: string;
}

/** A key and the address under which its owner answers; null if the owner has no public address. */
export interface KeyAddress {
  readonly key: VerifierKey;
  /** An absolute URL without a trailing slash. */
  readonly prefix: string | null;
}

/** The halves of a statement; one that is off is null. */
export interface StatedLog {
  readonly log: KeyAddress | null;
  readonly witness: KeyAddress | null;
}

/** The log that a verified statement names, or the code of its refusal. */
export type OpenLogStatementResult =
  | ({ readonly ok: true } & StatedLog)
  | { readonly ok: false; readonly code: "log.malformed" | "log.signature_invalid" };

/** Signs a statement with the relay's own key. */
export function signLogStatement(
  relayId: string,
  { log, witness }: StatedLog,
  secretKey: Uint8Array,
): LogStatement {
  const body = {
    relay_id: relayId,
    origin: log?.key.name ?? null,
    vkey: log === null ? null : formatVerifierKey(log.key),
    prefix: log?.prefix ?? null,
    witness_vkey: witness === null ? null : formatVerifierKey(witness.key),
    witness_prefix: witness?.prefix ?? null,
    suite: SUITE,
  };
  return signJson(body, secretKey);
}

/**
 * Verifies a relay's statement by the relay's key, 64 hex digits. Whatever is no statement of that relay
 * is `log.malformed`, also keys of another type or of another origin.
 */
export function openLogStatement(
  value: unknown,
  { relayId, publicKey }: { readonly relayId: string; readonly publicKey: string },
): OpenLogStatementResult {
  const malformed = { ok: false, code: "log.malformed" } as const;
  if (!isJsonObject(value)) return malformed;
  const { relay_id, origin, suite } = value;
  const log = readKeyAddress(value["vkey"], value["prefix"], KEY_TYPES.log);
  const witness = readKeyAddress(value["witness_vkey"], value["witness_prefix"], KEY_TYPES.witness);
  if (relay_id !== relayId || suite !== SUITE || log === undefined || witness === undefined) {
    return malformed;
  }
  if (origin !== (log?.key.name ?? null)) return malformed;
  const bytes = unlessMalformed(() => hexToBytes(publicKey));
  return bytes !== undefined && verifyJson(value, bytes)
    ? { ok: true, log, witness }
    : { ok: false, code: "log.signature_invalid" };
}

/** Reads one half of a statement: null where it is off, undefined where it has another form. */
function readKeyAddress(
  vkey: unknown,
  prefix: unknown,
  type: VerifierKey["type"],
): KeyAddress | null | undefined {
  if (prefix !== null && !isAddress(prefix)) return undefined;
  if (vkey === null) return prefix === null ? null : undefined;
  if (typeof vkey !== "string") return undefined;
  const parsed = parseVerifierKey(vkey, type);
  return parsed.ok ? { key: parsed.key, prefix } : undefined;
}

const MAX_ADDRESS_CHARACTERS = 2_048;

function isAddress(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value.length <= MAX_ADDRESS_CHARACTERS &&
    /^https?:\/\/[^\s?#]*[^\s?#/]$/u.test(value)
  );
}
