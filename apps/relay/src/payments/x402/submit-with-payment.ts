import { toMicro } from "@agent/budget";
import { refuse, type Answer, type Code, type Operations, type Refusal } from "@agent/wire";
import type { PaymentRequirements, SettleResponse } from "@x402/core/types";
import type { Services } from "../../services.ts";
import type { Submission } from "../../tasks/submission/store-submission.ts";
import { submitTask } from "../../tasks/submission/submit-task.ts";
import { parsePaymentProof, hashPaymentProof, type PaymentProof } from "./x402-proof.ts";
import { formatRequiredHeader, formatSettledHeader, type Facilitator } from "./x402-facilitator.ts";
import { recordPaymentRefusal, creditPayment } from "./x402-settle.ts";
import { beginPayment, findPayment, linkPaymentToTask } from "./x402-store.ts";

type Submitted = Answer<Operations["submitTask"]>;
type PaymentDependencies = Services & { readonly facilitator: Facilitator };

/**
 * Submits a task that may carry its payment (docs/decisions.md, 5). Money in the account is used first;
 * a payment is requested, verified, settled and credited only when nothing but money is missing.
 */
export async function submitWithPayment(
  services: Services,
  submission: Submission,
  header: string | null,
): Promise<Submitted> {
  const { facilitator } = services;
  const proof =
    facilitator === undefined || header === null ? undefined : parsePaymentProof(header);
  const capped = capByProof(submission, proof);
  const first = await submitTask(services, services.router.route, capped);
  const isRaised = capped !== submission && isAboveBudget(first);
  if (facilitator === undefined || !(isRaised || isMoneyRefusal(first))) return first;
  const price = toMicro(first.members?.["estimated_cost"] as number);
  const requirements = await facilitator.buildRequirements(price);
  // Without a facilitator no payment can be settled, so none is requested.
  if (requirements === undefined) return first;
  const paying = { ...services, facilitator };
  const requestPayment = (refusal: Refusal) =>
    toPaymentRequired(paying, submission, requirements, refusal);
  if (header === null) return requestPayment(first);
  if (isRaised) return requestPayment(refuse("payment.mismatch"));
  if (proof === undefined) return refuse("payment.malformed");
  // The price may be raised again while the payment is settled.
  return submitWithProof(paying, capped, { proof, requirements, requestPayment });
}

/**
 * Limits a submission to the price that its payer was asked for: the money in its account must not pay a price
 * that was raised since.
 */
function capByProof(submission: Submission, proof: PaymentProof | undefined): Submission {
  const { body } = submission;
  const { askedPrice } = proof ?? {};
  if (askedPrice === undefined || body.max_budget !== undefined) return submission;
  return { ...submission, body: { ...body, max_budget: askedPrice } };
}

interface OfferedPayment {
  readonly proof: PaymentProof;
  readonly requirements: PaymentRequirements;
  /** Builds the refusal with the payment requirements. */
  readonly requestPayment: (refusal: Refusal) => Submitted;
}

async function submitWithProof(
  services: PaymentDependencies,
  submission: Submission,
  { proof, requirements, requestPayment }: OfferedPayment,
): Promise<Submitted> {
  const { facilitator, storage, runtime, router } = services;
  const proof_hash = hashPaymentProof(proof, requirements);
  const known = await checkKnownPayment(services, proof_hash);
  if (known !== undefined) return known;
  if (!facilitator.matches(proof.payload, requirements))
    return requestPayment(refuse("payment.mismatch"));
  const verified = await facilitator.verify(proof.payload, requirements);
  if (verified === undefined) return refuseRetryable("payment.unavailable");
  if (!verified.valid) return requestPayment(refuse("payment.invalid", verified.reason));

  const payer = resolvePayer(submission, proof);
  if (payer.isWallet) {
    // The wallet is proven to be the caller's only here, so its account is read now.
    const again = await submitTask(services, router.route, payer.submission);
    if (!isMoneyRefusal(again)) return again;
  }
  const payment = {
    proof_hash,
    payer_id: payer.id,
    wallet: proof.wallet,
    amount: toMicro(Number(requirements.amount) / 1e6),
    payload: JSON.stringify(proof.payload),
    requirements: JSON.stringify(requirements),
    created_at: runtime.now(),
  };
  if (!(await storage.transaction((tx) => beginPayment(tx, payment)))) {
    return (await checkKnownPayment(services, proof_hash)) ?? refuseRetryable("payment.undecided");
  }
  const settling = await facilitator.settle(proof.payload, requirements);
  if (settling.outcome === "unknown") return refuseRetryable("payment.undecided");
  if (settling.outcome === "refused") {
    await recordPaymentRefusal(services, proof_hash, "failed", settling.reason);
    return requestPayment(refuse("payment.not_settled", settling.reason));
  }
  await creditPayment(services, payment, settling);
  const linked = linkSubmission(proof_hash, payer.submission);
  return withPaymentResponse(await submitTask(services, router.route, linked), settling.response);
}

