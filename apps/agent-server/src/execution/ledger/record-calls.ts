import type { CallTool } from "../../tools/calling/call-tool.ts";
import { hasToolRun } from "../tool-access/has-tool-run.ts";
import type { Timeline } from "./timeline.ts";

/** Records the calls of tools that run in a timeline. */
export function recordCalls(callTool: CallTool, timeline: Timeline): CallTool {
  return async (name, args, context) => {
    const call = timeline.beginCall(name, args);
    const answer = await callTool(name, args, context);
    if (hasToolRun(answer)) call.end(answer.ok);
    else call.withdraw();
    return answer;
  };
}
