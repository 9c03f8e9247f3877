import * as v from "valibot";
import { callerKey } from "../../caller.ts";
import type { Memory } from "../../memory/memory.ts";
import { defineTool } from "../define-tool.ts";
import { memoryText } from "./memory-text.ts";

export function agentRememberTool(memory: Memory) {
  return defineTool({
    name: "agent_remember",
    description: "Remember a text for its caller. Sensitivity is none (default) or personal.",
    risk: 2,
    input: v.strictObject({ content: memoryText, sensitivity: v.optional(v.string()) }),
    async run({ content, sensitivity }, { caller, signal }) {
      const memoryInput = {
        caller: callerKey(caller),
        content,
        sensitivity,
        type: "semantic",
      } as const;
      const remembered = await memory.remember(memoryInput, signal);
      return remembered.ok
        ? { ok: true, data: JSON.stringify({ node_id: remembered.nodeId }) }
        : { ok: false, error: remembered.detail };
    },
  });
}
