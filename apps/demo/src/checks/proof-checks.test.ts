import { expect, test } from "vitest";
import { verifyOffline, findFailedCheck } from "./verify-offline.ts";
import { checkProof, type ProofInput } from "./proof-checks.ts";
import { buildDelegation, keys, PROMPT, relayKey } from "../testing/paid-delegation.ts";

const delegation = buildDelegation();

function verdictsOn({ receipt } = delegation, known: ReadonlyMap<string, string> = keys) {
  const receiptText = JSON.stringify(receipt);
  return verifyOffline(
    { receiptText, keys: known, taskId: "task-outer", prompt: PROMPT },
    receipt.result,
  );
}

const right: ProofInput = { delegation, prompt: PROMPT, verdicts: verdictsOn(), relayKey };

const failed = (proof: ProofInput) =>
  checkProof(proof)
    .filter(({ passed: held }) => !held)
    .map(({ claim }) => claim);

test("all checks pass for correct proofs", () => {
  expect(failed(right)).toEqual([]);
  expect(findFailedCheck(right.verdicts.asSigned)).toBeUndefined();
});

const strangers = new Map([...keys].map(([agentId]) => [agentId, relayKey]));
const { asSigned } = right.verdicts;
const miscounted = buildDelegation({ outer: '{"words":1}' });
const misspelt = buildDelegation({ inner: "agentt" });

test.each<[string, Partial<ProofInput>, RegExp]>([
  ["a settlement by another relay", { relayKey: "00".repeat(32) }, /^The relay signed/],
  [
    "a settlement of another receipt",
    { delegation: { ...delegation, inner: delegation.outer } },
    /^The relay signed/,
  ],
  [
    "a receipt by another key",
    { verdicts: { ...right.verdicts, asSigned: verdictsOn(delegation, strangers).asSigned } },
    /^Both receipts/,
  ],
  [
    "a receipt without the one that it should nest",
    { verdicts: { ...right.verdicts, asSigned: { ...asSigned, nested: [] } } },
    /^Both receipts/,
  ],
  [
    "a changed result that is still taken",
    { verdicts: { asSigned, tampered: { ...right.verdicts.tampered, verdict: asSigned } } },
    /^One changed byte/,
  ],
  [
    "a changed result that is refused for something else",
    { verdicts: { asSigned, tampered: verdictsOn(delegation, new Map()).tampered } },
    /^One changed byte/,
  ],
  [
    "a wrong report",
    { delegation: miscounted, verdicts: verdictsOn(miscounted) },
    /^Repeating the work/,
  ],
  ["wrong stems", { delegation: misspelt, verdicts: verdictsOn(misspelt) }, /^Repeating the work/],
])("%s fails its check", (_, wrong, claim) => {
  expect(failed({ ...right, ...wrong })).toEqual([expect.stringMatching(claim)]);
});
