import type { Memory } from "../memory/memory.ts";
import type { CallTool } from "../tools/call-tool.ts";
import { countTries, type OwnCounts } from "./counts.ts";

/** Counts the tool calls and recalls that pass through it, and changes nothing about them. */
export interface Tally {
  callTool(callTool: CallTool): CallTool;
  memory(memory: Memory): Memory;
  counts(): Pick<OwnCounts, "toolCalls" | "recalls" | "recalled"> & { readonly toolsUsed: number };
}

export function createTally(): Tally {
  const toolCalls = countTries();
  const recalls = countTries();
  const used = new Set<string>();
  let items = 0;
  let confidence = 0;

  return {
    callTool: (callTool) => async (name, args, context) => {
      const answer = await callTool(name, args, context);
      // What was refused before it ran says nothing about the tool.
      if (answer.ok || answer.kind === "failed" || answer.kind === "aborted") {
        used.add(name);
        toolCalls.count(answer.ok);
      }
      return answer;
    },
    memory: (memory) => ({
      ...memory,
      async recall(query, by, signal) {
        const answer = await memory.recall(query, by, signal);
        if (!answer.ok) return answer;
        const related = answer.items.filter(({ similarity }) => similarity >= memory.related);
        recalls.count(related.length > 0);
        items += related.length;
        for (const item of related) confidence += item.confidence;
        return answer;
      },
    }),
    counts: () => ({
      toolCalls: toolCalls.tries(),
      toolsUsed: used.size,
      recalls: recalls.tries(),
      recalled: { items, confidence },
    }),
  };
}
