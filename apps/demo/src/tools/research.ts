import type { Tool } from "@agent/agent-server";
import { buildTermReport, buildVocabulary, extractWords } from "../figures/terms.ts";

/** The most that the stems of one text may cost, in USD. */
const STEMS_BUDGET = 0.5;

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
    const words = extractWords(String(text));
    const vocabulary = buildVocabulary(words);
    const hired = await delegate({
      capability: "stem-words",
      prompt: vocabulary.join("\n"),
      max_budget: STEMS_BUDGET,
    });
    if (!hired.ok) return hired;
    const stems = hired.data.split("\n");
    if (stems.length !== vocabulary.length) {
      return { ok: false, error: "The stems do not match the words" };
    }
    return { ok: true, data: JSON.stringify(buildTermReport(words, vocabulary, stems)) };
  },
};

export const tools = [termReport];
