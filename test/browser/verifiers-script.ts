// The verifiers of the published packages, bundled as a page would bundle them.
export { verifyCredential } from "@agent/credentials";
export { verifyReceipt } from "@agent/receipts";
export { verifyArtifact } from "@agent/verify";
export { checkLogVectors } from "../check-log-vectors.ts";
