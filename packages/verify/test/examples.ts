import {
  bytesToHex,
  generateKeyPair,
  sha256Hex,
  signJson,
  signRelaySuccession,
} from "@agent/crypto";
import { eraseTexts, hashReceipt } from "@agent/receipts";
import { createSeededRandom } from "@agent/testkit";
import { formatBundle, type EvidenceBundle, signBundle } from "../src/index.ts";
import { carol, noShow, settlement } from "./artifacts.ts";
import { createDelegation, START_TIME } from "./create-delegation.ts";

/** A file that an auditor may receive, and the arguments of the command for it. */
export interface Example {
  readonly title: string;
  readonly text: string;
  /** The arguments before the file's name. */
  readonly options: readonly string[];
}

const { evidence, relay, executor } = createDelegation(createSeededRandom(21), {
  hops: 1,
  keys: 2,
  price: 2,
  credential: false,
  textLength: 12,
});
const other = createDelegation(createSeededRandom(22), {
  hops: 1,
  keys: 1,
  price: 2,
  credential: false,
});
const bundle = signBundle(evidence, relay);
const text = formatBundle(bundle);

/** Returns the bundle with changed members, signed again by its relay. */
const resigned = (changes: object) =>
  formatBundle(signJson({ ...bundle, ...changes }, relay.secretKey) as EvidenceBundle);

const { receipt } = evidence;
const [formerKey, presentKey] = executor.signer.keys;
const rotatedBefore = receipt.completed_at - 3_600_000;

/**
 * Returns the statement of the relay if the executor had replaced its key an hour before the end of
 * the task.
 */
const leftKey = {
  ...evidence,
  signers: [
    {
      ...executor.signer,
      keys: [formerKey, { ...presentKey, valid_until: rotatedBefore }],
    },
  ],
} as typeof evidence;

const erased = {
  ...evidence,
  task: { ...evidence.task, prompt: sha256Hex(evidence.task.prompt) },
  receipt: eraseTexts(receipt),
  erased: { erased_at: START_TIME + 8_000, receipt_hash: hashReceipt(receipt) },
};

const named = ["--key", relay.publicKey];

const nextKeys = generateKeyPair(new Uint8Array(32).fill(7));
const rotated = {
  ...relay,
  publicKey: bytesToHex(nextKeys.publicKey),
  secretKey: nextKeys.secretKey,
  succession: [
    signRelaySuccession({
      relay_id: relay.relayId,
      oldSecretKey: relay.secretKey,
      newSecretKey: nextKeys.secretKey,
      timestamp: START_TIME + 1,
    }),
  ],
};

/** Formats the table of the README. */
export const examples: readonly Example[] = [
  { title: "the relay's key is named", text, options: named },
  { title: "no key is named", text, options: [] },
  { title: "another relay's key is named", text, options: ["--key", other.relay.publicKey] },
  { title: "reformatted", text: `${JSON.stringify(bundle, null, 2)}\n`, options: named },
  {
    title: "made after its texts were erased",
    text: formatBundle(signBundle(erased, relay)),
    options: named,
  },
  {
    title: "signed with a key that its agent had left",
    text: formatBundle(signBundle(leftKey, relay)),
    options: named,
  },
  {
    title: "of a relay that has changed its key, its former key is named",
    text: formatBundle(signBundle(evidence, rotated)),
    options: named,
  },
  {
    title: "two tasks mixed by the relay",
    text: resigned({ receipt: other.evidence.receipt }),
    options: named,
  },
  {
    title: "edited",
    text: text.replace('"amount_settled":2', '"amount_settled":3'),
    options: named,
  },
  {
    title: "a no-show record, its relay's key is named",
    text: JSON.stringify(noShow),
    options: ["--key", carol.did],
  },
  { title: "a no-show record, no key is named", text: JSON.stringify(noShow), options: [] },
  { title: "a settlement record, no key is named", text: JSON.stringify(settlement), options: [] },
];
