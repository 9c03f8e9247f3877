import { hashReceipt, verifyAttestation, verifyReceipt } from "@agent/receipts";
import type { ForwardedJob } from "./delegate-across-relays.ts";

export interface JobProof {
  readonly job: ForwardedJob;
  readonly receipt: boolean;
  /** One result per relay, in the order of the relays. */
  readonly attestations: readonly boolean[];
}

/**
 * Verifies a job with nothing but its receipt, its attestations and previously fetched keys, without any
 * request.
 */
export function verifyJob(job: ForwardedJob): JobProof {
  const { receipt, worker, taskId, prompt, attested } = job;
  const verdict = verifyReceipt(receipt, { publicKey: worker.publicKey, taskId, prompt });
  return {
    job,
    receipt: verdict.valid,
    attestations: attested.map(({ by, attestation }) => {
      const { relay_id: relayId, public_key: publicKey } = by.info;
      const about = { taskId, receiptHash: hashReceipt(receipt) };
      return verifyAttestation(attestation, { publicKey, relayId, ...about }).valid;
    }),
  };
}
