import { canonicalize } from "@agent/crypto";
import { verifyArtifact } from "@agent/verify";
import { EXPECTED_SELLER_BALANCE, type DecidedDispute } from "../participants/dispute-summary.ts";
import { allHold, type DemoCheck } from "./demo-check.ts";

/** Checks what a decided dispute paid, and its evidence, without any request. */
export function checkDispute(
  { inspection, sellerBalance }: DecidedDispute,
  evidenceText: string,
  isConsistent: boolean,
): DemoCheck[] {
  const { state, outcome, verdicts } = inspection;
  const raised = evidenceText.replace(/"due":2\b/, '"due":2.000001');
  return [
    {
      claim: "A rejected and contested result was decided, and paid by the share",
      passed: allHold([
        state === "closed",
        outcome?.outcome === "decided",
        verdicts.length === 2,
        sellerBalance === EXPECTED_SELLER_BALANCE,
        isConsistent,
      ]),
    },
    {
      claim: "The evidence of the dispute verifies offline, and not with a micro-unit more",
      passed: allHold([
        verifyArtifact(evidenceText).valid,
        raised !== evidenceText,
        !verifyArtifact(raised).valid,
      ]),
    },
  ];
}

/** Formats evidence as it was signed. */
export function formatEvidence({ evidence }: DecidedDispute): string {
  return canonicalize(evidence);
}
