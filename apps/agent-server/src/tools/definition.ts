import type { ContentBlock, Progress, ToolAnnotations } from "@modelcontextprotocol/server";
import type { Caller } from "../caller.ts";
import type { Delegate } from "../execution/delegation/delegation.ts";
import type { WorkTask } from "../execution/task.ts";

/** R0_READ, R1_DRAFT, R2_WRITE, R3_EXECUTE, R4_MONEY. */
export type Risk = 0 | 1 | 2 | 3 | 4;

export type JsonObject = { readonly [member: string]: unknown };

export interface ToolDefinition {
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments, `type: "object"`. */
  readonly inputSchema: JsonObject;
  /** Defaults to R2_WRITE. */
  readonly risk?: Risk;
  readonly title?: string;
  /** JSON Schema of `structuredContent`. */
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
}

/** The context of a call, passed to the handler besides its arguments. */
export interface ToolContext {
  /**
   * Aborted when the task times out or is cancelled; everything that the tool started must end
   * then.
   */
  readonly signal: AbortSignal;
  readonly caller: Caller;
  /** The task for which the tool runs; absent in a direct call. */
  readonly task?: WorkTask;
  /** Delegates to another agent through the relay; absent without a relay or outside a task. */
  readonly delegate?: Delegate;
  /** Names the request, equal when a client repeats it in its session; absent inside a task. */
  readonly requestKey?: string;
  /** The submitter, the price and the time limit of the task that the agent's relay sends by this call. */
  readonly origin?: Pick<WorkTask, "submittedBy" | "estimatedCost" | "wallClockMs">;
  /** Reports progress to an MCP client that requested it; absent otherwise. */
  readonly progress?: (progress: Progress) => void;
}

/** Content for MCP clients in place of plain text: images, audio, resources, structured data. */
export interface RichContent {
  readonly content?: readonly ContentBlock[];
  readonly structuredContent?: JsonObject;
}

export type ToolAnswer =
  | ({ readonly ok: true; readonly data: string } & RichContent)
  | ({ readonly ok: false; readonly error: string } & RichContent);

/** One entry of a tools module. */
export interface Tool {
  readonly definition: ToolDefinition;
  handler(args: JsonObject, context: ToolContext): Promise<ToolAnswer> | ToolAnswer;
}
