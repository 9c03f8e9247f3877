import { createSeededRandom } from "@agent/testkit";
import { expect, test } from "vitest";
import { createDelegation } from "../../test/create-delegation.ts";
import { formatBundle, signBundle, verifyArtifact } from "../index.ts";

const random = createSeededRandom(20_260_102);
const bundles = Array.from({ length: 1_000 }, () => {
  const { evidence, relay } = createDelegation(random);
  return formatBundle(signBundle(evidence, relay));
});
const encoder = new TextEncoder();
// Strict like the command's decoder, because a lenient one maps several byte sequences to one
// text.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

const isValid = (bytes: Uint8Array) => {
  try {
    return verifyArtifact(decoder.decode(bytes)).valid;
  } catch {
    return false;
  }
};

// Thousands of signatures take seconds, and longer while other tests run.
const patient = { timeout: 60_000 };

test("1,000 generated bundles are valid", patient, () => {
  const refused = bundles.map((text) => verifyArtifact(text)).filter(({ valid }) => !valid);
  expect(refused).toEqual([]);
});

test("10,000 changes of one byte, anywhere in a bundle, are refused", patient, () => {
  const accepted: string[] = [];
  for (let i = 0; i < 10_000; i++) {
    const which = i % bundles.length;
    const bytes = encoder.encode(bundles[which]);
    const at = random.below(bytes.length);
    // The new byte must differ from the old one.
    bytes[at] = bytes[at]! ^ (1 + random.below(255));
    if (isValid(bytes)) accepted.push(`bundle ${which}, byte ${at}: ${bytes[at]}`);
  }
  expect(accepted).toEqual([]);
});
