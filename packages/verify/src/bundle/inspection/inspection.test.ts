import {
  accountOf,
  asMicro,
  buildHoldPostings,
  buildReleasePostings,
  fromMicro,
  type InspectionOutcome,
  type Posting,
  settleInspection,
  toMicro,
  toMillionths,
} from "@agent/budget";
import { bytesToHex, generateKeyPair, hexToDidKey, signJson } from "@agent/crypto";
import {
  hashInspectionStatement,
  hashOutcomeRecord,
  hashReceipt,
  type OutcomeRecord,
  signDecisionRecord,
  signOutcomeRecord,
  signSettlementRecord,
  signVerdictRecord,
  type VerdictRecord,
} from "@agent/receipts";
import { createSeededRandom } from "@agent/testkit";
import { describe, expect, test } from "vitest";
import {
  createDelegation,
  createTestSigner,
  START_TIME,
  type TestSigner,
} from "../../../test/create-delegation.ts";
import {
  type BundleInspection,
  type Evidence,
  formatBundle,
  formatReport,
  type BundlePosting,
  signBundle,
  verifyBundle,
} from "../../index.ts";

const random = createSeededRandom(21);
const paid = createDelegation(random, { hops: 1, keys: 2, price: 2, credential: false });
const { relay, executor } = paid;
const [submitter, arbiter, stranger] = [1, 2, 1].map((keys) => createTestSigner(random, keys)) as [
  TestSigner,
  TestSigner,
  TestSigner,
];
const task = { ...paid.evidence.task, submitted_by: submitter.signer.agent_id };
const evidence: Evidence = {
  ...paid.evidence,
  task,
  signers: [...paid.evidence.signers, submitter.signer, arbiter.signer],
};
const taskId = task.task_id;
const [payerId, payeeId] = [submitter.signer.agent_id, executor.signer.agent_id];
const disputeId = "019b7d21-53eb-7ccd-926c-0000000000dd";
const subject = { task_id: taskId, receipt_hash: hashReceipt(evidence.receipt) };
const issuer = hexToDidKey(relay.publicKey);
const TIME = START_TIME + 7_000;
const CLOSED_AT = TIME + 60_000;

const say = (
  { signer, secretKey }: TestSigner,
  verdict: VerdictRecord["verdict"],
  more: Partial<VerdictRecord> = {},
) =>
  signVerdictRecord(
    { ...subject, agent_id: signer.agent_id, verdict, timestamp: TIME, ...more },
    secretKey,
  );
const rejection = { reason: "Rows 7 to 9 are missing." };
const accepted = say(submitter, "accepted");
const rejected = say(submitter, "rejected", rejection);
const offered = say(submitter, "rejected", { ...rejection, offer: 0.5 });
const conceded = say(executor, "conceded");
const contested = say(executor, "contested", { reason: "The prompt names six rows." });

const decide = (share: number, arbiterId: string, secretKey: Uint8Array) =>
  signDecisionRecord(
    { ...subject, arbiter_id: arbiterId, share, reason: "Most of it is there.", timestamp: TIME },
    secretKey,
  );
const decided = decide(0.75, arbiter.signer.agent_id, arbiter.secretKey);
const ruled = decide(0.25, relay.relayId, relay.secretKey);

const terms = {
  window_ms: 60_000,
  answer_ms: 60_000,
  decision_ms: 60_000,
  arbiter_id: arbiter.signer.agent_id,
  fee_rate: 0.05,
  fee_min: 0.01,
  platform_fee_rate: 0.05,
};
const begun: BundleInspection = {
  state: "inspecting",
  terms,
  due: 2,
  fee: 0.1,
  verdicts: [],
  decision: null,
  outcome: null,
  postings: toBundlePostings(buildReleasePostings({ payerId, taskId, amount: toMicro("0.3") })),
};

function toBundlePostings(postings: readonly Posting[]): readonly BundlePosting[] {
  return postings.map(({ account, type, amount }) => ({
    transaction_id: "019b7d21-53eb-7ccd-926c-0000000000aa",
    account,
    type,
    amount: fromMicro(amount),
    created_at: TIME,
  }));
}

