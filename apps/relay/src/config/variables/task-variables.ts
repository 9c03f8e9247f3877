import { limits } from "@agent/wire";
import * as v from "valibot";
import { DAY_MS } from "../../clock/durations.ts";
import {
  booleanFlag,
  integerBetween,
  oneOf,
  passphraseText,
  plainText,
  type Variable,
} from "../config-values.ts";

/** The variables of the relay's identity, its agents and their tasks. */
export const taskVariables = {
  AGENT_RELAY_NAME: {
    purpose: "Display name of the relay",
    schema: v.optional(plainText, "agent-relay"),
  },
  AGENT_RELAY_KEY_PASSPHRASE: {
    purpose: "Seals the relay's private key at rest",
    schema: v.optional(passphraseText),
    unset: "key stored as plain hexadecimal",
    secret: true,
  },
  AGENT_RELAY_ISSUE_CREDENTIALS: {
    purpose: "Whether the relay issues credentials",
    schema: v.optional(booleanFlag, "false"),
  },
  AGENT_REQUIRE_BOOTSTRAP_PROOF: {
    purpose: "Whether bootstrap needs a signature of the new key",
    schema: v.optional(booleanFlag, "false"),
  },
  AGENT_PAIRING_TTL_MS: {
    purpose: "Lifetime of a pairing code in milliseconds",
    schema: v.optional(integerBetween(1, DAY_MS), String(limits.pairingTtlMs)),
  },
  AGENT_TASK_TTL_MS: {
    purpose: "Lifetime of an unfinished task in milliseconds",
    schema: v.optional(integerBetween(1, 7 * DAY_MS), String(limits.taskTtlMs)),
  },
  AGENT_TASK_TTL_MAX_MS: {
    purpose: "Longest lifetime in milliseconds that a submission may request (ttl_ms)",
    schema: v.optional(integerBetween(limits.minTaskTtlMs, 7 * DAY_MS), String(7 * DAY_MS)),
  },
  AGENT_REQUIRE_MAX_BUDGET: {
    purpose: "Whether a submission that costs something must name its max_budget",
    schema: v.optional(booleanFlag, "false"),
  },
  AGENT_PRIVATE_ENDPOINTS: {
    purpose:
      "Whether agents may have private or loopback addresses; auto blocks them on a public relay",
    schema: v.optional(oneOf("auto", "allow", "block"), "auto"),
  },
} as const satisfies Record<string, Variable>;
