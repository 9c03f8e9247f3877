import { setTimeout } from "node:timers/promises";
import type { Tool } from "@agent/agent-server";

/** Long enough for the demo to kill a relay while the work is in progress. */
const WORK_MS = 5_000;

const copyText: Tool = {
  definition: {
    name: "copy-text",
    description: "Copies a text, which takes five seconds",
    inputSchema: {
      type: "object",
      properties: { text: { type: "string" } },
      required: ["text"],
    },
    risk: 0,
  },
  async handler({ text }) {
    await setTimeout(WORK_MS);
    return { ok: true, data: String(text) };
  },
};

export const tools = [copyText];
