/** Descriptions of members of signed evidence: receipts, verdicts, ledgers and credentials, by name. */
export const evidenceMembers: Readonly<Record<string, string>> = {
  "@context": "The JSON-LD contexts, the W3C credentials context first.",
  created: "The time of the signature in ISO 8601.",
  credentialSubject: "The subject with its did:key as `id`, and the claims about it.",
  cryptosuite: "The name of the cryptosuite, `eddsa-jcs-2022`.",
  domain: "The audience that a presentation is made for.",
  expires: "The end of the proof's validity in ISO 8601.",
  offer: "The share of the amount due that a submitter offers when it rejects, from 0 to below 1.",
  previousProof: "Not supported, because a document has one proof.",
  proofPurpose: "The purpose of the proof, `assertionMethod` for credentials.",
  proofValue: "`z` and the Ed25519 signature in base58btc.",
  reason: "The reason.",
  spec: "The version of the ledger's format.",
  terms: "The terms of the inspection.",
  timeline: "The events of the goal, ordered by time.",
  tool_calls_made: "The number of tool calls of the step.",
  total_steps: "The number of steps of the plan.",
  validFrom: "The beginning of the validity in ISO 8601.",
  validUntil: "The end of the validity in ISO 8601.",
  verdict:
    "The verdict: accepted or rejected by the submitter, conceded or contested by the executor.",
  verificationMethod: "The signer's did:key, `#`, and the part after `did:key:` again.",
};
