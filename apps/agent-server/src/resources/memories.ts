import * as v from "valibot";
import { callerKey } from "../caller.ts";
import type { Memory } from "../memory/memory.ts";
import { defineTool } from "../tools/define-tool.ts";

/** Lists memories as `agent_recall` does: only the caller's own, of sensitivity `none`. */
export function memoriesResource(memory: Memory) {
  return defineTool({
    name: "agent://memories",
    description: "The newest memories of conversations with the caller.",
    risk: 0,
    input: v.object({}),
    run: (_args, { caller }) => ({
      ok: true,
      data: JSON.stringify(memory.listNewest(callerKey(caller))),
    }),
  });
}
