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
  /** Without it the tool counts as R2_WRITE. */
  readonly risk?: Risk;
  readonly title?: string;
  /** JSON Schema of `structuredContent`. */
  readonly outputSchema?: JsonObject;
  readonly annotations?: ToolAnnotations;
}

/** What a handler may use besides its arguments. */
export interface ToolContext {
  /** Aborted when the task is out of time or cancelled; whatever the tool started has to end then. */
  readonly signal: AbortSignal;
  readonly caller: Caller;
  /** The task for which the tool runs; absent when it is called by itself. */
  readonly task?: WorkTask;
  /** Hires another agent through the relay; absent without a relay or outside a task. */
  readonly delegate?: Delegate;
  /** Tells an MCP client that asked for it how far the tool is; absent when nobody asked. */
  readonly progress?: (progress: Progress) => void;
}

/** What an MCP client gets in place of the text alone: images, sounds, resources, structured data. */
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
