import { createPublicKey, generateKeyPairSync, sign, verify } from "node:crypto";

const repeats = 2_000;

/** Processor seconds of one native Ed25519 verification of 1.5 KB, the unit that costs are told in. */
export function verifySeconds(): number {
  const { privateKey } = generateKeyPairSync("ed25519");
  const publicKey = createPublicKey(privateKey);
  const message = Buffer.alloc(1_500, "x");
  const signature = sign(null, message, privateKey);
  const before = process.cpuUsage();
  for (let i = 0; i < repeats; i += 1) verify(null, message, publicKey, signature);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6 / repeats;
}
