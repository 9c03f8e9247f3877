import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toMicro } from "@agent/budget";
import fc from "fast-check";
import { agentSteps, createParty } from "./agent-steps.ts";
import { checkAll, checkRows } from "./check-money.ts";
import { endHistory } from "./end-history.ts";
import { HistoryRelay } from "./history-relay.ts";
import { createGroups } from "./create-groups.ts";
import type { HistoryStep } from "./history-step.ts";
import { moneySteps } from "./money-steps.ts";
import { relaySteps, unfreezeRelay } from "./relay-steps.ts";
import { submissionSteps } from "./submission-steps.ts";
import { workSteps } from "./work-steps.ts";

const steps = { ...moneySteps, ...submissionSteps, ...workSteps, ...agentSteps };
const allSteps: Readonly<Record<string, HistoryStep>> = { ...steps, ...relaySteps };

/** The steps that lead to most of the others; every other one has the weight 1. */
const weights: Partial<Record<keyof typeof steps | keyof typeof relaySteps, number>> = {
  deposit: 3,
  payByCard: 4,
  reverseCardPayment: 3,
  withdraw: 3,
  resolveWithdrawal: 3,
  submitTask: 18,
  claimTask: 3,
  deliverResult: 14,
  cancelTask: 3,
  actOnInspection: 12,
  passTime: 8,
  passToDeadline: 4,
};

const PARTIES = 5;
const FIRST_DEPOSIT = 10;
/** The books are checked after as many groups of steps, because a check takes as long as they do. */
const GROUPS_PER_CHECK = 10;
/** The relay does not stay frozen for longer, because then nothing happens. */
const MAX_FROZEN_GROUPS = 3;

/** Histories of up to `maxGroups` groups of steps, and the settings of their relays. */
export function createHistories(maxGroups: number) {
  return fc.record({
    groups: createGroups({ steps, soloSteps: relaySteps, maxTogether: 4, weights }, maxGroups),
    AGENT_PLATFORM_FEE_RATE: fc.constantFrom("0", "0.05", "0.123456"),
    AGENT_DISPUTE_FEE_RATE: fc.constantFrom("0", "0.05", "0.3"),
    AGENT_DISPUTE_FEE_MIN: fc.constantFrom("0", "0.000001", "0.01"),
    AGENT_RETENTION_DAYS: fc.constantFrom("0", "1", "30"),
  });
}

type History = ReturnType<typeof createHistories> extends fc.Arbitrary<infer Value> ? Value : never;

/** Lets a history happen at a relay, and throws at the first broken rule with the steps before it. */
export async function runHistory({ groups, ...settings }: History): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "relay-history-"));
  const relay = await HistoryRelay.open(folder, {
    ...settings,
    AGENT_DISPUTE_ANSWER_MS: "60000",
    AGENT_RELAY_ISSUE_CREDENTIALS: "true",
  });
  try {
    for (let count = 0; count < PARTIES; count += 1) await createParty(relay);
    for (const party of relay.facts.parties) {
      await relay.t.deposit(party, FIRST_DEPOSIT);
      relay.facts.deposited += toMicro(FIRST_DEPOSIT);
    }
    let frozenGroups = 0;
    for (const [at, group] of groups.entries()) {
      await Promise.all(group.map(([name, picks]) => allSteps[name]!(relay, picks)));
      await (at % GROUPS_PER_CHECK === GROUPS_PER_CHECK - 1 ? checkAll(relay) : checkRows(relay));
      frozenGroups = relay.t.relay.freezer.frozen() === undefined ? 0 : frozenGroups + 1;
      if (frozenGroups > MAX_FROZEN_GROUPS) await unfreezeRelay(relay);
    }
    await endHistory(relay);
  } finally {
    await relay.close();
    rmSync(folder, { recursive: true });
  }
}
