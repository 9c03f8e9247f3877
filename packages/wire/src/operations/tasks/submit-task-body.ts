import * as v from "valibot";
import { describeAs } from "../../engine/annotate-schema.ts";
import {
  agentId,
  capabilities,
  finite,
  id,
  looseObject,
  price,
  publicKey,
  ratio,
  wellFormed,
} from "../../engine/fields.ts";
import { limits } from "../../engine/limits.ts";
import { WantedAcceptance } from "./acceptance.ts";

const PROMPT_RULE = `must be at most ${limits.promptBytes} bytes of UTF-8`;

export const SubmitTaskBody = v.object({
  prompt: describeAs(
    v.pipe(
      v.string(),
      v.minLength(1, "must not be empty"),
      v.maxBytes(limits.promptBytes, PROMPT_RULE),
      wellFormed,
    ),
    "The text of the task.",
  ),
  submitted_by: describeAs(
    v.optional(agentId),
    "The id of the submitting agent; the caller's if it has a signed token.",
  ),
  required_capabilities: v.optional(capabilities),
  wall_clock_ms: describeAs(
    v.optional(v.pipe(finite, v.minValue(1, "must be 1 or more"))),
    "The time that the executor has for the task, in ms.",
  ),
  ttl_ms: describeAs(
    v.optional(
      v.pipe(
        v.number(),
        v.safeInteger("must be a whole number"),
        v.minValue(limits.minTaskTtlMs, `must be at least ${limits.minTaskTtlMs}`),
      ),
    ),
    "The time until the task expires, in ms, at most the maximum of the relay: 7 days unless it sets another.",
  ),
  step_id: v.optional(id),
  parent_task_id: describeAs(
    v.optional(id),
    "The open task for whose work this one is submitted; the submitter must be its executor.",
  ),
  exploration_drive: v.optional(ratio),
  exclude_agents: describeAs(
    v.optional(
      v.pipe(
        v.array(id),
        v.maxLength(limits.excludedAgents, `must contain at most ${limits.excludedAgents} entries`),
      ),
    ),
    "The ids of the agents that must not execute the task.",
  ),
  max_budget: describeAs(v.optional(price), "The highest price that is accepted, in USD."),
  public_key: describeAs(
    v.optional(publicKey),
    "The target's Ed25519 key as 64 hex digits: the task is assigned to the agent with this key or refused.",
  ),
  delegation_token: describeAs(
    v.optional(v.union([looseObject, v.string()])),
    "The signed delegation token, as an object or as its JSON text.",
  ),
  acceptance: describeAs(
    v.optional(WantedAcceptance),
    "Requests an inspection of the result before it is paid; `{}` accepts the terms of the listing.",
  ),
});
export type SubmitTaskBody = v.InferOutput<typeof SubmitTaskBody>;
