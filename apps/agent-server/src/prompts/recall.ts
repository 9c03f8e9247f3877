import * as v from "valibot";
import { callerKey } from "../caller.ts";
import type { Memory } from "../memory/memory.ts";
import { defineTool } from "../tools/define-tool.ts";
import { memoryText } from "../tools/built-in/memory-text.ts";
import { formatList } from "./format-list.ts";

/** Builds the prompt that shows a model the agent's memories of a subject. */
export function recallPrompt(memory: Memory) {
  return defineTool({
    name: "prompt.recall",
    description: "Summarise this agent's memories of a subject.",
    risk: 1,
    input: v.object({ query: v.pipe(memoryText, v.description("The subject.")) }),
    async run({ query }, { caller, signal }) {
      const recalled = await memory.recall(query, { caller: callerKey(caller) }, signal);
      if (!recalled.ok) return { ok: false, error: recalled.detail };
      const items = recalled.items.filter(
        ({ similarity }) => similarity >= memory.relatedThreshold,
      );
      return {
        ok: true,
        data: `Say what is known about the subject below, only from these memories.\n\nSubject: ${query}\n\nMemories:\n${formatList(items)}`,
      };
    },
  });
}
