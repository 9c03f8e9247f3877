export { BoundedMap, type EntryLifetime } from "./bounded-map.ts";
export { bytesToUtf8, concatBytes, equalBytes, utf8ToBytes } from "./bytes.ts";
export {
  canonicalize,
  CanonicalJsonError,
  canonicalizeSigned,
  type SignedTexts,
} from "./json/canonical-json.ts";
export { didKeyToPublicKey, hexToDidKey, publicKeyToDidKey } from "./keys/did-key.ts";
export type { KeyPair } from "./ed25519/ed25519-portable.ts";
export { isAcceptablePublicKey } from "./ed25519/ed25519-rules.ts";
export { formatError } from "./format-error.ts";
export {
  bytesToHex,
  EncodingError,
  fromBase58Btc,
  fromBase64,
  fromBase64Url,
  HEX_OF_32_BYTES,
  hexToBytes,
  toBase58Btc,
  toBase64,
  toBase64Url,
} from "./formats.ts";
export { isJsonObject, isPlainObject, type JsonMembers } from "./json/json-object.ts";
export { deriveSeed } from "./keys/derive-seed.ts";
export { type JsonTextFault, parseJsonText, readJsonText } from "./json/json-text.ts";
export type { AgentIdKeyCode } from "./keys/key-id.ts";
export { deriveAgentId, isAgentIdOfKey, isKeyDerivedId, verifyAgentIdKey } from "./keys/key-id.ts";
export {
  buildRefusal,
  type Check,
  type CheckOutcome,
  type CheckRun,
  completeChecks,
  completeChecksAsync,
  runChecks,
  runLocalChecks,
  toVerdict,
} from "./run-checks.ts";
export { signJson, verifyJson, verifyJsonAsync, verifyJsonByAny } from "./json/signed-json.ts";
export {
  MAX_RELAY_KEYS,
  type RelayChainCode,
  type RelayChainResult,
  type RelaySuccessionRecord,
  type SignRelaySuccessionOptions,
  signRelaySuccession,
  findStepsAfter,
  verifyRelaySuccession,
} from "./succession/relay-succession.ts";
export type { SignSuccessionOptions, SuccessionRecord } from "./succession/succession.ts";
export { signSuccession } from "./succession/succession.ts";
export { unlessMalformed } from "./unless-malformed.ts";
export { SUITE } from "./suite.ts";
export { isUuid, uuidV7 } from "./keys/uuid-v7.ts";
export type {
  SuccessionChainOptions,
  SuccessionChainResult,
} from "./succession/verify-succession-chain.ts";
export { verifySuccessionChain } from "./succession/verify-succession-chain.ts";
export type {
  SuccessionCode,
  SuccessionContext,
  SuccessionResult,
} from "./succession/verify-succession.ts";
export { verifySuccession } from "./succession/verify-succession.ts";
export type { CheckResult, Verdict } from "./verdict.ts";
export { generateKeyPair, getPublicKey, sign, verify, verifyAsync } from "#ed25519";
export { sha256, sha256Hex } from "#sha256";
