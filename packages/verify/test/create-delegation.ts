import { issueCredential } from "@agent/credentials";
import {
  bytesToHex,
  generateKeyPair,
  publicKeyToDidKey,
  sha256Hex,
  signSuccession,
  uuidV7,
} from "@agent/crypto";
import {
  type ExecutionReceipt,
  flattenChain,
  hashReceipt,
  signReceipt,
  signSettlementRecord,
} from "@agent/receipts";
import type { SeededRandom } from "@agent/testkit";
import type { Evidence, Signer, BundleSigner } from "../src/index.ts";

export const START_TIME = 1_767_330_894_827;
const DAY_MS = 86_400_000;

/** An agent with all its keys; the last one is in force from the start on. */
export interface TestSigner {
  readonly signer: Signer;
  readonly publicKey: string;
  readonly secretKey: Uint8Array;
  readonly did: string;
}

/** The properties of a generated delegation; omitted ones are random. */
export interface SceneOptions {
  /** The nested receipts, including the outermost. */
  readonly hops?: number;
  /** The number of keys of each agent. */
  readonly keys?: number;
  readonly price?: number;
  readonly status?: ExecutionReceipt["status"];
  readonly credential?: boolean;
  readonly textLength?: number;
}

/**
 * Letters, digits and characters that are easily mangled: quotes, controls and supplementary
 * characters.
 */
const signs = ["a", "b", "c", " ", "0", '"', "\\", "\n", "\u0000", "é", "\u2028", "\ufffd", "😀"];

function randomText(random: SeededRandom, length: number): string {
  return Array.from({ length }, () => signs[random.below(signs.length)]).join("");
}

export function createTestSigner(random: SeededRandom, keys: number): TestSigner {
  const agent_id = uuidV7(START_TIME, random.randomBytes(10));
  const pairs = Array.from({ length: keys }, () => generateKeyPair(random.randomBytes(32)));
  // One rotation per day, the last one a day before the start.
  const from = (index: number) => START_TIME - DAY_MS * (keys - index);
  const terms = pairs.map(({ publicKey }, index) => ({
    public_key: bytesToHex(publicKey),
    valid_from: from(index),
    valid_until: index === keys - 1 ? null : from(index + 1),
  }));
  const chain = pairs.slice(1).map(({ secretKey }, index) =>
    signSuccession({
      agent_id,
      oldSecretKey: pairs[index]!.secretKey,
      newSecretKey: secretKey,
      timestamp: from(index + 1),
    }),
  );
  const { publicKey, secretKey } = pairs[keys - 1]!;
  return {
    signer: { agent_id, keys: terms, chain, devices: [] },
    publicKey: bytesToHex(publicKey),
    secretKey,
    did: publicKeyToDidKey(publicKey),
  };
}

/** Creates the evidence of a delegation by an honest relay, and the relay itself. */
export function createDelegation(random: SeededRandom, wishes: SceneOptions = {}) {
  const { hops = 1 + random.below(3), price = random.below(3), status = "completed" } = wishes;
  const text = () => randomText(random, wishes.textLength ?? random.below(40));
  const id = () => uuidV7(START_TIME, random.randomBytes(10));
  const { publicKey, secretKey } = generateKeyPair(random.randomBytes(32));
  const relay: BundleSigner = {
    relayId: id(),
    publicKey: bytesToHex(publicKey),
    secretKey,
    now: START_TIME + 10_000 + random.below(1_000),
  };
  const payer = id();
  const hands = Array.from({ length: hops }, () =>
    createTestSigner(random, wishes.keys ?? 1 + random.below(3)),
  );
  const prompt = text();

  let receipt: ExecutionReceipt | undefined;
  for (const [index, hand] of [...hands.entries()].reverse()) {
    const taskId = id();
    const result = text();
    receipt = signReceipt(
      {
        task_id: taskId,
        relay_task_id: taskId,
        agent_id: hand.signer.agent_id,
        device_id: id(),
        public_key: hand.publicKey,
        submitted_at: START_TIME + index,
        completed_at: START_TIME + 5_000 - index,
        status: index === 0 ? status : "completed",
        result,
        tools_used: ["read_file"],
        memories_formed: 0,
        prompt_hash: sha256Hex(index === 0 ? prompt : "another prompt"),
        result_hash: sha256Hex(result),
        ...(receipt && { delegation_receipts: [receipt] }),
      },
      hand.secretKey,
    );
  }
  if (receipt === undefined) throw new RangeError("a delegation has at least one hop");
  const [executor] = hands as [TestSigner, ...TestSigner[]];
  const received_at = START_TIME + 6_000;

  const charge = status === "completed" ? price : 0;
  const net = charge * 0.95;
  const rows: [account: string, type: string, amount: number][] = [
    [`held:${receipt.task_id}`, "allocation_release", -price * 1.2],
    [`agent:${payer}`, "allocation_release", price * 1.2],
    [`agent:${payer}`, "settlement_debit", -charge],
    [`agent:${receipt.agent_id}`, "settlement_credit", net],
    ["relay:fees", "fee", charge - net],
  ];
  const settlement = signSettlementRecord(
    {
      settlement_id: id(),
      allocation_id: id(),
      task_id: receipt.task_id,
      payer_id: payer,
      payee_id: receipt.agent_id,
      receipt_hash: hashReceipt(receipt),
      ledger_hash: null,
      amount_settled: charge,
      fee: rounded(charge - net),
      net: rounded(net),
      status: charge > 0 ? "completed" : "refunded",
      settled_at: received_at,
      issuer: publicKeyToDidKey(publicKey),
    },
    secretKey,
  );
  const credential =
    (wishes.credential ?? random.below(2) === 0)
      ? issueCredential({
          randomBytes: random.randomBytes(10),
          type: "AgentTrustCredential",
          subject: {
            id: executor.did,
            trust_level: "verified",
            interaction_count: 5,
            successful_tasks: 5,
            failed_tasks: 0,
            first_seen_at: START_TIME - DAY_MS,
            last_seen_at: START_TIME,
          },
          secretKey,
          now: received_at,
        })
      : null;
  const evidence: Evidence = {
    task: {
      task_id: receipt.task_id,
      agent_id: executor.signer.agent_id,
      submitted_by: payer,
      assigned_to: random.below(2) === 0 ? null : executor.signer.agent_id,
      status,
      prompt,
      submitted_at: receipt.submitted_at,
    },
    routing: {
      choice: null,
      executors: [{ agent_id: executor.signer.agent_id, price }],
    },
    receipt,
    signers: hands.map(({ signer }) => signer),
    nested_tasks: flattenChain(receipt).links.map(({ receipt: nested, parent }) => ({
      task_id: nested.task_id,
      submitted_by: parent.agent_id,
      executor: nested.agent_id,
    })),
    settlements: price > 0 ? [settlement] : [],
    postings:
      price > 0
        ? rows.map(([account, type, amount]) => ({
            transaction_id: id(),
            account,
            type,
            amount: rounded(amount),
            created_at: received_at,
          }))
        : [],
    credential,
    received_at,
  };
  return { evidence, relay, hands, executor };
}

/** Rounds to whole millionths, like amounts of money. */
function rounded(amount: number): number {
  return Math.round(amount * 1e6) / 1e6;
}
