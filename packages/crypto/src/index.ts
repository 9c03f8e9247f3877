export { concatBytes, equalBytes, utf8ToBytes } from "./bytes.ts";
export {
  canonicalize,
  CanonicalJsonError,
  canonicalizeSigned,
  type SignedTexts,
} from "./canonical-json.ts";
export { didKeyToPublicKey, publicKeyToDidKey } from "./did-key.ts";
export type { KeyPair } from "./ed25519-portable.ts";
export { isAcceptablePublicKey } from "./ed25519-rules.ts";
export {
  bytesToHex,
  EncodingError,
  fromBase58Btc,
  fromBase64Url,
  hexToBytes,
  toBase58Btc,
  toBase64Url,
} from "./formats.ts";
export { parseJsonText } from "./json-text.ts";
export type { AgentIdKeyCode } from "./key-id.ts";
export { deriveAgentId, isAgentIdOfKey, isKeyDerivedId, verifyAgentIdKey } from "./key-id.ts";
export { signJson, verifyJson, verifyJsonAsync } from "./signed-json.ts";
export {
  MAX_RELAY_KEYS,
  type RelayChainCode,
  type RelayChainResult,
  type RelaySuccessionRecord,
  type SignRelaySuccessionOptions,
  signRelaySuccession,
  findStepsAfter,
  verifyRelaySuccession,
} from "./relay-succession.ts";
export type { SignSuccessionOptions, SuccessionRecord } from "./succession.ts";
export { signSuccession } from "./succession.ts";
export { SUITE } from "./suite.ts";
export { isUuid, uuidV7 } from "./uuid-v7.ts";
export type { SuccessionChainOptions, SuccessionChainResult } from "./verify-succession-chain.ts";
export { verifySuccessionChain } from "./verify-succession-chain.ts";
export type { SuccessionCode, SuccessionContext, SuccessionResult } from "./verify-succession.ts";
export { verifySuccession } from "./verify-succession.ts";
export type { CheckResult, Verdict } from "./verdict.ts";
export { generateKeyPair, getPublicKey, sign, verify, verifyAsync } from "#ed25519";
export { sha256, sha256Hex } from "#sha256";
