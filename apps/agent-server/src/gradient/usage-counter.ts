import type { Memory } from "../memory/memory.ts";
import type { CallTool } from "../tools/calling/call-tool.ts";
import { createAttemptCounter, type LocalCounts } from "./counts.ts";

/** Counts the tool calls and recalls that pass through it without changing them. */
export interface UsageCounter {
  countToolCalls(callTool: CallTool): CallTool;
  countRecalls(memory: Memory): Memory;
  counts(): Pick<LocalCounts, "toolCalls" | "recalls" | "recalled"> & {
    readonly toolsUsed: number;
  };
}

export function createUsageCounter(): UsageCounter {
  const toolCalls = createAttemptCounter();
  const recalls = createAttemptCounter();
  const used = new Set<string>();
  let items = 0;
  let confidence = 0;

  return {
    countToolCalls: (callTool) => async (name, args, context, onRun) => {
      const answer = await callTool(name, args, context, onRun);
      // A call that was refused before it ran says nothing about the tool's quality.
      if (answer.ok || answer.kind === "failed" || answer.kind === "aborted") {
        used.add(name);
        toolCalls.record(answer.ok);
      }
      return answer;
    },
    countRecalls: (memory) => ({
      ...memory,
      async recall(query, by, signal) {
        const answer = await memory.recall(query, by, signal);
        if (!answer.ok) return answer;
        const related = answer.items.filter(
          ({ similarity }) => similarity >= memory.relatedThreshold,
        );
        recalls.record(related.length > 0);
        items += related.length;
        for (const item of related) confidence += item.confidence;
        return answer;
      },
    }),
    counts: () => ({
      toolCalls: toolCalls.attempts(),
      toolsUsed: used.size,
      recalls: recalls.attempts(),
      recalled: { items, confidence },
    }),
  };
}
