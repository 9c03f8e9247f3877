import type { HistoryRelay } from "./history-relay.ts";
import type { HistoryStep, Picks } from "./history-step.ts";
import { chooseFrom } from "./history-relay.ts";
import { moneySteps } from "./money-steps.ts";
import { submissionSteps } from "./submission-steps.ts";
import { workSteps } from "./work-steps.ts";

const SECOND_MS = 1_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** From a moment to the waiting time of card money; short times let more tasks be worked on. */
export const PASSES = [
  ...[1, 1, 1, 5, 5, 20, 20, 31, 61, 125, 600, 900].map((seconds) => seconds * SECOND_MS),
  HOUR_MS,
  DAY_MS,
  7 * DAY_MS,
];

const passTime: HistoryStep = async (relay, [length]) => {
  const ms = chooseFrom(PASSES, length)!;
  const parts = ms > 60 * SECOND_MS ? 2 : 1;
  for (let part = 0; part < parts; part += 1) await relay.advance(Math.ceil(ms / parts));
};

/** Lists the stored deadlines of work and inspections, each of which ends something at its exact time. */
async function listDeadlines(relay: HistoryRelay): Promise<number[]> {
  const rows = await relay.list<{ at: number }>(
    `select expires_at as at from tasks where status in ('pending', 'claimed')
     union select lease_until from tasks where status = 'claimed' and lease_until is not null
     union select deadline from inspections where deadline is not null order by at`,
  );
  return rows.map(({ at }) => Number(at)).filter((at) => at > relay.now() + 1);
}

/** Passes the time until the moment before a deadline, the deadline itself or the moment after it. */
const passToDeadline: HistoryStep = async (relay, [which, offset]) => {
  const deadline = chooseFrom(await listDeadlines(relay), which);
  if (deadline === undefined) return;
  const ms = deadline - relay.now() + ((offset % 3) - 1);
  // Some tasks live longer than anything else of a history.
  if (ms > DAY_MS) return;
  relay.note(`${ms} ms pass to a deadline`);
  if (offset % 2 === 0) await relay.advance(ms);
  else await relay.clock.advance(ms);
};

/** Sets the wall clock right, ahead or, rarely, far back; the relay follows when it is accepted. */
const setWallClock: HistoryStep = async (relay, [length]) => {
  const hours = length % 40 === 0 ? -30 : chooseFrom([0, 0, 0.01, -0.02, 2, 30, 240], length >> 4)!;
  relay.ahead = hours * HOUR_MS;
  await relay.tick();
};

const acceptClock: HistoryStep = async (relay) => {
  await relay.asOperator("POST", "/api/v1/admin/clock/accept");
  await relay.tick();
};

/** Kills the relay while it answers requests. */
const crashDuringWork: HistoryStep = async (relay, picks) => {
  const choices = [
    submissionSteps.submitTask,
    workSteps.deliverResult,
    workSteps.deliverResult,
    workSteps.actOnInspection,
    workSteps.cancelTask,
    moneySteps.withdraw,
    moneySteps.resolveWithdrawal,
  ];
  const running = [0, 1, 2, 3].map((at) => {
    const mixed = picks.map((pick, of) => (pick >> at) ^ picks[(of + 1) % 4]!);
    return chooseFrom(choices, mixed[0]!)!(relay, mixed as unknown as Picks);
  });
  for (let turns = picks[3] % 40; turns > 0; turns -= 1) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  await relay.crash(Promise.all(running));
};

const restoreBackup: HistoryStep = async (relay, [kind]) => {
  await relay.restore();
  if (kind % 4 !== 0) await unfreezeRelay(relay);
};

export async function unfreezeRelay(relay: HistoryRelay): Promise<void> {
  await relay.asOperator("POST", "/api/v1/admin/unfreeze", { restored: true });
}

/** Steps beside which no other step runs. */
export const relaySteps = {
  passTime,
  passToDeadline,
  setWallClock,
  acceptClock,
  restart: (relay) => relay.restart(),
  crash: (relay) => relay.crash(),
  crashDuringWork,
  backUp: (relay) => relay.backUp(),
  restoreBackup,
} satisfies Record<string, HistoryStep>;
