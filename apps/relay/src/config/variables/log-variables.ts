import * as v from "valibot";
import { booleanFlag, integerBetween, logOrigin, type Variable } from "../config-values.ts";

/** The variables of the transparency log. */
export const logVariables = {
  AGENT_LOG: {
    purpose: "Whether the relay keeps a transparency log",
    schema: v.optional(booleanFlag, "true"),
  },
  AGENT_LOG_ORIGIN: {
    purpose: "Name of the transparency log; it cannot be changed after the first start",
    schema: v.optional(logOrigin),
    unset: "agent-relay/ and the relay's id",
  },
  AGENT_LOG_INTERVAL_MS: {
    purpose: "Milliseconds between heads of the transparency log",
    schema: v.optional(integerBetween(50, 60_000), "200"),
  },
  AGENT_LOG_QUORUM: {
    purpose: "Cosignatures that a head needs before it is published",
    schema: v.optional(integerBetween(0, 16), "0"),
  },
} as const satisfies Record<string, Variable>;
