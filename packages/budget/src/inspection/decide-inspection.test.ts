import { describe, expect, test } from "vitest";
import {
  decideInspection,
  expireInspection,
  extendDeadline,
  shortenDeadline,
  type Inspection,
  type InspectionEvent,
  openInspection,
} from "./decide-inspection.ts";
import { fromMillionths, NO_SHARE, toMillionths } from "./millionths.ts";

const terms = { windowMs: 1_000, answerMs: 200, decisionMs: 50 };
const BEGUN = 10_000;

const events = {
  accepted: { type: "accepted" },
  rejected: { type: "rejected", offer: toMillionths("0.25") },
  conceded: { type: "conceded" },
  contested: { type: "contested", arbiter: "agent" },
  unarbitrated: { type: "contested", arbiter: "operator" },
  decided: { type: "decided", share: toMillionths("0.9"), by: "agent" },
  ruled: { type: "decided", share: toMillionths("0.9"), by: "operator" },
} as const satisfies Record<string, InspectionEvent>;
type EventName = keyof typeof events;

const inspecting = openInspection(terms, BEGUN);
const offering = after(inspecting, { type: "rejected", offer: toMillionths("0.5") });
const disputed = after(offering, events.contested);
const positions = {
  inspecting,
  rejected: after(inspecting, { type: "rejected", offer: NO_SHARE }),
  offering,
  disputed,
  operated: after(offering, events.unarbitrated),
  // The agent let its time pass, and the operator's has begun.
  passed: expireInspection(disputed, terms, BEGUN + 50),
  closed: after(inspecting, events.accepted),
};
type PositionName = keyof typeof positions;

function after(inspection: Inspection, event: InspectionEvent, now = BEGUN): Inspection {
  const decision = decideInspection(inspection, event, terms, now);
  if (!decision.ok) throw new Error(decision.code);
  return decision.inspection;
}

/** Formats an inspection as one line, its deadline as the time that it has left. */
function formatInspection(inspection: Inspection, now: number): string {
  const { state, deadline, offer, arbiter, outcome } = inspection;
  if (outcome !== null) {
    return `${outcome.result} ${fromMillionths(outcome.share)} ${outcome.lostBy ?? "none"}`;
  }
  return `${state} ${deadline === null ? "never" : deadline - now} ${fromMillionths(offer)} ${arbiter ?? "none"}`;
}

function decideAt(position: PositionName, event: EventName, offset: number): string {
  const inspection = positions[position];
  const now = (inspection.deadline ?? BEGUN) + offset;
  const decision = decideInspection(inspection, events[event], terms, now);
  return decision.ok ? formatInspection(decision.inspection, now) : decision.code;
}

const CLOSED = "inspection.closed";
const WRONG = "inspection.wrong_state";
const HIDDEN = "inspection.not_found";
const FOREIGN = "inspection.not_party";

test("the submitter's time begins when the receipt arrives", () => {
  expect(formatInspection(inspecting, BEGUN)).toBe("inspecting 1000 0 none");
});

