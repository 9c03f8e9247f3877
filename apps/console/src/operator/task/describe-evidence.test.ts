import { PROOF_LEVELS, type Verdict } from "@agent/verify";
import { expect, test } from "vitest";
import { describeEvidence } from "./describe-evidence.ts";

const receipt: Verdict = {
  kind: "receipt",
  valid: true,
  checks: [{ name: "well_formed", ok: true }],
  nested: [],
};
const bundle: Verdict = {
  kind: "bundle",
  valid: true,
  checks: [
    { name: "well_formed", ok: true },
    { name: "intact", ok: true },
  ],
  nested: [receipt],
};
const withWarning = (verdict: Verdict): Verdict => ({
  ...verdict,
  checks: [...verdict.checks, { name: "hop_bound", ok: false, code: "bundle.hop_foreign" }],
});

test("evidence in which every check holds is described as verified", () => {
  expect(describeEvidence(bundle)).toEqual({
    tone: "good",
    sentence: "✓ Verified in this browser: all 3 checks of the evidence hold",
  });
});

test.each([
  ["of the evidence", withWarning(bundle)],
  ["of a receipt inside it", { ...bundle, nested: [withWarning(receipt)] }],
])("D18: valid evidence with a failed check %s is not described as verified", (_, verdict) => {
  const { tone, sentence } = describeEvidence(verdict);
  expect(tone).toBe("doubt");
  const title = PROOF_LEVELS.find(({ name }) => name === "hop_bound")?.title;
  expect(sentence).toBe(`! Signed by this relay, but this does not hold: ${title}`);
});

test("refused evidence is shown with the code of its refusal", () => {
  const refused: Verdict = { ...bundle, valid: false, code: "bundle.signature_invalid" };
  expect(describeEvidence(refused)).toEqual({
    tone: "bad",
    sentence: "✗ Refused in this browser: bundle.signature_invalid",
  });
});
