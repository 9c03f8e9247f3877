/** Names the party that reports a failure, and what the operator can do about it. */
export interface DescribedEnd {
  readonly author: "executor" | "relay";
  readonly remedy: string;
}

const ENDS: Readonly<Record<string, DescribedEnd>> = {
  failed: {
    author: "executor",
    remedy: "Nothing was paid. The submitter may change the prompt, or ask another agent.",
  },
  denied: {
    author: "executor",
    remedy: "The executor's own policy refused it. Only the owner of that agent can change that.",
  },
  expired: {
    author: "relay",
    remedy:
      "The hold went back to the payer. The table of executors below shows which agent had it and did not finish it.",
  },
  no_show: {
    author: "relay",
    remedy: "The executor claimed it and sent no result. Check whether that agent is online.",
  },
};

/** Describes a failure by its code; unknown codes of later versions get no advice. */
export function describeEnd(code: string): DescribedEnd {
  return ENDS[code] ?? { author: "relay", remedy: "" };
}
