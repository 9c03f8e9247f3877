import { bytesToHex, generateKeyPair, publicKeyToDidKey, sha256Hex } from "@agent/crypto";
import {
  receiptHash,
  signReceipt,
  signSettlementRecord,
  type ExecutionReceipt,
} from "@agent/receipts";
import type { Settlement, Task } from "@agent/wire";
import type { Hired, Job } from "../hire.ts";
import type { Member, Worker } from "../stage.ts";
import { reportOf, stem, vocabularyOf, wordsOf } from "../terms.ts";

const startedAt = 1_760_000_000_000;

interface Signer extends Worker {
  readonly secretKey: Uint8Array;
}

function signer(number: number, name: string, capability: string, price: number): Signer {
  const { publicKey, secretKey } = generateKeyPair(new Uint8Array(32).fill(number));
  const agentId = `019b7d21-53eb-7ccd-926c-00000000000${number}`;
  return { name, agentId, publicKey: bytesToHex(publicKey), secretKey, capability, price };
}

const editor = signer(1, "editor", "", 0);
const research = signer(2, "research", "term-report", 2);
const linguist = signer(3, "linguist", "stem-words", 0.4);
const relay = generateKeyPair(new Uint8Array(32).fill(4));

export const relayKey = bytesToHex(relay.publicKey);
export const prompt = "Agents hire agents, relays settle receipts.";
export const keys = new Map([research, linguist].map((one) => [one.agentId, one.publicKey]));

/** A delegation in which everything is right, unless the results are not. */
export function hiredWith(results: { outer?: string; inner?: string } = {}): Hired {
  const words = wordsOf(prompt);
  const vocabulary = vocabularyOf(words);
  const stems = vocabulary.map(stem);
  const inner = receiptOf(linguist, "task-inner", vocabulary.join("\n"), {
    result: results.inner ?? stems.join("\n"),
  });
  const outer = receiptOf(research, "task-outer", prompt, {
    result: results.outer ?? JSON.stringify(reportOf(words, vocabulary, stems)),
    delegation_receipts: [inner],
  });
  return {
    receipt: outer,
    outer: jobOf(editor, research, outer),
    inner: jobOf(research, linguist, inner),
  };
}

function receiptOf(
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
      submitted_at: startedAt,
      completed_at: startedAt + 100,
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

function jobOf(payer: Member, worker: Worker, receipt: ExecutionReceipt): Job {
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
      receipt_hash: receiptHash(receipt),
      ledger_hash: null,
      amount_settled: price,
      fee: Math.round(price * 5) / 100,
      net: Math.round(price * 95) / 100,
      status: "completed",
      settled_at: startedAt + 200,
      issuer: publicKeyToDidKey(relay.publicKey),
    },
    relay.secretKey,
  );
  return { payer, worker, task, settlement };
}