/** Returns the evidence of an inspection that is not closed. */
function openCase(
  state: BundleInspection["state"],
  verdicts: readonly VerdictRecord[],
): Evidence & { readonly inspection: BundleInspection } {
  const bond = verdicts.includes(contested)
    ? buildHoldPostings({ payerId: payeeId, taskId: disputeId, amount: toMicro("0.1") })
    : [];
  const postings = [...begun.postings, ...toBundlePostings(bond)];
  const inspection = { ...begun, state, verdicts, postings };
  return { ...evidence, settlements: [], postings: [], inspection };
}

interface Closing {
  readonly verdicts: readonly VerdictRecord[];
  readonly outcome: OutcomeRecord["outcome"];
  readonly share: number;
  readonly lostBy?: InspectionOutcome["lostBy"];
  readonly decision?: typeof decided;
  /** Whether the case was disputed before an agent. */
  readonly isAgents?: boolean;
}

function closeCase({ verdicts, outcome, share, lostBy = null, decision, isAgents }: Closing) {
  const open = openCase("closed", verdicts);
  const settled = settleInspection({
    taskId,
    disputeId,
    payerId,
    payeeId,
    arbiterId: isAgents === true ? arbiter.signer.agent_id : null,
    due: toMicro(2),
    dueStatus: "completed",
    fee: toMicro("0.1"),
    bond: verdicts.includes(contested) ? toMicro("0.1") : asMicro(0),
    platformFeeRate: 0.05,
    outcome: { result: outcome, share: toMillionths(share), lostBy },
  });
  const signed = signOutcomeRecord(
    {
      ...subject,
      outcome,
      share,
      verdicts: verdicts.map(hashInspectionStatement),
      decision: decision === undefined ? null : hashInspectionStatement(decision),
      closed_at: CLOSED_AT,
      issuer,
    },
    relay.secretKey,
  );
  const { suite: _, signature: __, ...record } = evidence.settlements[0]!;
  const settlement = signSettlementRecord(
    {
      ...record,
      payer_id: payerId,
      amount_settled: fromMicro(settled.paid),
      fee: fromMicro(settled.platformFee),
      net: fromMicro(settled.net),
      status: settled.status,
      outcome_hash: hashOutcomeRecord(signed),
    },
    relay.secretKey,
  );
  return {
    ...open,
    settlements: [settlement],
    postings: toBundlePostings(settled.settlementPostings),
    inspection: {
      ...open.inspection,
      decision: decision ?? null,
      outcome: signed,
      postings: [...open.inspection.postings, ...toBundlePostings(settled.disputePostings)],
    },
  };
}

const verifyEvidence = (changed: Evidence) =>
  verifyBundle(formatBundle(signBundle(changed, relay)), { publicKey: relay.publicKey });

const closings: Readonly<Record<string, Closing>> = {
  accepted: { verdicts: [accepted], outcome: "accepted", share: 1 },
  "accepted after a rejection": { verdicts: [rejected, accepted], outcome: "accepted", share: 1 },
  "closed in silence": { verdicts: [], outcome: "lapsed", share: 1 },
  conceded: { verdicts: [offered, conceded], outcome: "conceded", share: 0.5 },
  unanswered: { verdicts: [rejected], outcome: "unanswered", share: 0 },
  "decided by the agent": {
    verdicts: [rejected, contested],
    outcome: "decided",
    share: 0.75,
    lostBy: "submitter",
    decision: decided,
    isAgents: true,
  },
  "decided by the operator": {
    verdicts: [offered, contested],
    outcome: "decided",
    share: 0.25,
    lostBy: "executor",
    decision: ruled,
  },
  undecided: { verdicts: [offered, contested], outcome: "undecided", share: 0.75 },
  "given up by the submitter": {
    verdicts: [rejected, contested, accepted],
    outcome: "accepted",
    share: 1,
    lostBy: "submitter",
    isAgents: true,
  },
  "given up by the executor": {
    verdicts: [offered, contested, conceded],
    outcome: "conceded",
    share: 0.5,
    lostBy: "executor",
  },
};

