import { sha256 } from "#sha256";
import { bytesToHex, EncodingError, HEX_OF_32_BYTES, hexToBytes } from "../formats.ts";
import { getOldKey } from "../succession/succession.ts";
import type { SuccessionCode } from "../succession/verify-succession.ts";
import { verifySuccessionChain } from "../succession/verify-succession-chain.ts";
import { isUuid } from "./uuid-v7.ts";

/**
 * Derives the agent id of a public key (64 lower-case hex digits): a UUID of version 8 (RFC 9562)
 * from the first 16 bytes of the SHA-256 of these digits as text. Throws EncodingError on any other
 * encoding of a key, because it would lead to another id.
 */
export function deriveAgentId(publicKey: string): string {
  if (!HEX_OF_32_BYTES.test(publicKey)) throw new EncodingError("not 64 lower-case hex digits");
  const bytes = sha256(publicKey).slice(0, 16);
  bytes[6] = 0x80 | (bytes[6]! & 0x0f);
  bytes[8] = 0x80 | (bytes[8]! & 0x3f);
  return bytesToHex(bytes).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/** Returns whether an agent id was derived from a key; false if either is malformed. */
export function isAgentIdOfKey(agentId: string, publicKey: string): boolean {
  return HEX_OF_32_BYTES.test(publicKey) && deriveAgentId(publicKey) === agentId;
}

/** Returns whether an id is a UUID of version 8, whose first key must be the key that it was derived from. */
export function isKeyDerivedId(agentId: string): boolean {
  return isUuid(agentId) && agentId[14] === "8";
}

/** The codes with which `verifyAgentIdKey` refuses a key. */
export type AgentIdKeyCode = "agent.id_not_of_key" | SuccessionCode;

/**
 * Verifies that a key is the current one of an id of version 8: the key that the id was derived
 * from, or the end of a chain of succession records, oldest first, that begins with it. Refuses
 * with `agent.id_not_of_key`, or with the code of the first invalid record.
 */
export function verifyAgentIdKey(
  agentId: string,
  publicKey: string,
  chain: readonly unknown[],
): { readonly ok: true } | { readonly ok: false; readonly code: AgentIdKeyCode } {
  const first = chain.length === 0 ? publicKey : getOldKey(chain[0]);
  if (first === undefined || !isAgentIdOfKey(agentId, first)) {
    return { ok: false, code: "agent.id_not_of_key" };
  }
  const verified = verifySuccessionChain(chain, { agentId, firstPublicKey: hexToBytes(first) });
  if (!verified.ok) return { ok: false, code: verified.code };
  const endsAtKey = bytesToHex(verified.currentPublicKey) === publicKey;
  return endsAtKey ? { ok: true } : { ok: false, code: "agent.id_not_of_key" };
}
