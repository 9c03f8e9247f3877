import { bytesToHex, generateKeyPair, sha256Hex } from "@agent/crypto";
import { type ExecutionReceipt, type ReceiptBody, signReceipt } from "../src/index.ts";

/** A signer whose keys are derived from a number, so that every run signs alike. */
export function createSigner(seed: number) {
  const { publicKey, secretKey } = generateKeyPair(new Uint8Array(32).fill(seed));
  return { publicKey: bytesToHex(publicKey), secretKey };
}

export const taskId = "019b7d21-53eb-7c81-b2f1-75174603c805";
export const prompt = "Count the terms of the README.";
export const alice = createSigner(1);
export const bob = createSigner(2);

export function buildBody(changes: Partial<ReceiptBody> = {}): ReceiptBody {
  const result = changes.result ?? "Forty-two terms.";
  return {
    task_id: taskId,
    agent_id: "019b7d21-53eb-7ccd-926c-3badff397897",
    public_key: alice.publicKey,
    device_id: "019b7d21-53eb-70cb-95bc-a8151a7b5a43",
    submitted_at: 1_767_330_894_827,
    completed_at: 1_767_330_899_786,
    status: "completed",
    result,
    tools_used: ["read_file", "count_terms"],
    memories_formed: 0,
    prompt_hash: sha256Hex(prompt),
    result_hash: sha256Hex(result),
    relay_task_id: taskId,
    ...changes,
  };
}

/** Builds a receipt of alice, with changes made before she signed. */
export function buildSignedReceipt(changes: Partial<ReceiptBody> = {}): ExecutionReceipt {
  return signReceipt(buildBody(changes), alice.secretKey);
}

/** Nests receipts, `hops` of them below the outermost. */
export function buildChain(hops: number): ExecutionReceipt {
  let receipt = buildSignedReceipt();
  for (let i = 0; i < hops; i++) receipt = buildSignedReceipt({ delegation_receipts: [receipt] });
  return receipt;
}
