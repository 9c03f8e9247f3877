import { refuse, type Refusal, type WantedAcceptance } from "@agent/wire";
import { listSigningKeys } from "../../agents/keys/key-store.ts";
import { refuseField } from "../../http/server/validate.ts";
import type { Services } from "../../services.ts";
import type { WantedTerms } from "./offer.ts";

interface WantedInspection {
  readonly wanted: WantedAcceptance;
  readonly submitterId: string | null;
  readonly targetId: string;
}

/**
 * Reads the inspection that a submission requests. Only an agent with a key at this relay can sign verdicts
 * on the result of another one.
 */
export async function readWantedTerms(
  { storage, config, identity }: Pick<Services, "storage" | "config" | "identity">,
  { wanted: { window_ms: windowMs, arbiter_id }, submitterId, targetId }: WantedInspection,
): Promise<
  | { readonly ok: true; readonly terms: WantedTerms; readonly submitterId: string }
  | Refusal<"request.invalid" | "acceptance.not_offered">
> {
  const shortest = config.disputes.windowMinMs;
  if (windowMs !== undefined && windowMs < shortest) {
    return refuseField("acceptance.window_ms", `must be at least ${shortest}`);
  }
  if (submitterId === null || submitterId === targetId) return refuse("acceptance.not_offered");
  const keys = await listSigningKeys(storage.read, submitterId);
  if (!keys.some(({ valid_until }) => valid_until === null)) {
    return refuse("acceptance.not_offered");
  }
  const arbiterId = arbiter_id === identity.relayId ? null : (arbiter_id ?? null);
  return { ok: true, terms: { windowMs, arbiterId }, submitterId };
}
