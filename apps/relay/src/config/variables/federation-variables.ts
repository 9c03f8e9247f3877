import * as v from "valibot";
import { DAY_MS } from "../../clock/durations.ts";
import {
  baseUrl,
  booleanFlag,
  decimalBetween,
  integerBetween,
  relayIds,
  type Variable,
} from "../config-values.ts";

/** The variables of federation. */
export const federationVariables = {
  AGENT_FEDERATION_ENDPOINT_URL: {
    purpose: "Public address for other relays; enables federation",
    schema: v.optional(baseUrl),
    unset: "federation disabled",
  },
  AGENT_FEDERATION_MAX_PEERS: {
    purpose: "Maximum number of peers",
    schema: v.optional(integerBetween(0, 10_000), "50"),
  },
  AGENT_FEDERATION_ALLOWED_PEERS: {
    purpose: "Relays that may become peers; a current peer stays one until it is removed",
    schema: v.optional(relayIds),
    unset: "any",
  },
  AGENT_FEDERATION_BLOCKED_PEERS: {
    purpose: "Relays that may not become peers; a current peer stays one until it is removed",
    schema: v.optional(relayIds),
    unset: "none",
  },
  AGENT_FEDERATION_AUTO_ACCEPT_PEERS: {
    purpose: "Whether every admitted peer gets the default credit limit",
    schema: v.optional(booleanFlag, "false"),
  },
  AGENT_FEDERATION_CREDIT_LIMIT: {
    purpose: "Maximum amount that a trusted peer may owe, in USD",
    schema: v.optional(decimalBetween(0, 1_000_000_000), "1000"),
  },
  AGENT_FEDERATION_HEARTBEAT_INTERVAL_MS: {
    purpose: "Milliseconds between heartbeats",
    schema: v.optional(integerBetween(1, DAY_MS), "60000"),
  },
  AGENT_FEDERATION_MAX_HOPS: {
    purpose: "Maximum number of relays that a query passes",
    schema: v.optional(integerBetween(1, 3), "3"),
  },
  AGENT_FEDERATION_RETRY_SCALE: {
    purpose: "Multiplies the settlement retry schedule",
    schema: v.optional(decimalBetween(0.000001, 1_000), "1"),
  },
} as const satisfies Record<string, Variable>;
