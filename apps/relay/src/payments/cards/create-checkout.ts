import { toMicro } from "@agent/budget";
import { refuse, type Answer, type BodyOf, type Operations } from "@agent/wire";
import { checkAccountId } from "../../budget/transfers/check-account-id.ts";
import type { SaveResponse } from "../../http/server/idempotency.ts";
import type { Services } from "../../services.ts";
import type { CardProcessor } from "./card-processor.ts";
import { insertCheckout } from "./card-store.ts";

type Create = Operations["createCheckout"];
type CheckoutDependencies = Pick<Services, "storage" | "runtime" | "identity" | "config" | "log">;

/** One cent in micro-units. */
export const CENT_IN_MICRO = 10_000;
const MIN_CENTS = 50;
const MAX_CENTS = 99_999_999;

interface RequestedCheckout {
  readonly agentId: string;
  readonly body: BodyOf<Create>;
  readonly saveResponse?: SaveResponse | undefined;
}

/** Creates a checkout page for a deposit by card; the deposit is credited when its event arrives. */
export async function createCheckout(
  { storage, runtime, identity, config, log }: CheckoutDependencies,
  processor: CardProcessor | undefined,
  { agentId, body, saveResponse }: RequestedCheckout,
): Promise<Answer<Create>> {
  if (processor === undefined) return refuse("card.not_configured");
  const { amount, return_url = config.server.baseUrl } = body;
  const refused = checkAccountId(agentId, identity.relayId);
  if (refused !== undefined) return refused;
  const requestedAmount = toMicro(amount);
  const cents = requestedAmount / CENT_IN_MICRO;
  if (!Number.isInteger(cents) || cents < MIN_CENTS || cents > MAX_CENTS) {
    return refuse("card.amount_unsupported");
  }
  if (return_url === undefined) return refuse("card.return_url_missing");
  let session;
  try {
    const { relayId } = identity;
    session = await processor.createSession({ agentId, relayId, cents, returnUrl: return_url });
  } catch (error) {
    log.warn("card.checkout_failed", { agent_id: agentId, error: String(error) });
    return refuse("card.processor_failed");
  }
  const { id: session_id, url: checkout_url } = session;
  const answer = { status: 201 as const, body: { checkout_url, session_id } };
  return storage.transaction(async (tx) => {
    const created_at = runtime.now();
    await insertCheckout(tx, { session_id, agent_id: agentId, asked: requestedAmount, created_at });
    await saveResponse?.(tx, answer);
    return answer;
  });
}
