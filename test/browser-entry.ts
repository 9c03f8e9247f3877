// What a page would bundle: the verifiers of the published packages.
export { verifyCredential } from "@agent/credentials";
export { verifyReceipt } from "@agent/receipts";
export { verifyArtifact } from "@agent/verify";
