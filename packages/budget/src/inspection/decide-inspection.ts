import { MICRO } from "../money.ts";
import type { InspectionCode } from "../refusals.ts";
import { asMillionths, type Millionths, NO_SHARE, WHOLE_SHARE } from "./millionths.ts";

/** The states of an inspection before payment (docs/decisions.md, 5). */
export type InspectionState = "inspecting" | "rejected" | "disputed" | "closed";

/** The actions and missed deadlines that end an inspection. */
export type InspectionResult =
  | "accepted"
  | "lapsed"
  | "conceded"
  | "unanswered"
  | "decided"
  | "undecided";

/** The kind of arbiter in charge of a disputed case. */
export type ArbiterKind = "agent" | "operator";

/** The lengths of the states in ms, fixed when the task was submitted. */
export interface InspectionTerms {
  /** The submitter's time to accept or reject. */
  readonly windowMs: number;
  /** The executor's time to concede or contest. */
  readonly answerMs: number;
  /** The arbiter's time to decide, and then the operator's. */
  readonly decisionMs: number;
}

/** The outcome of an inspection. */
export interface InspectionOutcome {
  readonly result: InspectionResult;
  /** The share of the amount due that the executor is paid. */
  readonly share: Millionths;
  /** The party that lost: the one farther from the decided share, or the one that gave up in `disputed`. */
  readonly lostBy: "submitter" | "executor" | null;
}

/** The state of an inspection. */
export interface Inspection {
  readonly state: InspectionState;
  /** The time in ms at which the state ends without any action; null once it is closed. */
  readonly deadline: number | null;
  /** The share of the amount due that the submitter offered when it rejected. */
  readonly offer: Millionths;
  /** Null before the case is contested. */
  readonly arbiter: ArbiterKind | null;
  /** Null until it is closed. */
  readonly outcome: InspectionOutcome | null;
}

/** An action of a party or of the arbiter. */
export type InspectionEvent =
  | { readonly type: "accepted" | "conceded" }
  | { readonly type: "rejected"; readonly offer: Millionths }
  /** `arbiter` decides the case: the named agent if it is still eligible, otherwise the operator. */
  | { readonly type: "contested"; readonly arbiter: ArbiterKind }
  | { readonly type: "decided"; readonly share: Millionths; readonly by: ArbiterKind };

/** An inspection after an action, or the code of the refusal. */
export type DecideInspectionResult =
  | { readonly ok: true; readonly inspection: Inspection }
  | { readonly ok: false; readonly code: InspectionCode };

/** Opens the inspection of a task whose receipt arrived at `now`. */
export function openInspection({ windowMs }: InspectionTerms, now: number): Inspection {
  return {
    state: "inspecting",
    deadline: now + windowMs,
    offer: NO_SHARE,
    arbiter: null,
    outcome: null,
  };
}

/**
 * Applies every deadline at or before `now`. Returns the same object if there is none. The operator's time
 * begins at the arbiter's deadline, however late the relay processes that deadline.
 */
export function expireInspection(
  inspection: Inspection,
  terms: InspectionTerms,
  now: number,
): Inspection {
  const { state, deadline, arbiter, offer } = inspection;
  if (deadline === null || deadline > now) return inspection;
  if (state === "inspecting") return close(inspection, "lapsed", WHOLE_SHARE);
  if (state === "rejected") return close(inspection, "unanswered", offer);
  if (arbiter === "operator") {
    // A middle between two millionths is rounded up in favour of the executor.
    return close(inspection, "undecided", asMillionths(Math.ceil((MICRO + offer) / 2)));
  }
  const passedOn: Inspection = {
    ...inspection,
    arbiter: "operator",
    deadline: deadline + terms.decisionMs,
  };
  return expireInspection(passedOn, terms, now);
}

const MIN_TIME_LEFT_MS = 600_000;

/**
 * Returns the deadline of a state of `lengthMs` after the relay started at `now`. At least ten minutes
 * remain, or the whole length if that is shorter, so that no party loses because the relay was down. The
 * caller must extend a state only once; otherwise repeated restarts would keep it open forever.
 */