/** Builds a submission that records its task with the payment in the same transaction. */
function linkSubmission(proof_hash: string, submission: Submission): Submission {
  return {
    ...submission,
    async saveResponse(tx, answer) {
      const { task_id } = answer.body as { readonly task_id: string };
      await linkPaymentToTask(tx, { proof_hash, task_id });
      await submission.saveResponse?.(tx, answer);
    },
  };
}

/** Returns the refusal of a payment that was seen before. */
async function checkKnownPayment(
  { storage }: Services,
  proof_hash: string,
): Promise<Refusal<"payment.reused" | "payment.undecided"> | undefined> {
  const known = await findPayment(storage.read, proof_hash);
  if (known === undefined || known.state === "failed") return undefined;
  return known.state === "settled"
    ? refuse("payment.reused")
    : refuseRetryable("payment.undecided");
}

/** Without a payer the wallet pays from its own account. */
function resolvePayer(submission: Submission, { wallet }: PaymentProof) {
  const { caller, body } = submission;
  const id = caller.kind === "agent" ? caller.agentId : body.submitted_by;
  if (id !== undefined) return { id, submission, isWallet: false };
  const account = `x402:${wallet}`;
  return {
    id: account,
    submission: { ...submission, body: { ...body, submitted_by: account } },
    isWallet: true,
  };
}

type MoneyRefusal = Refusal<"budget.insufficient" | "budget.no_payer">;

function isMoneyRefusal(answer: Submitted): answer is MoneyRefusal {
  return answer.ok === false && ["budget.insufficient", "budget.no_payer"].includes(answer.code);
}

function isAboveBudget(answer: Submitted): answer is Refusal<"budget.max_exceeded"> {
  return answer.ok === false && answer.code === "budget.max_exceeded";
}

const refuseRetryable = <C extends Code>(code: C): Refusal<C> => ({
  ...refuse(code),
  retryAfterSeconds: 30,
});

/** Builds a 402 with the payment requirements in header and body. */
function toPaymentRequired(
  { config }: PaymentDependencies,
  { targetId }: Submission,
  requirements: PaymentRequirements,
  refusal: Refusal,
): Submitted {
  const path = `/agent/${encodeURIComponent(targetId)}/task`;
  const required = {
    x402Version: 2,
    resource: {
      url: `${config.server.baseUrl ?? ""}${path}`,
      description: `A task for agent ${targetId}`,
      mimeType: "application/json",
    },
    accepts: [requirements],
  };
  const header = formatRequiredHeader({ ...required, error: refusal.code });
  return {
    ...refusal,
    headers: { ...refusal.headers, "payment-required": header },
    members: { ...refusal.members, ...required },
  } as Submitted;
}

/** Adds the facilitator's receipt to the answer, because the payment stands even when the task was refused. */
function withPaymentResponse(answer: Submitted, response: SettleResponse): Submitted {
  const headers = { "payment-response": formatSettledHeader(response) };
  return { ...answer, headers: { ...answer.headers, ...headers } };
}
