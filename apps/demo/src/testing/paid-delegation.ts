import { bytesToHex, generateKeyPair, publicKeyToDidKey, sha256Hex } from "@agent/crypto";
import {
  hashReceipt,
  signReceipt,
  signSettlementRecord,
  type ExecutionReceipt,
} from "@agent/receipts";
import type { Settlement, Task } from "@agent/wire";
import type { PaidDelegation, PaidTask } from "../participants/delegate-report.ts";
import type { Member, Worker } from "../participants/participants.ts";
import { buildTermReport, stemWord, buildVocabulary, extractWords } from "../figures/terms.ts";

const STARTED_AT = 1_760_000_000_000;

interface Signer extends Worker {
  readonly secretKey: Uint8Array;
}

function createSigner(number: number, name: string, capability: string, price: number): Signer {
  const { publicKey, secretKey } = generateKeyPair(new Uint8Array(32).fill(number));
  const agentId = `019b7d21-53eb-7ccd-926c-00000000000${number}`;
  return { name, agentId, publicKey: bytesToHex(publicKey), secretKey, capability, price };
}

const editor = createSigner(1, "editor", "", 0);
const research = createSigner(2, "research", "term-report", 2);
const linguist = createSigner(3, "linguist", "stem-words", 0.4);
const relay = generateKeyPair(new Uint8Array(32).fill(4));

export const relayKey = bytesToHex(relay.publicKey);
export const PROMPT = "Agents hire agents, relays settle receipts.";
export const keys = new Map([research, linguist].map((one) => [one.agentId, one.publicKey]));

/** Builds a correct delegation, except for results that are overridden with wrong ones. */
export function buildDelegation(results: { outer?: string; inner?: string } = {}): PaidDelegation {
  const words = extractWords(PROMPT);
  const vocabulary = buildVocabulary(words);
  const stems = vocabulary.map(stemWord);
  const inner = buildReceipt(linguist, "task-inner", vocabulary.join("\n"), {
    result: results.inner ?? stems.join("\n"),
  });
  const outer = buildReceipt(research, "task-outer", PROMPT, {
    result: results.outer ?? JSON.stringify(buildTermReport(words, vocabulary, stems)),
    delegation_receipts: [inner],
  });
  return {
    receipt: outer,
    outer: buildPaidTask(editor, research, outer),
    inner: buildPaidTask(research, linguist, inner),
  };
}

function buildReceipt(
  { agentId, publicKey, secretKey, capability }: Signer,
  taskId: string,
  asked: string,
  done: Pick<ExecutionReceipt, "result" | "delegation_receipts">,
): ExecutionReceipt {
  return signReceipt(
    {
      task_id: taskId,
      relay_task_id: taskId,
      agent_id: agentId,
      public_key: publicKey,
      device_id: agentId,
      submitted_at: STARTED_AT,
      completed_at: STARTED_AT + 100,
      status: "completed",
      tools_used: [capability],
      memories_formed: 0,
      prompt_hash: sha256Hex(asked),
      result_hash: sha256Hex(done.result),
      ...done,
    },
    secretKey,
  );
}

function buildPaidTask(payer: Member, worker: Worker, receipt: ExecutionReceipt): PaidTask {
  const { agentId, capability, price } = worker;
  const { task_id, submitted_at } = receipt;
  const task: Task = {
    task_id,
    agent_id: agentId,
    prompt: "",
    submitted_at,
    status: "completed",
    submitted_by: payer.agentId,
    assigned_to: null,
    required_capabilities: [capability],
    expires_at: submitted_at + 900_000,
    wall_clock_ms: null,
    step_id: null,
    routing_choice: {
      selected_agent: agentId,
      composite_score: 0.5,
      sub_scores: { trust: 0.1, cost: 0.5, latency: 0.5, reliability: 0.5 },
      routing_paths: [["self", agentId]],
      alternatives_considered: 0,
    },
    estimated_cost: price,
    amount_locked: price * 1.2,
  };
  const settlement: Settlement = signSettlementRecord(
    {
      settlement_id: `settlement of ${task_id}`,
      allocation_id: `allocation of ${task_id}`,
      task_id,
      payer_id: payer.agentId,
      payee_id: agentId,
      receipt_hash: hashReceipt(receipt),
      ledger_hash: null,
      amount_settled: price,
      fee: Math.round(price * 5) / 100,
      net: Math.round(price * 95) / 100,
      status: "completed",
      settled_at: STARTED_AT + 200,
      issuer: publicKeyToDidKey(relay.publicKey),
    },
    relay.secretKey,
  );
  return { payer, worker, task, settlement };
}
