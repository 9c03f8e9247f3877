import { sha256Hex, utf8ToBytes } from "@agent/crypto";
import { formatAddCheckpoint, NOTE_LIMITS } from "@agent/transparency";
import { limits } from "@agent/wire";
import type { WitnessAddress } from "../config/config-values.ts";
import { EgressError, type Egress } from "../http/egress/egress.ts";

/** The answer of a witness; undefined where it gave none in HTTP. */
export type WitnessReply = { readonly status: number; readonly text: string } | undefined;

/** Reads the newest head of a log that a witness has cosigned. */
export function fetchWitnessed(
  egress: Egress,
  { prefix }: WitnessAddress,
  origin: string,
): Promise<WitnessReply> {
  return callWitness(egress, `${prefix}/${sha256Hex(utf8ToBytes(origin))}/checkpoint`);
}

/** Asks a witness to cosign a checkpoint. */
export function postCheckpoint(
  egress: Egress,
  { prefix }: WitnessAddress,
  asked: {
    readonly oldSize: number;
    readonly proof: readonly Uint8Array[];
    readonly checkpoint: string;
  },
): Promise<WitnessReply> {
  const { oldSize, proof, checkpoint } = asked;
  return callWitness(egress, `${prefix}/add-checkpoint`, {
    method: "POST",
    headers: { "content-type": "text/plain; charset=utf-8" },
    body: formatAddCheckpoint(oldSize, proof, checkpoint),
  });
}

async function callWitness(egress: Egress, url: string, init?: RequestInit): Promise<WitnessReply> {
  try {
    const answer = await egress.withTimeout(limits.witnessTimeoutMs)(url, init);
    const text = await answer.text();
    return text.length > NOTE_LIMITS.maxBytes ? undefined : { status: answer.status, text };
  } catch (error) {
    if (error instanceof EgressError) return undefined;
    throw error;
  }
}