describe("decideInspection", () => {
  test.each<[PositionName, EventName, before: string, late: string]>([
    ["inspecting", "accepted", "accepted 1 none", CLOSED],
    ["inspecting", "rejected", "rejected 200 0.25 none", CLOSED],
    ["inspecting", "conceded", WRONG, CLOSED],
    ["inspecting", "contested", WRONG, CLOSED],
    ["inspecting", "unarbitrated", WRONG, CLOSED],
    ["inspecting", "decided", HIDDEN, HIDDEN],
    ["inspecting", "ruled", WRONG, CLOSED],
    ["rejected", "accepted", "accepted 1 none", CLOSED],
    ["rejected", "rejected", WRONG, CLOSED],
    ["rejected", "conceded", "conceded 0 none", CLOSED],
    ["rejected", "contested", "disputed 50 0 agent", CLOSED],
    ["rejected", "unarbitrated", "disputed 50 0 operator", CLOSED],
    ["rejected", "decided", HIDDEN, HIDDEN],
    ["rejected", "ruled", WRONG, CLOSED],
    ["offering", "accepted", "accepted 1 none", CLOSED],
    ["offering", "rejected", WRONG, CLOSED],
    ["offering", "conceded", "conceded 0.5 none", CLOSED],
    ["offering", "contested", "disputed 50 0.5 agent", CLOSED],
    ["offering", "unarbitrated", "disputed 50 0.5 operator", CLOSED],
    ["offering", "decided", HIDDEN, HIDDEN],
    ["offering", "ruled", WRONG, CLOSED],
    // After the agent's time the operator is in charge, and the parties may still give up.
    ["disputed", "accepted", "accepted 1 submitter", "accepted 1 submitter"],
    ["disputed", "rejected", WRONG, WRONG],
    ["disputed", "conceded", "conceded 0.5 executor", "conceded 0.5 executor"],
    ["disputed", "contested", WRONG, WRONG],
    ["disputed", "unarbitrated", WRONG, WRONG],
    ["disputed", "decided", "decided 0.9 submitter", HIDDEN],
    ["disputed", "ruled", FOREIGN, "decided 0.9 submitter"],
    ["operated", "accepted", "accepted 1 submitter", CLOSED],
    ["operated", "rejected", WRONG, CLOSED],
    ["operated", "conceded", "conceded 0.5 executor", CLOSED],
    ["operated", "contested", WRONG, CLOSED],
    ["operated", "unarbitrated", WRONG, CLOSED],
    ["operated", "decided", HIDDEN, HIDDEN],
    ["operated", "ruled", "decided 0.9 submitter", CLOSED],
    ["passed", "accepted", "accepted 1 submitter", CLOSED],
    ["passed", "rejected", WRONG, CLOSED],
    ["passed", "conceded", "conceded 0.5 executor", CLOSED],
    ["passed", "contested", WRONG, CLOSED],
    ["passed", "unarbitrated", WRONG, CLOSED],
    ["passed", "decided", HIDDEN, HIDDEN],
    ["passed", "ruled", "decided 0.9 submitter", CLOSED],
    ["closed", "accepted", CLOSED, CLOSED],
    ["closed", "rejected", CLOSED, CLOSED],
    ["closed", "conceded", CLOSED, CLOSED],
    ["closed", "contested", CLOSED, CLOSED],
    ["closed", "unarbitrated", CLOSED, CLOSED],
    ["closed", "decided", HIDDEN, HIDDEN],
    ["closed", "ruled", CLOSED, CLOSED],
  ])(
    "decideInspection answers for %s to %s: %s before the deadline, %s from it on",
    (position, event, before, late) => {
      expect(decideAt(position, event, -1)).toBe(before);
      expect(decideAt(position, event, 0)).toBe(late);
      expect(decideAt(position, event, 1)).toBe(late);
    },
  );

  test.each<[PositionName, before: string, at: string, later: string]>([
    ["inspecting", "inspecting 1 0 none", "lapsed 1 none", "lapsed 1 none"],
    ["rejected", "rejected 1 0 none", "unanswered 0 none", "unanswered 0 none"],
    ["offering", "rejected 1 0.5 none", "unanswered 0.5 none", "unanswered 0.5 none"],
    ["disputed", "disputed 1 0.5 agent", "disputed 50 0.5 operator", "disputed 49 0.5 operator"],
    ["operated", "disputed 1 0.5 operator", "undecided 0.75 none", "undecided 0.75 none"],
    ["passed", "disputed 1 0.5 operator", "undecided 0.75 none", "undecided 0.75 none"],
    ["closed", "accepted 1 none", "accepted 1 none", "accepted 1 none"],
  ])(
    "the inspection %s ends by itself: %s before the deadline, %s at it, %s after it",
    (position, ...lines) => {
      const inspection = positions[position];
      const lineAt = (offset: number) => {
        const now = (inspection.deadline ?? BEGUN) + offset;
        return formatInspection(expireInspection(inspection, terms, now), now);
      };
      expect([lineAt(-1), lineAt(0), lineAt(1)]).toEqual(lines);
    },
  );

  test("the operator's time begins at the arbiter's deadline, however late the relay notices it", () => {
    const lateBy = (ms: number) =>
      formatInspection(expireInspection(disputed, terms, BEGUN + ms), 0);
    expect(lateBy(99)).toBe(`disputed ${BEGUN + 100} 0.5 operator`);
    expect(lateBy(100)).toBe("undecided 0.75 none");
    const now = BEGUN + 100;
    expect(decideInspection(disputed, events.ruled, terms, now)).toEqual({
      ok: false,
      code: CLOSED,
    });
  });

  test("decideInspection changes nothing in the inspection that it is given", () => {
    const before = structuredClone(positions);
    for (const position of Object.keys(positions) as PositionName[]) {
      for (const event of Object.keys(events) as EventName[]) decideAt(position, event, 0);
    }
    expect(positions).toEqual(before);
  });

  test.each([
    ["0", "0.5", null],
    ["0", "0.499999", "executor"],
    ["0", "0.500001", "submitter"],
    ["0", "0", "executor"],
    ["0", "1", "submitter"],
    ["0.5", "0.75", null],
    ["0.5", "0.6", "executor"],
    ["0.5", "0.8", "submitter"],
    ["0.000001", "0.5", "executor"],
    ["0.000001", "0.500001", "submitter"],
    ["0.999999", "0.999999", "executor"],
    ["0.999999", "1", "submitter"],
  ])(
    "with the offer %s and the decided share %s the losing party is %s",
    (offer, share, lostBy) => {
      const contested = after(
        after(inspecting, { type: "rejected", offer: toMillionths(offer) }),
        events.unarbitrated,
      );
      const ruling = { type: "decided", share: toMillionths(share), by: "operator" } as const;
      expect(after(contested, ruling).outcome?.lostBy).toBe(lostBy);
    },
  );

  test.each([
    ["0", "0.5"],
    ["0.5", "0.75"],
    ["0.000001", "0.500001"],
    ["0.999999", "1"],
    ["0.333333", "0.666667"],
  ])("an undecided case with the offer %s pays the share %s, rounded half up", (offer, share) => {
    const contested = after(
      after(inspecting, { type: "rejected", offer: toMillionths(offer) }),
      events.unarbitrated,
    );
    expect(expireInspection(contested, terms, BEGUN + 50).outcome).toEqual({
      result: "undecided",
      share: toMillionths(share),
      lostBy: null,
    });
  });

  test.each([-1, 1_000_000, 0.5])(
    "decideInspection throws for an offer of %s millionths",
    (offer) => {
      const rejection = { type: "rejected", offer: offer as never } as const;
      expect(() => decideInspection(inspecting, rejection, terms, BEGUN)).toThrow(RangeError);
    },
  );

  test.each([-1, 1_000_001, 0.5])(
    "decideInspection throws for a share of %s millionths",
    (share) => {
      const decision = { type: "decided", share: share as never, by: "agent" } as const;
      expect(() => decideInspection(disputed, decision, terms, BEGUN)).toThrow(RangeError);
    },
  );
});

describe("extendDeadline", () => {
  const MINUTE = 60_000;

  // In minutes; the relay starts at minute 60.
  test.each([
    ["leaves ten minutes of a long state", 60, 65, 70],
    ["leaves ten minutes when the deadline has passed", 60, 50, 70],
    ["does not move a deadline ten minutes away", 60, 70, 70],
    ["does not move a deadline further away", 60, 90, 90],
    ["leaves a short state its whole length", 5, 61, 65],
  ])("extendDeadline %s", (_, length, deadline, extended) => {
    const options = { deadline: deadline * MINUTE, lengthMs: length * MINUTE, now: 60 * MINUTE };
    expect(extendDeadline(options)).toBe(extended * MINUTE);
  });
});

describe("shortenDeadline", () => {
  // In minutes; the clock was set back to minute 60.
  test.each([
    ["leaves a state its whole length at most", 30, 5_000, 90],
    ["does not move a deadline at the whole length", 30, 90, 90],
    ["does not move a nearer deadline", 30, 61, 61],
    ["does not move a deadline that has passed", 30, 50, 50],
  ])("shortenDeadline %s", (_, lengthMs, deadline, shortened) => {
    expect(shortenDeadline({ deadline, lengthMs, now: 60 })).toBe(shortened);
  });
});
