import type { Tool } from "@agent/agent-server";
import { buildTermReport, buildVocabulary, extractWords } from "../figures/terms.ts";

/** The budget for the stems of one text, in USD. */
const STEMS_BUDGET = 0.5;

const termReport: Tool = {
  definition: {
    name: "term-report",
    description: "Extracts and counts the terms of a text; another agent reduces words to stems",
    inputSchema: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
    },
    // The tool spends money, but never more than its budget.
    risk: 3,
  },
  async handler({ text }, { delegate }) {
    if (delegate === undefined) return { ok: false, error: "This tool requires a relay" };
    const words = extractWords(String(text));
    const vocabulary = buildVocabulary(words);
    const delegated = await delegate({
      capability: "stem-words",
      prompt: vocabulary.join("\n"),
      max_budget: STEMS_BUDGET,
    });
    if (!delegated.ok) return delegated;
    const stems = delegated.data.split("\n");
    if (stems.length !== vocabulary.length) {
      return { ok: false, error: "The stems do not match the words" };
    }
    return { ok: true, data: JSON.stringify(buildTermReport(words, vocabulary, stems)) };
  },
};

export const tools = [termReport];
