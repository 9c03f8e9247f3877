import { setTimeout } from "node:timers/promises";
import type { Tool } from "@agent/agent-server";

/** Long enough that a relay is killed in the middle of the work. */
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
