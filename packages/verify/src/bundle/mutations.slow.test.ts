import { canonicalize, signJson } from "@agent/crypto";
import { eraseTexts } from "@agent/receipts";
import { createSeededRandom } from "@agent/testkit";
import { formatVerifierKey } from "@agent/transparency";
import { ModelLog } from "@agent/transparency/model-log";
import { describe, expect, test } from "vitest";
import * as attacked from "../../test/attacks.ts";
import { createDelegation } from "../../test/create-delegation.ts";
import { replaceMembers } from "../../test/replace-members.ts";
import { formatBundle, formatReport, signBundle, verifyArtifact } from "../index.ts";

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

describe("a bundle that its relay signed with anything inside is verified without throwing", () => {
  const model = new ModelLog(1);
  const log = {
    origin: model.keys.origin,
    vkey: formatVerifierKey(model.keys.logKey),
    checkpoint: model.sign(),
    entries: [],
  };
  const { bundle, evidence, forwarded, relay, resigned } = attacked;
  const erasure = { erased_at: 1, receipt_hash: bundle.attestation.receipt_hash };
  const erased = { receipt: eraseTexts(evidence.receipt), erased: erasure, log };
  const options = { now: evidence.received_at, publicKey: relay.publicKey };
  const verifyText = (changed: object) => {
    const text = canonicalize(changed);
    const verdict = verifyArtifact(text, options);
    formatReport(verdict, JSON.parse(text), { ...options, explain: true });
    return verdict.code;
  };

  test.each<[string, object]>([
    ["whole", resigned({ log })],
    ["forwarded", forwarded],
    ["erased", resigned(erased)],
  ])(
    "a bundle is verified without throwing if it is %s and any members are replaced",
    patient,
    (_, base) => {
      const thrown: string[] = [];
      for (let i = 0; i < 300; i++) {
        const changed = signJson(replaceMembers(random, base), relay.secretKey);
        try {
          verifyText(changed);
        } catch (error) {
          thrown.push(`${String(error)}: ${canonicalize(changed)}`);
        }
      }
      expect(thrown).toEqual([]);
    },
  );

  test.each<[string, object, string]>([
    [
      "a credential whose start is an object without a text",
      { credential: { validFrom: { toString: 1, valueOf: 1 } } },
      "credential.malformed",
    ],
    [
      "an erased receipt whose nested receipts are no list",
      { ...erased, receipt: { ...erased.receipt, delegation_receipts: 5 } },
      "receipt.malformed",
    ],
    [
      "an erased receipt with more nested receipts than are verified",
      {
        ...erased,
        receipt: {
          ...erased.receipt,
          delegation_receipts: Array.from({ length: 257 }, () => ({})),
        },
      },
      "receipt.too_many_nested",
    ],
    ["an erased receipt that is one", erased, "bundle.erased"],
  ])("a bundle is verified without throwing if it has %s", (_, changes, code) => {
    expect(verifyText(resigned(changes))).toBe(code);
  });
});
