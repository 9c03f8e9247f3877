export type { KeyPair } from "./ed25519-portable.ts";
export { generateKeyPair, publicKeyOf, sign, verify, verifyAsync } from "./ed25519-portable.ts";