export function extendDeadline({
  deadline,
  lengthMs,
  now,
}: {
  readonly deadline: number;
  readonly lengthMs: number;
  readonly now: number;
}): number {
  return Math.max(deadline, now + Math.min(lengthMs, MIN_TIME_LEFT_MS));
}

/**
 * Returns the deadline of a state of `lengthMs` after the relay's clock was set back to `now`. From then on
 * a state lasts at most its whole length; a deadline that was computed with the wrong time may be much
 * further ahead.
 */
export function shortenDeadline({
  deadline,
  lengthMs,
  now,
}: {
  readonly deadline: number;
  readonly lengthMs: number;
  readonly now: number;
}): number {
  return Math.min(deadline, now + lengthMs);
}

/**
 * Applies an action at `now`, after all deadlines that have passed by then. Refused with
 * `inspection.not_found` (an agent decides a case that it is not in charge of), `inspection.not_party` (the
 * operator decides a case that an agent is in charge of), `inspection.closed` or `inspection.wrong_state`.
 * Throws a RangeError for an offer outside 0 to 999,999 and for a share outside 0 to 1,000,000.
 */
export function decideInspection(
  inspection: Inspection,
  event: InspectionEvent,
  terms: InspectionTerms,
  now: number,
): DecideInspectionResult {
  const current = expireInspection(inspection, terms, now);
  const code = checkEvent(current, event);
  return code === undefined
    ? { ok: true, inspection: applyEvent(current, event, terms, now) }
    : { ok: false, code };
}

const EVENTS_OF_STATE: Readonly<Record<InspectionState, readonly InspectionEvent["type"][]>> = {
  inspecting: ["accepted", "rejected"],
  rejected: ["accepted", "conceded", "contested"],
  disputed: ["accepted", "conceded", "decided"],
  closed: [],
};

function checkEvent(
  { state, arbiter }: Inspection,
  event: InspectionEvent,
): InspectionCode | undefined {
  if (event.type === "decided") {
    // A named arbiter learns nothing about a case that it is not in charge of.
    if (event.by === "agent" && arbiter !== "agent") return "inspection.not_found";
    if (event.by === "operator" && arbiter === "agent") return "inspection.not_party";
  }
  if (state === "closed") return "inspection.closed";
  return EVENTS_OF_STATE[state].includes(event.type) ? undefined : "inspection.wrong_state";
}

function applyEvent(
  inspection: Inspection,
  event: InspectionEvent,
  { answerMs, decisionMs }: InspectionTerms,
  now: number,
): Inspection {
  const isDisputed = inspection.state === "disputed";
  switch (event.type) {
    case "accepted":
      return close(inspection, "accepted", WHOLE_SHARE, isDisputed ? "submitter" : null);
    case "conceded":
      return close(inspection, "conceded", inspection.offer, isDisputed ? "executor" : null);
    case "rejected": {
      const offer = assertOffer(event.offer);
      return { ...inspection, state: "rejected", deadline: now + answerMs, offer };
    }
    case "contested": {
      const { arbiter } = event;
      return { ...inspection, state: "disputed", deadline: now + decisionMs, arbiter };
    }
    case "decided": {
      const share = asMillionths(event.share);
      return close(inspection, "decided", share, findLoser(share, inspection.offer));
    }
  }
}

/** Compares with twice the middle, because the middle itself may lie between two millionths. */
function findLoser(share: Millionths, offer: Millionths): InspectionOutcome["lostBy"] {
  const distance = 2 * share - (MICRO + offer);
  if (distance === 0) return null;
  return distance < 0 ? "executor" : "submitter";
}

function close(
  inspection: Inspection,
  result: InspectionResult,
  share: Millionths,
  lostBy: InspectionOutcome["lostBy"] = null,
): Inspection {
  const outcome = { result, share, lostBy };
  return { ...inspection, state: "closed", deadline: null, outcome };
}

function assertOffer(offer: Millionths): Millionths {
  if (offer >= WHOLE_SHARE) throw new RangeError("an offer must be below the whole");
  return asMillionths(offer);
}
