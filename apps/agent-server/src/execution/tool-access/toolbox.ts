import type { CallAnswer, CallTool } from "../../tools/calling/call-tool.ts";
import type { ToolContext } from "../../tools/definition.ts";
import type { Toolbox } from "../executor.ts";
import type { WorkTask } from "../task.ts";
import { WorkPostponed } from "../work-postponed.ts";
import { hasToolRun } from "./has-tool-run.ts";

/**
 * Binds the owner's tools to one task; the names of tools that ran are added to `used`. A call that
 * cannot be decided about at the moment postpones the task, unless a tool has run: a repeated task
 * would run it again.
 */
export function createToolbox(options: {
  offered: Omit<Toolbox, "call">;
  callTool: CallTool;
  context: ToolContext;
  rights: Pick<WorkTask, "scope" | "scopeExpiresAt">;
  used: Set<string>;
  now: () => number;
}): Toolbox {
  const { offered, callTool, context, rights, used, now } = options;
  return {
    ...offered,
    async call(name, args): Promise<CallAnswer> {
      if (rights.scope !== undefined && !rights.scope.includes(name)) {
        const error = `Tool "${name}" is outside the scope of the delegation`;
        return { ok: false, kind: "denied", error };
      }
      if (rights.scopeExpiresAt !== undefined && now() >= rights.scopeExpiresAt) {
        return { ok: false, kind: "denied", error: "The delegation token has expired" };
      }
      // Recorded before the call, because a tool that is still running at the deadline was used as
      // well.
      const wasUsed = used.has(name);
      used.add(name);
      const answer = await callTool(name, args, context);
      if (!hasToolRun(answer) && !wasUsed) used.delete(name);
      if (!answer.ok && answer.kind === "unavailable" && used.size === 0) {
        throw new WorkPostponed(answer.error);
      }
      return answer;
    },
  };
}
