import type { Check } from "@agent/crypto";
import { crossCheckGoal } from "../coverage/cross-check-goal.ts";
import { crossCheckSteps, hasUnrecordedSteps } from "../coverage/cross-check-steps.ts";
import type { LedgerRefusal, LedgerWarning } from "../refusals.ts";
import { type Ledger, LEDGER_SPEC } from "../schema.ts";
import { isSignatureValid } from "./signature.ts";
import { isSortedByTime } from "./timeline-order.ts";

/** The values that a ledger is checked against; an undefined one is not checked. */
export interface VerifyContext {
  /** The computed hash of the timeline. */
  readonly hash: string;
  /** The keys that may have signed, in the order in which they are tried. */
  readonly keys: readonly string[];
  readonly agentId: string | undefined;
}

/** The checks of a ledger whose structure is valid, in the order in which they run. */
export const CHECKS: readonly Check<Ledger, VerifyContext, LedgerRefusal, LedgerWarning>[] = [
  { name: "spec", refusal: "ledger.spec", test: ({ spec }) => spec === LEDGER_SPEC },
  {
    name: "agent",
    refusal: "ledger.wrong_agent",
    test: ({ agent_id }, { agentId }) => (agentId === undefined ? undefined : agent_id === agentId),
  },
  {
    name: "content_hash",
    refusal: "ledger.content_hash_mismatch",
    test: ({ content_hash }, { hash }) => content_hash === hash,
  },
  { name: "order", refusal: "ledger.unordered", test: ({ timeline }) => isSortedByTime(timeline) },
  {
    name: "signed",
    warning: "ledger.unsigned",
    test: ({ signature }) => signature !== undefined,
  },
  {
    name: "key",
    refusal: "ledger.key_missing",
    test: ({ signature }, { keys }) => (signature === undefined ? undefined : keys.length > 0),
  },
  {
    name: "signature",
    refusal: "ledger.signature_invalid",
    test: ({ signature }, { hash, keys }) =>
      signature === undefined ? undefined : isSignatureValid(signature, hash, keys),
  },
  {
    name: "goal",
    warning: "ledger.goal_contradicted",
    test: (ledger) => crossCheckGoal(ledger).length === 0,
  },
  {
    name: "steps",
    warning: "ledger.steps_contradicted",
    test: (ledger) => crossCheckSteps(ledger).length === 0,
  },
  {
    name: "steps_recorded",
    warning: "ledger.steps_unrecorded",
    test: (ledger) => (ledger.steps.length === 0 ? undefined : !hasUnrecordedSteps(ledger)),
  },
];
