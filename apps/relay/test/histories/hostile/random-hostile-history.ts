import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { toMicro } from "@agent/budget";
import fc from "fast-check";
import { agentSteps, createParty } from "../agent-steps.ts";
import { checkAll, checkRows } from "../check-money.ts";
import { createGroups, type Group } from "../create-groups.ts";
import { createSerialClock } from "../create-serial-clock.ts";
import { HistoryRelay } from "../history-relay.ts";
import type { HistoryStep } from "../history-step.ts";
import { moneySteps } from "../money-steps.ts";
import { relaySteps, unfreezeRelay } from "../relay-steps.ts";
import { submissionSteps } from "../submission-steps.ts";
import { workSteps } from "../work-steps.ts";
import { answerRequest } from "./answer-requests.ts";
import { checkLoss } from "./check-loss.ts";
import { endHostileHistory } from "./end-hostile-history.ts";
import { HostilePeer } from "./hostile-peer.ts";
import type { HostileHistory, HostileStep } from "./hostile-step.ts";
import { moneyMessages } from "./money-messages.ts";
import { addPeer, operatorSteps } from "./operator-steps.ts";
import { peeringMessages } from "./peering-messages.ts";
import { taskMessages } from "./task-messages.ts";

const localSteps: Readonly<Record<string, HistoryStep>> = {
  ...moneySteps,
  ...submissionSteps,
  ...workSteps,
  ...agentSteps,
};
const atRelay = (given: Readonly<Record<string, HistoryStep>>) =>
  Object.fromEntries(
    Object.entries(given).map(([name, step]): [string, HostileStep] => [
      name,
      ({ relay }, __, picks) => step(relay, picks),
    ]),
  );
const steps = {
  ...atRelay(localSteps),
  ...taskMessages,
  ...moneyMessages,
  ...peeringMessages,
  ...operatorSteps,
};
const allSteps: Readonly<Record<string, HostileStep>> = { ...steps, ...atRelay(relaySteps) };

/** The steps that lead to most of the others; every other one has the weight 1. */
const WEIGHTS = {
  submitTask: 20,
  deliverResult: 30,
  sendForward: 25,
  sendResult: 25,
  sendSettlement: 12,
  changeAnswers: 5,
  proposeAgain: 3,
  admitPeer: 3,
  replay: 3,
  sendCancel: 3,
  passTime: 14,
};

const PARTIES = 3;
const FIRST_DEPOSIT = 20;
const GROUPS_PER_CHECK = 10;
const MAX_FROZEN_GROUPS = 3;
/** Every how many groups the operator adds the peers that are none. */
const GROUPS_PER_PEERING = 4;

/** Histories of a relay with hostile peers, of up to `maxGroups` groups of steps. */
export function createHostileHistories(maxGroups: number) {
  return fc.record({
    groups: createGroups(
      { steps, soloSteps: relaySteps, maxTogether: 8, weights: WEIGHTS },
      maxGroups,
    ),
    seed: fc.nat(),
    AGENT_PLATFORM_FEE_RATE: fc.constantFrom("0", "0.05", "0.123456"),
    AGENT_FEDERATION_CREDIT_LIMIT: fc.constantFrom("3", "20"),
  });
}

type RandomHistory =
  ReturnType<typeof createHostileHistories> extends fc.Arbitrary<infer Value> ? Value : never;

/** Lets a history happen, and throws at the first broken rule with the steps before it. */
export async function runHostileHistory({
  groups,
  seed,
  ...settings
}: RandomHistory): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "relay-hostile-"));
  const history = await openHistory(folder, seed, settings);
  const { relay, peers } = history;
  try {
    let frozenGroups = 0;
    for (const [at, group] of groups.entries()) {
      if (at % GROUPS_PER_PEERING === 0) {
        for (const peer of peers) await addPeer(history, peer);
      }
      await runGroup(history, group);
      await (at % GROUPS_PER_CHECK === GROUPS_PER_CHECK - 1 ? checkAll : checkRows)(relay);
      await checkLoss(history);
      const isFrozen = relay.t.relay.freezer.frozen() !== undefined;
      frozenGroups = isFrozen ? frozenGroups + 1 : 0;
      if (frozenGroups > MAX_FROZEN_GROUPS) await unfreezeRelay(relay);
    }
    await endHostileHistory(history);
  } finally {
    await relay.close();
    for (const peer of peers) await peer.close();
    rmSync(folder, { recursive: true });
  }
}

async function openHistory(
  folder: string,
  seed: number,
  settings: Pick<RandomHistory, "AGENT_PLATFORM_FEE_RATE" | "AGENT_FEDERATION_CREDIT_LIMIT">,
): Promise<HostileHistory> {
  const env = {
    ...settings,
    AGENT_FEDERATION_ENDPOINT_URL: "http://127.0.0.1:1",
    AGENT_FEDERATION_AUTO_ACCEPT_PEERS: "true",
    AGENT_DISPUTE_ANSWER_MS: "60000",
    // The rows are compared with the peer's debt at the end, so none of them is deleted before.
    AGENT_RETENTION_DAYS: "0",
    // The books are checked after some groups, so the relay need not check them as well.
    AGENT_RECONCILE_INTERVAL_MS: "86400000",
  };
  const relay = await HistoryRelay.open(folder, env, { clock: createSerialClock(), name: "relay" });
  const peers = [
    await HostilePeer.open(relay, { seed, answer: answerRequest }),
    await HostilePeer.open(relay, { seed: seed + 1, answer: answerRequest }),
  ];
  relay.neighbour = { chooseParty: (pick) => peers[pick % 2]!.chooseParty(pick >> 1) };
  for (let count = 0; count < PARTIES; count += 1) await createParty(relay);
  for (const party of relay.facts.parties) {
    await relay.t.deposit(party, FIRST_DEPOSIT);
    relay.facts.deposited += toMicro(FIRST_DEPOSIT);
  }
  const limit = toMicro(Number(settings.AGENT_FEDERATION_CREDIT_LIMIT));
  const granted = new Map(peers.map(({ signer }) => [signer.relayId, limit]));
  const history = { relay, peers, granted, cleared: new Map<string, number>() };
  return history;
}

/** Lets the steps of a group happen at once. */
async function runGroup(history: HostileHistory, group: Group): Promise<void> {
  const { relay, peers } = history;
  await Promise.all(
    group.map(([name, picks]) => {
      // A step chooses by the last bits of its numbers, so the peer is chosen by other ones.
      const peer = peers[(picks[0] >> 20) % 2]!;
      relay.note(name);
      return allSteps[name]!(history, peer, picks);
    }),
  );
  await relay.tick();
}
