import { hashReceipt, verifyAttestation, verifyReceipt } from "@agent/receipts";
import type { ForwardedJob } from "./delegate-across-relays.ts";

export interface JobProof {
  readonly job: ForwardedJob;
  readonly receipt: boolean;
  /** In the order of the relays. */
  readonly attestations: readonly boolean[];
}

/** Judges a job by its receipt and the relays' words alone, with the keys of before; asks nobody. */
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
