import { parseCardReference } from "../../budget/card-reference.ts";
import type { Services } from "../../services.ts";
import type { Tx } from "../../storage/storage.ts";
import { recordCheckoutDeposit } from "./card-store.ts";

/**
 * Returns the release time of a deposit whose reference says that the money came from a card; undefined for
 * other money. Such a payment can be reversed even if the operator credited it. The time is stored for its
 * event, which may arrive later.
 */
export async function holdDepositedCardMoney(
  tx: Tx,
  { runtime, config }: Pick<Services, "runtime" | "config">,
  agent_id: string,
  reference: string | undefined,
): Promise<number | undefined> {
  const session_id = parseCardReference(reference);
  if (session_id === undefined) return undefined;
  const now = runtime.now();
  const release_at = now + config.payments.cardHoldMs;
  await recordCheckoutDeposit(tx, { session_id, agent_id, now, release_at });
  return release_at;
}
