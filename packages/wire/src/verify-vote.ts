import { hexToBytes, verifyJson } from "@agent/crypto";
import {
  buildApprovalVote,
  buildLegacyApprovalVote,
  type ApprovalBallot,
  type ApprovalSubject,
} from "./operations/tasks/approvals.ts";

export interface SignedVote extends ApprovalBallot {
  readonly signature: string;
}

/**
 * Verifies that a vote is signed over exactly this call with one key of the approver (64 hex digits): its
 * own, or that of the device with which its owner votes. The verifier of a quorum names one key per
 * approver and does not trust a relay to name others, so signatures of any other key are refused: with
 * `approval.vote_outdated` if the key signed the old form without tool and relay, otherwise with
 * `approval.signature_invalid`.
 */
export function verifyVote(
  subject: ApprovalSubject,
  { signature, ...ballot }: SignedVote,
  publicKey: string,
):
  | { readonly ok: true }
  | {
      readonly ok: false;
      readonly code: "approval.signature_invalid" | "approval.vote_outdated";
    } {
  const key = hexToBytes(publicKey);
  const isSigned = (body: object) => verifyJson({ ...body, signature }, key);
  if (isSigned(buildApprovalVote(subject, ballot))) return { ok: true };
  const isOutdated = isSigned(buildLegacyApprovalVote(subject, ballot));
  return { ok: false, code: isOutdated ? "approval.vote_outdated" : "approval.signature_invalid" };
}
