import { bytesToHex, didKeyToPublicKey, generateKeyPair, sha256Hex } from "@agent/crypto";
import {
  type ExecutionReceipt,
  hashReceipt,
  signReceipt,
  signSettlementRecord,
} from "@agent/receipts";
import {
  type BundleSigner,
  type Evidence,
  type EvidenceBundle,
  formatBundle,
  signBundle,
} from "@agent/verify";

/** A file that a reader may receive, and the keys that the reader names. */
export interface BundleExample {
  readonly title: string;
  readonly text: string;
  /** The keys as 64 hex digits. */
  readonly keys: readonly string[];
}

/** The title of the example with readable texts, which contains three receipts, a payment and a credential. */
export const READABLE_TITLE = "readable";

/** The parts of the fixtures of `@agent/verify` that are used here; the package does not export them. */
interface Fixtures {
  readonly evidence: Evidence;
  readonly executor: { readonly secretKey: Uint8Array };
  readonly attacks: readonly [string, string, string, EvidenceBundle][];
  readonly relay: BundleSigner;
  readonly examples: readonly { title: string; text: string; options: readonly string[] }[];
}

async function loadFixtures<Name extends keyof Fixtures>(
  file: string,
): Promise<Pick<Fixtures, Name>> {
  const path = new URL(`../packages/verify/test/${file}.ts`, import.meta.url).href;
  return (await import(/* @vite-ignore */ path)) as Pick<Fixtures, Name>;
}

/** Loads the command's examples, every attack on a bundle, and a receipt with many receipts inside. */
export async function loadBundleExamples(): Promise<BundleExample[]> {
  const { examples } = await loadFixtures<"examples">("examples");
  const fixtures = await loadFixtures<"attacks" | "evidence" | "executor" | "relay">("attacks");
  const { attacks, relay } = fixtures;
  return [
    ...examples.map(({ title, text, options }) => ({
      title,
      text,
      keys: options.filter((word) => word !== "--key").map(toHex),
    })),
    ...attacks.map(([title, , , changed]) => ({
      title,
      text: formatBundle(changed),
      keys: [relay.publicKey],
    })),
    {
      title: READABLE_TITLE,
      text: formatBundle(signBundle(createReadableEvidence(fixtures), relay)),
      keys: [relay.publicKey],
    },
    { title: "many receipts", text: JSON.stringify(createWideReceipt(30)), keys: [] },
  ];
}

/** Loads evidence with readable texts, for examples that sign it in another way. */
export async function loadReadableEvidence(): Promise<{
  readonly evidence: Evidence;
  readonly relay: BundleSigner;
}> {
  const fixtures = await loadFixtures<"evidence" | "executor" | "relay">("attacks");
  return { evidence: createReadableEvidence(fixtures), relay: fixtures.relay };
}

const toHex = (key: string) => (key.startsWith("did:") ? bytesToHex(didKeyToPublicKey(key)) : key);

/** Writes readable texts into the evidence, because the texts of the fixtures are random. */
function createReadableEvidence({
  evidence,
  executor,
  relay,
}: Pick<Fixtures, "evidence" | "executor" | "relay">): Evidence {
  const prompt = "Compare the three offers for solar panels and name the best one";
  const result =
    "Offer B: 9.2 kWp for 11,400 EUR, with 25 years of warranty. Offer A is cheaper, but without a battery.";
  const hashes = { prompt_hash: sha256Hex(prompt), result_hash: sha256Hex(result) };
  const receipt = signReceipt(
    { ...evidence.receipt, ...hashes, result, tools_used: ["read_file", "compare"] },
    executor.secretKey,
  );
  const settlements = evidence.settlements.map((record) =>
    signSettlementRecord({ ...record, receipt_hash: hashReceipt(receipt) }, relay.secretKey),
  );
  return { ...evidence, task: { ...evidence.task, prompt }, receipt, settlements };
}

/** Creates a receipt of an agent that contains this many receipts of the agent's own tasks. */
function createWideReceipt(count: number): ExecutionReceipt {
  const { publicKey, secretKey } = generateKeyPair(new Uint8Array(32).fill(5));
  const create = (number: number, inner: readonly ExecutionReceipt[]) => {
    const id = `019b7d21-53eb-7c81-b2f1-${String(number).padStart(12, "0")}`;
    return signReceipt(
      {
        task_id: id,
        relay_task_id: id,
        agent_id: "019b7d21-53eb-7c81-b2f1-100000000000",
        device_id: "019b7d21-53eb-7c81-b2f1-200000000000",
        public_key: bytesToHex(publicKey),
        submitted_at: 1_767_330_894_827,
        completed_at: 1_767_330_894_927,
        status: "completed",
        result: "done",
        tools_used: [],
        memories_formed: 0,
        prompt_hash: sha256Hex("do"),
        result_hash: sha256Hex("done"),
        ...(inner.length > 0 && { delegation_receipts: [...inner] }),
      },
      secretKey,
    );
  };
  return create(
    0,
    Array.from({ length: count }, (_, index) => create(index + 1, [])),
  );
}
