import type { Reader } from "../storage/storage.ts";
import { findOutbound } from "./outbound-store.ts";

/** What the relay that had a task says of its receipt, for whoever polls it. */
export async function attestationOf(
  read: Reader,
  taskId: string,
): Promise<{ readonly attestation?: Record<string, unknown> }> {
  const attestation = (await findOutbound(read, taskId))?.attestation ?? null;
  if (attestation === null) return {};
  return { attestation: JSON.parse(attestation) as Record<string, unknown> };
}
