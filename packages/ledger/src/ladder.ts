import { crossCheckGoal } from "./cross-check-goal.ts";
import { crossCheckSteps, stepsAreUnrecorded } from "./cross-check-steps.ts";
import type { LedgerRefusal, LedgerRemark } from "./refusals.ts";
import { type Ledger, LEDGER_SPEC } from "./schema.ts";
import { signatureHolds } from "./signature.ts";
import { isInOrder } from "./timeline-order.ts";

/** What a ledger is judged against; what is undefined is not asked. */
export interface Known {
  /** The hash of the timeline as it is. */
  readonly hash: string;
  /** The keys that may have signed, tried in turn. */
  readonly keys: readonly string[];
  readonly agentId: string | undefined;
}

type Rung = {
  readonly name: string;
  /** Whether the ledger stands on the rung; undefined when the rung has nothing to ask of it. */
  readonly holds: (ledger: Ledger, known: Known) => boolean | undefined;
} & (
  | {
      /** Who fails here is refused, and no later rung is judged. */
      readonly refusal: LedgerRefusal;
      readonly remark?: never;
    }
  | {
      readonly refusal?: never;
      /** Who fails here stays valid, and the verdict points it out. */
      readonly remark: LedgerRemark;
    }
);

/** The checks of a ledger of right structure, in the order in which they refuse it. */
export const LADDER: readonly Rung[] = [
  { name: "spec", refusal: "ledger.spec", holds: ({ spec }) => spec === LEDGER_SPEC },
  {
    name: "agent",
    refusal: "ledger.wrong_agent",
    holds: ({ agent_id }, { agentId }) =>
      agentId === undefined ? undefined : agent_id === agentId,
  },
  {
    name: "content_hash",
    refusal: "ledger.content_hash_mismatch",
    holds: ({ content_hash }, { hash }) => content_hash === hash,
  },
  { name: "order", refusal: "ledger.unordered", holds: ({ timeline }) => isInOrder(timeline) },
  {
    name: "signed",
    remark: "ledger.unsigned",
    holds: ({ signature }) => signature !== undefined,
  },
  {
    name: "key",
    refusal: "ledger.key_missing",
    holds: ({ signature }, { keys }) => (signature === undefined ? undefined : keys.length > 0),
  },
  {
    name: "signature",
    refusal: "ledger.signature_invalid",
    holds: ({ signature }, { hash, keys }) =>
      signature === undefined ? undefined : signatureHolds(signature, hash, keys),
  },
  {
    name: "goal",
    remark: "ledger.goal_contradicted",
    holds: (ledger) => crossCheckGoal(ledger).length === 0,
  },
  {
    name: "steps",
    remark: "ledger.steps_contradicted",
    holds: (ledger) => crossCheckSteps(ledger).length === 0,
  },
  {
    name: "steps_recorded",
    remark: "ledger.steps_unrecorded",
    holds: (ledger) => (ledger.steps.length === 0 ? undefined : !stepsAreUnrecorded(ledger)),
  },
];
