/**
 * Descriptions of members of signed documents, by their path. Their schemas are in other packages, which do
 * not know this contract.
 */
export const signedDocuments: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ExecutionReceipt: {
    status: "The status of the task as its executor states it; `denied` if it refused the task.",
    result:
      "The result as text, or as the JSON text of a reference to a file; otherwise the reason why there is none.",
    delegation_receipts:
      "The receipts of the tasks that the executor delegated for this one, at most 256 with those nested in them.",
  },
  VerifiableCredential: {
    id: "The id of the credential, a URI; absent if its issuer gave it none.",
    type: "The types, `VerifiableCredential` among them.",
    issuer: "The did:key of the signer.",
    validUntil: "The end of the validity in ISO 8601; absent without an end.",
    "credentialSubject.id": "The did:key of the subject.",
    proof: "The Data Integrity proof, which signs all other members.",
    "proof.type": "The type of the proof, `DataIntegrityProof`.",
    "proof.challenge": "The verifier's challenge against replays; only for a presentation.",
    "proof.@context": "The `@context` of the document, which a proof may repeat.",
  },
  ExecutionLedger: {
    plan_id: "The id of the plan; empty if no plan is known.",
    completed_at: "The time of completion, in ms since the Unix epoch; null or absent until then.",
    status: "The progress of the goal.",
    signature:
      "The Ed25519 signature in base64url of the bytes of `content_hash`; absent if a relay built the ledger.",
    "timeline.type": "The kind of the event.",
    "timeline.payload": "The payload of the event, which depends on its type.",
    "timeline.payload.title": "The title of the plan.",
    "timeline.payload.description": "The text of the step.",
    "timeline.payload.ok": "Whether the tool call succeeded.",
    "timeline.payload.duration_ms": "The time that the tool call took, in ms.",
    "timeline.payload.error": "The reason why the step failed; absent if it is not stated.",
    "timeline.payload.status": "The final progress of the goal; absent if it is not stated.",
    steps: "The steps; the signature covers the events, not the steps.",
    "steps.description": "The text of the step.",
    "steps.status": "The progress of the step.",
    "steps.started_at":
      "The time of the start, in ms since the Unix epoch; null or absent until then.",
    "steps.completed_at":
      "The time of the end, in ms since the Unix epoch; null or absent until then.",
    delegation_receipts: "Summaries of the receipts of delegated tasks, which prove nothing alone.",
    "delegation_receipts.status": "The `status` of the receipt.",
  },
};
