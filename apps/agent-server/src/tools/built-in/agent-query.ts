import { limits } from "@agent/wire";
import * as v from "valibot";
import type { AnswerQuery } from "../../execution/executors/query-answerer.ts";
import { defineTool } from "../define-tool.ts";

const message = v.pipe(
  v.string(),
  v.nonEmpty("must not be empty"),
  v.maxBytes(limits.promptBytes, `must be at most ${limits.promptBytes} bytes of UTF-8`),
  v.check((text) => text.isWellFormed(), "must be well-formed Unicode"),
);

/** Creates the tool that answers a message from memory; no other tool runs. */
export function agentQueryTool(answerQuery: AnswerQuery) {
  return defineTool({
    name: "agent_query",
    description: "Ask this agent a question; it answers from its memory, without using tools.",
    risk: 2,
    input: v.object({ message }),
    async run(args, { caller, signal }) {
      const answer = await answerQuery(args.message, { caller, signal });
      return answer.ok
        ? {
            ok: true,
            data: JSON.stringify({
              response: answer.response,
              memories_formed: answer.memoriesFormed,
            }),
          }
        : answer;
    },
  });
}
