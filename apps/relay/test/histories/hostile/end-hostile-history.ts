import { checkRows } from "../check-money.ts";
import { payOutAll, resolveAll } from "../end-history.ts";
import { unfreezeRelay } from "../relay-steps.ts";
import { checkLoss, checkPaidWork } from "./check-loss.ts";
import type { HostileHistory } from "./hostile-step.ts";
import { decideHeld } from "./operator-steps.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Longer than all attempts of a settlement, than the hold that waits for it and than a deferral. */
const PASSES_MS = [
  ...[1, 10, 10, 30].map((minutes) => minutes * MINUTE_MS),
  ...[1, 1, 2, 2, 4, 6, 6].map((hours) => hours * HOUR_MS),
  ...[1, 3, 4].map((days) => days * DAY_MS),
];
const AFTER_DECISIONS_MS = [MINUTE_MS, HOUR_MS, 6 * HOUR_MS, DAY_MS, 7 * DAY_MS];

/** Lets every deadline pass while the peers go on as they did, and pays out all money. */
export async function endHostileHistory(history: HostileHistory): Promise<void> {
  const { relay } = history;
  relay.note("the end");
  await unfreezeRelay(relay);
  await relay.asOperator("POST", "/api/v1/admin/clock/accept");
  await passAll(history, PASSES_MS);
  await decideHeld(history, true);
  await passAll(history, PASSES_MS);
  await decideHeld(history, false);
  await passAll(history, AFTER_DECISIONS_MS);
  await resolveAll(relay);
  await checkRows(relay);
  await checkLoss(history);
  await checkPaidWork(history);
  await passAll(history, [31 * DAY_MS]);
  await payOutAll(relay);
}

async function passAll({ relay }: HostileHistory, passes: readonly number[]): Promise<void> {
  for (const ms of passes) {
    await relay.advance(ms);
    await relay.tick();
  }
}
