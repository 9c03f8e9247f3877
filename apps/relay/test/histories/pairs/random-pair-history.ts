import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toMicro } from "@agent/budget";
import fc from "fast-check";
import { agentSteps, createParty } from "../agent-steps.ts";
import { checkAll, checkRows } from "../check-money.ts";
import { createGroups, type Group } from "../create-groups.ts";
import type { HistoryStep } from "../history-step.ts";
import { moneySteps } from "../money-steps.ts";
import { unfreezeRelay } from "../relay-steps.ts";
import { submissionSteps } from "../submission-steps.ts";
import { workSteps } from "../work-steps.ts";
import { endPair } from "./end-pair.ts";
import { HistoryPair } from "./history-pair.ts";
import { linkSteps } from "./link-steps.ts";
import { pairRelaySteps } from "./pair-relay-steps.ts";
import type { PairStep } from "./pair-step.ts";
import { addPeer, peerSteps } from "./peer-steps.ts";

const localSteps: Readonly<Record<string, HistoryStep>> = {
  ...moneySteps,
  ...submissionSteps,
  ...workSteps,
  ...agentSteps,
};
const atOneRelay = Object.entries(localSteps).map(([name, step]): [string, PairStep] => [
  name,
  (_, { relay }, picks) => step(relay, picks),
]);
const steps = { ...Object.fromEntries(atOneRelay), ...peerSteps, ...linkSteps };
const allSteps: Readonly<Record<string, PairStep>> = { ...steps, ...pairRelaySteps };

/** The steps that lead to most of the others; every other one has the weight 1. */
const WEIGHTS = {
  submitTask: 30,
  claimTask: 5,
  deliverResult: 24,
  cancelTask: 3,
  actOnInspection: 4,
  disturbLink: 5,
  loseKind: 2,
  joinPeer: 6,
  changeCredit: 2,
  payPeer: 2,
  passTime: 14,
  passToDeadline: 4,
};

const PARTIES = 3;
const FIRST_DEPOSIT = 20;
const GROUPS_PER_CHECK = 10;
const MAX_FROZEN_GROUPS = 3;

/** Histories of two peers of up to `maxGroups` groups of steps, and the settings of the relays. */
export function createPairHistories(maxGroups: number) {
  return fc.record({
    groups: createGroups(
      { steps, soloSteps: pairRelaySteps, maxTogether: 8, weights: WEIGHTS },
      maxGroups,
    ),
    endsPeered: fc.boolean(),
    canRestore: fc.boolean(),
    AGENT_PLATFORM_FEE_RATE: fc.constantFrom("0", "0.05", "0.123456"),
    AGENT_FEDERATION_CREDIT_LIMIT: fc.constantFrom("3", "100"),
    AGENT_RETENTION_DAYS: fc.constantFrom("0", "30"),
  });
}

type PairHistory =
  ReturnType<typeof createPairHistories> extends fc.Arbitrary<infer Value> ? Value : never;

/** Lets a history happen at two peers, and throws at the first broken rule with the steps before it. */
export async function runPairHistory({
  groups,
  endsPeered,
  canRestore,
  ...settings
}: PairHistory): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "relay-pair-"));
  const pair = await HistoryPair.open(folder, {
    ...settings,
    AGENT_FEDERATION_AUTO_ACCEPT_PEERS: "true",
    AGENT_DISPUTE_ANSWER_MS: "60000",
    // The books are checked after some groups, so the relays need not check them as well.
    AGENT_RECONCILE_INTERVAL_MS: "86400000",
  });
  pair.canRestore = canRestore;
  try {
    for (const { relay } of pair.sites) {
      for (let count = 0; count < PARTIES; count += 1) await createParty(relay);
      for (const party of relay.facts.parties) {
        await relay.t.deposit(party, FIRST_DEPOSIT);
        relay.facts.deposited += toMicro(FIRST_DEPOSIT);
      }
    }
    await addPeer(pair.sites[0]);
    let frozenGroups = 0;
    for (const [at, group] of groups.entries()) {
      await runGroup(pair, group);
      const check = at % GROUPS_PER_CHECK === GROUPS_PER_CHECK - 1 ? checkAll : checkRows;
      for (const { relay } of pair.sites) await check(relay);
      const isFrozen = pair.sites.some(({ relay }) => relay.t.relay.freezer.frozen() !== undefined);
      frozenGroups = isFrozen ? frozenGroups + 1 : 0;
      if (frozenGroups <= MAX_FROZEN_GROUPS) continue;
      for (const { relay } of pair.sites) await unfreezeRelay(relay);
    }
    await endPair(pair, endsPeered);
  } finally {
    await pair.close();
    rmSync(folder, { recursive: true });
  }
}

/** Lets the steps of a group happen at once, each at one of the two relays. */
async function runGroup(pair: HistoryPair, group: Group): Promise<void> {
  await Promise.all(
    group.map(([name, picks]) => {
      // A step chooses by the last bits of its numbers, so the relay is chosen by other ones.
      const site = pair.chooseSite(picks[0] >> 20);
      site.relay.note(`${name} at ${site.relay.name}`);
      return allSteps[name]!(pair, site, picks);
    }),
  );
  await pair.settle();
}
