export type { KeyPair } from "./ed25519/ed25519-portable.ts";
export {
  generateKeyPair,
  getPublicKey,
  sign,
  verify,
  verifyAsync,
} from "./ed25519/ed25519-portable.ts";
