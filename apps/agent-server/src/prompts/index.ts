import type { Memory } from "../memory/memory.ts";
import type { RegisteredTool } from "../tools/registry.ts";
import { chatPrompt } from "./chat.ts";
import { recallPrompt } from "./recall.ts";
import { reflectPrompt } from "./reflect.ts";

/**
 * Creates the prompts of every agent; like resources they are tools internally, named
 * `prompt.<name>`.
 */
export function agentPrompts(parts: {
  readonly name: string;
  readonly description: string;
  readonly memory: Memory;
}): RegisteredTool[] {
  return [chatPrompt(parts), recallPrompt(parts.memory), reflectPrompt(parts.memory)];
}
