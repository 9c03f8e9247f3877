import {
  HEX_OF_32_BYTES,
  hexToBytes,
  hexToDidKey,
  signJson,
  SUITE,
  verifyJson,
} from "@agent/crypto";
import * as v from "valibot";

const IdentityFileSchema = v.looseObject({
  agent_id: v.string(),
  public_key: v.pipe(v.string(), v.regex(HEX_OF_32_BYTES)),
  did: v.string(),
  agent_type: v.string(),
  name: v.string(),
  created_at: v.number(),
  suite: v.literal(SUITE),
  signature: v.string(),
});

/** The public identity of an agent, signed by the key that it names (docs/decisions.md, 10). */
export type IdentityFile = v.InferOutput<typeof IdentityFileSchema>;

export function signIdentityFile(
  members: {
    agentId: string;
    publicKey: string;
    agentType: string;
    name: string;
    createdAt: number;
  },
  secretKey: Uint8Array,
): IdentityFile {
  return signJson(
    {
      agent_id: members.agentId,
      public_key: members.publicKey,
      did: hexToDidKey(members.publicKey),
      agent_type: members.agentType,
      name: members.name,
      created_at: members.createdAt,
      suite: SUITE,
    } as const,
    secretKey,
  );
}

/**
 * Parses an identity file; returns null when it is malformed or was changed after it was signed.
 */
export function parseIdentityFile(text: string): IdentityFile | null {
  try {
    const parsed = v.safeParse(IdentityFileSchema, JSON.parse(text));
    if (!parsed.success) return null;
    return verifyJson(parsed.output, hexToBytes(parsed.output.public_key)) ? parsed.output : null;
  } catch {
    return null;
  }
}
