import { followTask } from "@agent/client";
import type { ToolContext } from "../../tools/definition.ts";
import type { DelegatorContext } from "./delegator-answer.ts";
import { shortenText } from "./shorten-text.ts";

const REPEAT_MS = 10_000;
const MAX_NOTE = 200;

/**
 * Reports the events of a task, and every 10 seconds that it is still open, because clients end
 * calls that are silent. Ends with `signal`.
 */
export function reportProgress(
  { client, relayUrl: baseUrl, runtime }: DelegatorContext,
  task: { readonly agentId: string; readonly taskId: string },
  to: { readonly progress: NonNullable<ToolContext["progress"]>; readonly signal: AbortSignal },
): void {
  const { progress, signal } = to;
  let reports = 0;
  let status = "submitted";
  const report = (message: string) => {
    if (signal.aborted) return;
    reports += 1;
    progress({ progress: reports, message });
  };
  let cancelRepeat = () => {};
  const repeat = () => {
    cancelRepeat = runtime.schedule(REPEAT_MS, () => {
      report(`task ${task.taskId} is ${status}`);
      repeat();
    });
  };
  signal.addEventListener("abort", () => cancelRepeat(), { once: true });
  report(`task ${task.taskId} is submitted`);
  repeat();

  const bearer = () => client.getBearer("task:read");
  async function follow(): Promise<void> {
    for await (const step of followTask({ ...runtime, baseUrl, bearer, ...task, signal })) {
      if (!step.ok || step.event.type === "submitted") continue;
      const { type, note } = step.event;
      status = type;
      report(note === undefined ? `task ${type}` : `task ${type}: ${shortenText(note, MAX_NOTE)}`);
    }
  }
  void follow();
}
