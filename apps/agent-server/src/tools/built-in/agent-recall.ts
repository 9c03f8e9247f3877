import * as v from "valibot";
import { callerKey } from "../../caller.ts";
import { memoryLimits, type Memory } from "../../memory/memory.ts";
import { defineTool } from "../define-tool.ts";
import { memoryText } from "./memory-text.ts";

const { recallDefault, recallMax } = memoryLimits;
const LIMIT_RULE = `must be a whole number from 1 to ${recallMax}`;

export function agentRecallTool(memory: Memory) {
  return defineTool({
    name: "agent_recall",
    description: `Memories of earlier conversations with the caller (at most limit items, ${recallDefault} by default).`,
    risk: 1,
    input: v.strictObject({
      query: memoryText,
      limit: v.optional(
        v.pipe(
          v.number(),
          v.integer(LIMIT_RULE),
          v.minValue(1, LIMIT_RULE),
          v.maxValue(recallMax, LIMIT_RULE),
        ),
      ),
    }),
    async run({ query, limit }, { caller, signal }) {
      const recalled = await memory.recall(query, { caller: callerKey(caller), limit }, signal);
      return recalled.ok
        ? { ok: true, data: JSON.stringify(recalled.items) }
        : { ok: false, error: recalled.detail };
    },
  });
}
