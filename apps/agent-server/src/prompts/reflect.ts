import * as v from "valibot";
import { callerKey } from "../caller.ts";
import type { Memory } from "../memory/memory.ts";
import { defineTool } from "../tools/define-tool.ts";
import { formatList } from "./format-list.ts";

/** Builds the prompt with which a model reviews the agent's memories. */
export function reflectPrompt(memory: Memory) {
  return defineTool({
    name: "prompt.reflect",
    description: "Review this agent's memories for patterns, contradictions and gaps.",
    risk: 1,
    input: v.object({}),
    run: (_args, { caller }) => ({
      ok: true,
      data: `Reflect on these memories: which patterns, contradictions and gaps do you see?\n\n${formatList(memory.listNewest(callerKey(caller)))}`,
    }),
  });
}
