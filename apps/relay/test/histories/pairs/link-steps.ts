import { chooseFrom } from "../history-relay.ts";
import { LINK_FAULTS } from "./message-link.ts";
import type { PairStep } from "./pair-step.ts";

/** More messages than are sent in a day. */
const ALL_MESSAGES = 2 ** 52 - 1;

const LOST_PATHS = ["/settlement", "/settlement/", "/task/result", "/task/cancel", undefined];

/** Lets some or all of the next messages to a relay meet a fault, or none. */
const disturbLink: PairStep = async (_, { link, relay }, [kind, which]) => {
  link.fault = chooseFrom(LINK_FAULTS, kind >> 3)!;
  link.pattern = chooseFrom([0, 0, which % 16, which % 256, which, ALL_MESSAGES], kind)!;
  relay.note(`link to ${relay.name}: ${link.fault} ${link.pattern.toString(2)}`);
};

/**
 * Loses all messages of one kind from now on, or none any more. All attempts of a settlement are lost so seldom by
 * themselves that few histories would come to the question whether it was booked.
 */
const loseKind: PairStep = (_, { link, relay }, [kind]) => {
  link.lostPath = chooseFrom(LOST_PATHS, kind);
  relay.note(`link to ${relay.name}: loses ${link.lostPath ?? "no kind"}`);
  return Promise.resolve();
};

const unplugLink: PairStep = (_, { link, relay }, [kind]) => {
  relay.note(`link to ${relay.name}: ${kind % 3 === 0 ? "unplugged" : "plugged in"}`);
  return kind % 3 === 0 ? link.unplug() : link.plug();
};

const deliverLate: PairStep = (_, { link }) => link.deliverLate();

const replayMessage: PairStep = (_, { link }, [which]) => link.replay(which);

export const linkSteps = {
  disturbLink,
  loseKind,
  unplugLink,
  deliverLate,
  replayMessage,
} satisfies Record<string, PairStep>;
