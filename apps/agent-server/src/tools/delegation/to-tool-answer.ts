import type { DelegatorAnswer } from "../../relay/delegator/delegator-answer.ts";
import type { ToolAnswer } from "../definition.ts";

/** Writes an answer as JSON, and a refusal as its sentence with the code behind it. */
export function toToolAnswer(answer: DelegatorAnswer): ToolAnswer {
  if (answer.ok) return { ok: true, data: JSON.stringify(answer.answer) };
  const { code, message, taskId } = answer;
  const sentence = `${message} (${code})`;
  return { ok: false, error: taskId === undefined ? sentence : `${sentence}, task ${taskId}` };
}