describe.each(Object.entries(closings))(
  "the evidence of an inspection that was %s",
  (_, closing) => {
    const closed = closeCase(closing);

    test("the evidence of a closed inspection is valid and settled", () => {
      const { code, checks } = verifyEvidence(closed);
      expect(code).toBeUndefined();
      expect(checks).toContainEqual({ name: "settled", ok: true });
    });

    test("the evidence of a closed inspection is refused if a micro-unit of any posting is changed", () => {
      const { postings, inspection } = closed;
      const change = (list: readonly BundlePosting[], at: number) =>
        list.map((posting, index) =>
          index === at ? { ...posting, amount: posting.amount + 1e-6 } : posting,
        );
      const changed: Evidence[] = [
        ...postings.map((__, at) => ({ ...closed, postings: change(postings, at) })),
        ...inspection.postings.map((__, at) => {
          const moved = change(inspection.postings, at);
          return { ...closed, inspection: { ...inspection, postings: moved } };
        }),
      ];
      const codes = changed.map((each) => verifyEvidence(each).code);
      expect(new Set(codes)).toEqual(new Set(["bundle.postings_mismatch"]));
    });

    test("the evidence of a closed inspection is refused with another due sum, fee, state or share", () => {
      const { inspection } = closed;
      const codeOf = (changes: Partial<BundleInspection>) =>
        verifyEvidence({ ...closed, inspection: { ...inspection, ...changes } }).code;
      expect(codeOf({ due: 2.000001 })).toBeDefined();
      expect(codeOf({ due: 1.9 })).toBe("bundle.inspection_mismatch");
      expect(codeOf({ fee: 0.100001 })).toBe("bundle.inspection_mismatch");
      expect(codeOf({ state: "disputed" })).toBe("bundle.inspection_mismatch");
      const share = closing.share === 0.4 ? 0.3 : 0.4;
      const { suite: __, signature: ___, ...body } = inspection.outcome;
      const outcome = signOutcomeRecord({ ...body, share }, relay.secretKey);
      expect(codeOf({ outcome })).toBe("bundle.inspection_mismatch");
      expect(codeOf({ outcome: { ...inspection.outcome, share } })).toBe(
        "outcome.signature_invalid",
      );
    });

    test("the evidence is refused without its inspection, and with a record that names no outcome", () => {
      const { inspection: __, ...hidden } = closed;
      expect(verifyEvidence(hidden).code).toBe("bundle.inspection_mismatch");
      const { suite: ___, signature: ____, outcome_hash: _____, ...body } = closed.settlements[0]!;
      const settlements = [signSettlementRecord(body, relay.secretKey)];
      expect(verifyEvidence({ ...closed, settlements }).code).toBe("bundle.settlement_mismatch");
    });

    test("the evidence is refused with a record of another status, except for one that a ledger may explain", () => {
      const { suite: __, signature: ___, ...body } = closed.settlements[0]!;
      const codeOf = (status: typeof body.status) => {
        const settlements = [signSettlementRecord({ ...body, status }, relay.secretKey)];
        return verifyEvidence({ ...closed, settlements }).code;
      };
      const mismatch = "bundle.settlement_mismatch";
      const isWhole = closing.share === 1;
      const isRefunded = closing.share === 0;
      expect([codeOf("completed"), codeOf("partial"), codeOf("refunded")]).toEqual([
        isWhole ? undefined : mismatch,
        isRefunded ? mismatch : undefined,
        isRefunded ? undefined : mismatch,
      ]);
    });
  },
);

