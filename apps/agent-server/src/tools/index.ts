import type { AnswerQuery } from "../execution/executors/query-answerer.ts";
import type { Work } from "../execution/work.ts";
import type { IdentityFile } from "../identity/identity-file.ts";
import type { Memory } from "../memory/memory.ts";
import { agentContestTool, type Contester } from "./built-in/agent-contest.ts";
import { agentCredentialsTool, type CredentialSource } from "./built-in/agent-credentials.ts";
import { agentIdentityTool } from "./built-in/agent-identity.ts";
import { agentQueryTool } from "./built-in/agent-query.ts";
import { agentRecallTool } from "./built-in/agent-recall.ts";
import { agentRememberTool } from "./built-in/agent-remember.ts";
import { agentServiceListingTool } from "./built-in/agent-service-listing.ts";
import { agentTaskTool } from "./built-in/agent-task.ts";
import { agentToolsTool } from "./built-in/agent-tools.ts";
import type { Delegator } from "../relay/delegator/delegator.ts";
import { createDelegationTools } from "./delegation/index.ts";
import { delegationToolNames } from "./delegation/names.ts";
import type { JsonObject, ToolDefinition } from "./definition.ts";
import type { RegisteredTool } from "./registry.ts";

export interface SyntheticToolParts {
  readonly identityFile: IdentityFile;
  readonly work: Work;
  readonly answerQuery: AnswerQuery;
  readonly memory: Memory;
  readonly definitions: () => readonly ToolDefinition[];
  readonly credentials: CredentialSource | undefined;
  readonly listing: JsonObject | undefined;
  readonly delegator: Delegator | undefined;
  /** Only of an agent whose listing offers inspections. */
  readonly contester: Contester | undefined;
}

/**
 * Creates the tools that every agent has, and the optional ones (specification, "Synthetic tools"; for an
 * owner who delegates docs/decisions.md, 10).
 */
export function createSyntheticTools(parts: SyntheticToolParts): RegisteredTool[] {
  const { credentials, listing, delegator, contester } = parts;
  return [
    agentTaskTool(parts.work),
    agentQueryTool(parts.answerQuery),
    agentRememberTool(parts.memory),
    agentRecallTool(parts.memory),
    agentIdentityTool(parts.identityFile),
    agentToolsTool(parts.definitions),
    ...(credentials === undefined ? [] : [agentCredentialsTool(credentials)]),
    ...(listing === undefined ? [] : [agentServiceListingTool(listing)]),
    ...(contester === undefined ? [] : [agentContestTool(contester)]),
    ...(delegator === undefined ? [] : createDelegationTools(delegator)),
  ];
}

/** Lists the names of the tools for callers that do not construct them. */
export function listSyntheticToolNames(agent: {
  hasRelay: boolean;
  hasListing: boolean;
  offersInspection?: boolean;
  delegates: boolean;
}): string[] {
  return [
    "agent_task",
    "agent_query",
    "agent_remember",
    "agent_recall",
    "agent_identity",
    "agent_tools",
    ...(agent.hasRelay ? ["agent_credentials"] : []),
    ...(agent.hasListing ? ["agent_service_listing"] : []),
    ...(agent.hasRelay && agent.offersInspection === true ? ["agent_contest"] : []),
    ...(agent.delegates ? delegationToolNames : []),
  ];
}
