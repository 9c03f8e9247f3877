import type { Tool } from "@agent/agent-server";
import { reportOf, vocabularyOf, wordsOf } from "../terms.ts";

/** The most that the stems of one text may cost, in USD. */
const stemsBudget = 0.5;

const termReport: Tool = {
  definition: {
    name: "term-report",
    description: "Extracts and counts the terms of a text; another agent finds the stems",
    inputSchema: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
    },
    // It spends money, but never more than its budget.
    risk: 3,
  },
  async handler({ text }, { delegate }) {
    if (delegate === undefined) return { ok: false, error: "This tool needs a relay to hire at" };
    const words = wordsOf(String(text));
    const vocabulary = vocabularyOf(words);
    const hired = await delegate({
      capability: "stem-words",
      prompt: vocabulary.join("\n"),
      max_budget: stemsBudget,
    });
    if (!hired.ok) return hired;
    const stems = hired.data.split("\n");
    if (stems.length !== vocabulary.length) {
      return { ok: false, error: "The stems do not match the words" };
    }
    return { ok: true, data: JSON.stringify(reportOf(words, vocabulary, stems)) };
  },
};

export const tools = [termReport];
