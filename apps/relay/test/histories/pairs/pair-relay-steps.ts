import { limits } from "@agent/wire";
import { chooseFrom } from "../history-relay.ts";
import { PASSES, relaySteps, unfreezeRelay } from "../relay-steps.ts";
import type { HistoryStep } from "../history-step.ts";
import type { PairStep } from "./pair-step.ts";

/** Retries, heartbeats and expiries happen in between. */
const PARTS_OF_LONG_PASS = 4;

const passTime: PairStep = async (pair, { relay }, [length]) => {
  const ms = chooseFrom(PASSES, length)!;
  relay.note(`${ms} ms pass`);
  const parts = ms > limits.federationTimeoutMs ? PARTS_OF_LONG_PASS : 1;
  for (let part = 0; part < parts; part += 1) await pair.advance(Math.ceil(ms / parts));
};

const at =
  (step: HistoryStep): PairStep =>
  (_, { relay }, picks) =>
    step(relay, picks);

const restoreBackup: PairStep = async (pair, { relay }, [kind]) => {
  if (!pair.canRestore || !(await relay.restore())) return;
  pair.isRestored = true;
  if (kind % 4 !== 0) await unfreezeRelay(relay);
};

/** Steps beside which no other step runs. */
export const pairRelaySteps = {
  passTime,
  passToDeadline: at(relaySteps.passToDeadline),
  setWallClock: at(relaySteps.setWallClock),
  acceptClock: at(relaySteps.acceptClock),
  restart: at(relaySteps.restart),
  crash: at(relaySteps.crash),
  crashDuringWork: at(relaySteps.crashDuringWork),
  backUp: at(relaySteps.backUp),
  restoreBackup,
  rotateRelayKey: (_, { relay }) => relay.rotateKey(),
} satisfies Record<string, PairStep>;