describe("the evidence of an inspection that is not closed", () => {
  test.each([
    ["inspecting", []],
    ["rejected", [offered]],
    ["disputed", [rejected, contested]],
  ] as const)(
    "the evidence of an open inspection is valid while it is %s, and says that nothing is paid yet",
    (state, verdicts) => {
      const open = openCase(state, verdicts);
      const text = formatBundle(signBundle(open, relay));
      const verdict = verifyBundle(text, { publicKey: relay.publicKey });
      expect(verdict.code).toBeUndefined();
      expect(verdict.checks.some(({ name }) => name === "settled")).toBe(false);
      expect(formatReport(verdict, JSON.parse(text))).toContain(
        `not paid yet: 2.00 USD is held for an inspection, which is ${state}`,
      );
    },
  );

  test("the evidence of an open inspection is refused with a settlement, or with the postings of one", () => {
    const { settlements, postings } = closeCase(closings["closed in silence"]!);
    const open = openCase("inspecting", []);
    expect(verifyEvidence({ ...open, settlements, postings }).code).toBe(
      "bundle.settlement_mismatch",
    );
    expect(verifyEvidence({ ...open, postings }).code).toBe("bundle.postings_mismatch");
  });

  test("the evidence of an open inspection is refused if more than one part of the hold returned at the receipt", () => {
    const open = openCase("inspecting", []);
    const [from, to] = begun.postings;
    const codeOf = (...postings: readonly BundlePosting[]) =>
      verifyEvidence({ ...open, inspection: { ...open.inspection, postings } }).code;
    expect(codeOf(from!, to!, to!)).toBe("bundle.postings_mismatch");
    expect(codeOf(from!, to!, from!, to!)).toBe("bundle.postings_mismatch");
    expect(codeOf(from!)).toBe("bundle.postings_mismatch");
    expect(codeOf()).toBeUndefined();
  });

  test("the evidence of an open inspection is refused if anything but a part of the hold returned to its payer", () => {
    const open = openCase("inspecting", []);
    const [from, to] = begun.postings as readonly [BundlePosting, BundlePosting];
    const codeOf = (...postings: readonly BundlePosting[]) =>
      verifyEvidence({ ...open, inspection: { ...open.inspection, postings } }).code;
    expect(codeOf(from, to)).toBeUndefined();
    for (const moved of [
      [{ ...from, account: "held:another" }, to],
      [from, { ...to, account: "agent:another" }],
      [from, { ...to, type: "deposit" as const }],
      [
        { ...from, type: "withdrawal" as const },
        { ...to, type: "withdrawal" as const },
      ],
    ]) {
      expect(codeOf(...moved)).toBe("bundle.postings_mismatch");
    }
  });

  test("the evidence of an open inspection is refused if a contest has no bond", () => {
    const open = openCase("disputed", [rejected, contested]);
    const inspection = { ...open.inspection, postings: begun.postings };
    expect(verifyEvidence({ ...open, inspection }).code).toBe("bundle.postings_mismatch");
  });
});

test("the statements of a party with 1,000 devices count, unless one takes as long as 4,096 tries", () => {
  const pairs = Array.from({ length: 1_000 }, () => generateKeyPair(random.randomBytes(32)));
  const devices = pairs.map(({ publicKey }, index) => ({
    device_id: `device ${index}`,
    public_key: bytesToHex(publicKey),
    valid_from: START_TIME - 1_000,
    valid_until: null,
  }));
  const party = { signer: { ...submitter.signer, devices }, secretKey: pairs.at(-1)!.secretKey };
  const signers = [...paid.evidence.signers, party.signer, arbiter.signer];
  const codeOf = (more: object) => {
    const spoken = say({ ...submitter, ...party }, "rejected", { ...rejection, ...more });
    return verifyEvidence({ ...openCase("rejected", [spoken]), signers }).code;
  };
  expect(codeOf({})).toBeUndefined();
  expect(codeOf({ note: "x".repeat(5 * 65_536) })).toBe("verdict.signature_invalid");
});

