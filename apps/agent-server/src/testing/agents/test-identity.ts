import { bytesToHex, generateKeyPair, uuidV7 } from "@agent/crypto";
import { signIdentityFile } from "../../identity/identity-file.ts";
import type { Identity } from "../../identity/identity.ts";

/** Creates a new identity that is not stored. */
export function createTestIdentity(name = "tester"): Identity {
  const { publicKey: key, secretKey } = generateKeyPair();
  const publicKey = bytesToHex(key);
  const agentId = uuidV7(Date.now(), crypto.getRandomValues(new Uint8Array(10)));
  const members = { agentId, publicKey, agentType: "service", name, createdAt: Date.now() };
  const file = signIdentityFile(members, secretKey);
  return { agentId, publicKey, did: file.did, secretKey, file };
}
