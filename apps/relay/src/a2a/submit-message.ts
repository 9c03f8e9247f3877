import {
  addArbitrationFee,
  DELEGATION_EXTENSION,
  getListedPrice,
  SubmitTaskBody,
  type PricedListing,
  type Code,
  type Refusal,
  type SendMessageParams,
} from "@agent/wire";
import type { Config } from "../config/config.ts";
import type { Idempotency } from "../http/server/idempotency.ts";
import type { RequestContext } from "../http/handler.ts";
import { toRelayTerms } from "../inspections/terms.ts";
import { validate } from "../http/server/validate.ts";
import { submitWithPayment } from "../payments/x402/submit-with-payment.ts";
import type { Services } from "../services.ts";
import { createFault, type A2aFault } from "./rpc-error.ts";
import type { ShownOffers } from "./shown-offers.ts";

type Message = SendMessageParams["message"];

/** The dependencies of the A2A routes beside the relay's services. */
export interface A2aDependencies {
  readonly idempotency: Idempotency;
  readonly shownOffers: ShownOffers;
}

interface SubmittedMessage {
  readonly ok: true;
  readonly taskId: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Submits a message as a task, paid for like any other. The message's id is its idempotency key, so
 * a client that sends it again gets the task that exists already.
 */
export async function submitMessage(
  services: Services,
  { idempotency, shownOffers }: A2aDependencies,
  { agentId, params }: { readonly agentId: string; readonly params: SendMessageParams },
  context: RequestContext,
): Promise<SubmittedMessage | Refusal<Code> | A2aFault> {
  const { caller, headers, path } = context;
  const { message, configuration } = params;
  if (configuration.taskPushNotificationConfig !== undefined) {
    return createFault("PUSH_NOTIFICATION_NOT_SUPPORTED");
  }
  if (message.taskId !== "" || message.contextId !== "") {
    return createFault("UNSUPPORTED_OPERATION", "a task takes one message and is its own context");
  }
  const prompt = joinTextParts(message);
  if (prompt === undefined) return createFault("CONTENT_TYPE_NOT_SUPPORTED", "parts must be text");
  const checked = validate(SubmitTaskBody, { ...message.metadata[DELEGATION_EXTENSION], prompt });
  if (!checked.ok) return checked;

  const terms = checked.value as SubmitTaskBody;
  const shown = await shownOffers.latest(context, agentId);
  const { cap, isFromCard } = resolveBudgetCap(message, terms, { ...services.config, shown });
  const body = { ...terms, ...(cap !== undefined && { max_budget: cap }) };
  const payment = headers.get("payment-signature");
  const answer = await idempotency.runOnce(
    {
      operation: "callAgent",
      path,
      params: { agentId },
      caller,
      key: message.messageId,
      text: JSON.stringify(message),
      body,
    },
    (saveResponse) =>
      submitWithPayment(services, { targetId: agentId, body, caller, saveResponse }, payment),
  );
  if (answer.ok === false) {
    const isRaised = isFromCard && answer.code === "budget.max_exceeded";
    return isRaised
      ? { ...answer, detail: "the price was raised since you read the card" }
      : answer;
  }
  const { task_id } = answer.body as { task_id: string };
  const settled = "headers" in answer ? answer.headers : undefined;
  return { ok: true, taskId: task_id, ...(settled !== undefined && { headers: settled }) };
}

/**
 * Returns the maximum cost of the message: its own budget, or otherwise the price on the card that its
 * sender received last, with the arbitration fee if it asks for an inspection. Without either, the sender saw
 * no price, and the current one applies.
 */
function resolveBudgetCap(
  { metadata }: Message,
  terms: SubmitTaskBody,
  { disputes, shown }: Pick<Config, "disputes"> & { readonly shown: PricedListing | undefined },
): { readonly cap: number | undefined; readonly isFromCard: boolean } {
  const said = [metadata.max_budget, terms.max_budget].filter((cap) => cap !== undefined);
  if (said.length > 0) return { cap: Math.min(...said), isFromCard: false };
  const price = shown && getListedPrice(shown, terms.required_capabilities ?? []);
  if (price === undefined) return { cap: undefined, isFromCard: false };
  const isInspected = terms.acceptance !== undefined;
  const cap = isInspected ? addArbitrationFee(price, toRelayTerms(disputes)) : price;
  return { cap, isFromCard: true };
}

/** Joins the text of all parts; undefined when a part is not text. */
function joinTextParts({ parts }: Message): string | undefined {
  const texts = parts.map(({ text }) => text);
  return texts.every((text) => typeof text === "string") ? texts.join("\n") : undefined;
}
