import type { Work } from "../execution/work.ts";
import type { IdentityFile } from "../identity-file.ts";
import { agentIdentityTool } from "./agent-identity.ts";
import { agentTaskTool } from "./agent-task.ts";
import { agentToolsTool } from "./agent-tools.ts";
import type { ToolDefinition } from "./definition.ts";
import type { RegisteredTool } from "./registry.ts";

export interface SyntheticToolParts {
  readonly identityFile: IdentityFile;
  readonly work: Work;
  readonly definitions: () => readonly ToolDefinition[];
}

/** The tools that every agent has (specification, "Synthetic tools"). */
export function syntheticTools(parts: SyntheticToolParts): RegisteredTool[] {
  return [
    agentTaskTool(parts.work),
    agentIdentityTool(parts.identityFile),
    agentToolsTool(parts.definitions),
  ];
}