describe("a statement in the evidence is refused", () => {
  const codeOf = (verdicts: readonly VerdictRecord[], signers = evidence.signers) => {
    const last = verdicts.at(-1)?.verdict;
    const state = last === "contested" ? "disputed" : "rejected";
    return verifyEvidence({ ...openCase(state, verdicts), signers }).code;
  };
  const signAgain = (statement: VerdictRecord, changes: object, { secretKey }: TestSigner) =>
    signJson({ ...statement, ...changes }, secretKey) as VerdictRecord;

  test.each<[string, readonly VerdictRecord[], string]>([
    ["with an edited offer", [{ ...offered, offer: 0.4 }], "verdict.signature_invalid"],
    ["by another key", [signAgain(rejected, {}, stranger)], "verdict.signature_invalid"],
    [
      "by another agent",
      [signAgain(rejected, { agent_id: stranger.signer.agent_id }, stranger)],
      "verdict.wrong_signer",
    ],
    [
      "about another receipt",
      [signAgain(rejected, { receipt_hash: "0".repeat(64) }, submitter)],
      "verdict.receipt_mismatch",
    ],
    [
      "about another task",
      [signAgain(rejected, { task_id: disputeId }, submitter)],
      "verdict.task_mismatch",
    ],
    ["if the executor rejects", [say(executor, "rejected", rejection)], "verdict.wrong_signer"],
    [
      "by a key that was not in force yet",
      [say(submitter, "rejected", { ...rejection, timestamp: START_TIME - 900 * 86_400_000 })],
      "verdict.key_missing",
    ],
    ["twice", [rejected, offered], "bundle.inspection_mismatch"],
    [
      "beyond the three that there can be, before any is verified",
      [rejected, contested, accepted, { ...accepted, timestamp: TIME + 1 }],
      "bundle.inspection_mismatch",
    ],
    ["out of order", [contested, rejected], "bundle.inspection_mismatch"],
  ])("a statement in the evidence is refused: %s", (_, verdicts, code) => {
    expect(codeOf(verdicts)).toBe(code);
  });

  test("a statement by an arbiter that the terms do not name is refused", () => {
    const foreign = decide(0.75, stranger.signer.agent_id, stranger.secretKey);
    const closed = closeCase({ ...closings["decided by the agent"]!, decision: foreign });
    const signers = [...evidence.signers, stranger.signer];
    expect(verifyEvidence({ ...closed, signers }).code).toBe("decision.wrong_signer");
  });

  test.each([
    ["target", stranger.signer.agent_id],
    ["submitter", payerId],
    ["executor", payeeId],
  ])("IS38: a case whose terms name its %s as the arbiter is refused", (_, party) => {
    const closed = closeCase(closings["decided by the operator"]!);
    const assigned = { ...task, agent_id: stranger.signer.agent_id, assigned_to: payeeId };
    const codeWith = (arbiter_id: string) => {
      const inspection = { ...closed.inspection, terms: { ...terms, arbiter_id } };
      return verifyEvidence({ ...closed, task: assigned, inspection }).code;
    };
    expect(codeWith(arbiter.signer.agent_id)).toBeUndefined();
    expect(codeWith(party)).toBe("bundle.inspection_mismatch");
  });

  test("a statement by a key that is not the operator's is refused", () => {
    const foreign = decide(0.25, relay.relayId, stranger.secretKey);
    const closed = closeCase({ ...closings["decided by the operator"]!, decision: foreign });
    expect(verifyEvidence(closed).code).toBe("decision.signature_invalid");
  });

  test("a statement that its outcome does not name is refused", () => {
    const closed = closeCase(closings["conceded"]!);
    const inspection = {
      ...closed.inspection,
      verdicts: [
        say(submitter, "rejected", { ...rejection, offer: 0.5, timestamp: TIME + 1 }),
        conceded,
      ],
    };
    expect(verifyEvidence({ ...closed, inspection }).code).toBe("bundle.inspection_mismatch");
  });
});

test("the fee of a case that the submitter gave up cannot be credited to a stranger", () => {
  const closed = closeCase(closings["given up by the submitter"]!);
  const account = accountOf.agent(stranger.signer.agent_id);
  const own = accountOf.agent(arbiter.signer.agent_id);
  const postings = closed.inspection.postings.map((posting) =>
    posting.account === own ? { ...posting, account } : posting,
  );
  const inspection = { ...closed.inspection, postings };
  expect(verifyEvidence({ ...closed, inspection }).code).toBe("bundle.postings_mismatch");
});

test.each([
  // The window begins when the receipt arrives, by the same clock as its end.
  ["closed in silence", "window_ms", CLOSED_AT - evidence.received_at],
  // A statement may be up to five minutes from the relay's clock.
  ["unanswered", "answer_ms", CLOSED_AT - TIME + 300_000],
  ["undecided", "decision_ms", CLOSED_AT - TIME + 300_000],
] as const)("IS20: a case that was %s may not end before its %s", (name, member, least) => {
  const closed = closeCase(closings[name]!);
  const verifyWith = (length: number) => {
    const { inspection } = closed;
    const longer = { ...inspection, terms: { ...inspection.terms, [member]: length } };
    return verifyEvidence({ ...closed, inspection: longer });
  };
  expect(verifyWith(least).valid).toBe(true);
  expect(verifyWith(least + 1).code).toBe("bundle.inspection_mismatch");
});
