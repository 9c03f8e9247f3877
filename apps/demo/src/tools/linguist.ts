import type { Tool } from "@agent/agent-server";
import { stemWord } from "../figures/terms.ts";

const stemWords: Tool = {
  definition: {
    name: "stem-words",
    description: "Reduces words to their stems, one word per line",
    inputSchema: {
      type: "object",
      properties: { words: { type: "string" } },
      required: ["words"],
    },
    risk: 0,
  },
  handler({ words }) {
    return { ok: true, data: String(words).split("\n").map(stemWord).join("\n") };
  },
};

export const tools = [stemWords];
