import { PROOF_LEVELS, type Verdict } from "@agent/verify";
import { expect, test } from "vitest";
import { describeRefusal } from "./describe-refusal.ts";

const code = "receipt.signature_invalid";
const wellFormed = { name: "well_formed", ok: true } as const;
const refuse = (
  checks: Verdict["checks"],
  refusal: NonNullable<Verdict["code"]> = code,
): Verdict => ({
  kind: "receipt",
  valid: false,
  code: refusal,
  checks: [wellFormed, ...checks],
  nested: [],
});

const attested = PROOF_LEVELS.find(({ name }) => name === "attested")?.proves;

test.each<[string, Verdict, RegExp]>([
  [
    "an intact receipt by a key that was not named",
    refuse([
      { name: "intact", ok: true },
      { name: "key_bound", ok: false, code },
    ]),
    /^It was signed by a key that you did not name for its agent\./,
  ],
  [
    "evidence of a key that was not named",
    refuse(
      [{ name: "key_bound", ok: false, code: "artifact.key_unbound" }],
      "artifact.key_unbound",
    ),
    /^It was signed by a key that you did not name for its signer\./,
  ],
  [
    "a refusal without words of its own, by the level of its code and not by a warning",
    refuse(
      [
        { name: "hashes_match", ok: false, code: "receipt.prompt_hash_mismatch" },
        { name: "attested", ok: false, code: "attestation.signature_invalid" },
      ],
      "attestation.signature_invalid",
    ),
    new RegExp(`^This does not hold: ${attested}$`),
  ],
  [
    "a changed receipt",
    refuse([{ name: "intact", ok: false, code }]),
    /^The receipt is not the one that the agent signed\./,
  ],
])("the page says what is wrong with %s", (_, verdict, expected) => {
  expect(describeRefusal(verdict).reason).toMatch(expected);
});
