import * as v from "valibot";
import {
  booleanFlag,
  integerBetween,
  logKeys,
  witnessAddresses,
  type Variable,
} from "../config-values.ts";

/** The variables of witnesses: of this one, and of those of the relay's own log. */
export const witnessVariables = {
  AGENT_WITNESS: {
    purpose: "Whether the relay cosigns the transparency logs of its peers",
    schema: v.optional(booleanFlag, "true"),
  },
  AGENT_WITNESS_LOGS: {
    purpose: "Further logs that the relay cosigns",
    schema: v.optional(logKeys),
    unset: "none",
  },
  AGENT_LOG_WITNESSES: {
    purpose: "Further witnesses that are asked to cosign the relay's own log",
    schema: v.optional(witnessAddresses),
    unset: "active peers only",
  },
  AGENT_LOG_WITNESS_INTERVAL_MS: {
    purpose: "Milliseconds between requests to the witnesses of the relay's own log",
    schema: v.optional(integerBetween(1_000, 3_600_000), "10000"),
  },
} as const satisfies Record<string, Variable>;
