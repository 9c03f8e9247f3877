import { compileTool } from "../../tools/calling/compile-tool.ts";
import type { JsonObject, Risk, Tool, ToolContext } from "../../tools/definition.ts";
import type { RegisteredTool } from "../../tools/registry.ts";

const textSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

/** A tool with one text parameter; R0 unless said otherwise. */
export function createTextTool(
  name: string,
  run: (text: string, context: ToolContext) => ReturnType<Tool["handler"]>,
  risk: Risk = 0,
): RegisteredTool {
  return compileTool({
    definition: { name, description: `Test tool ${name}`, inputSchema: textSchema, risk },
    handler: (args: JsonObject, context) => run(String(args["text"]), context),
  });
}

export const shoutTool = createTextTool("shout", (words) => ({
  ok: true,
  data: words.toUpperCase(),
}));

export const failingTool = createTextTool("failing", () => ({ ok: false, error: "no luck today" }));

/** Fails with a text that nobody outside may read. */
export const throwingTool = createTextTool("throwing", () => {
  throw new Error("password=hunter2");
});

export const hugeTool = createTextTool("huge", () => ({ ok: true, data: "x".repeat(50_000_000) }));

/** Never answers; tells through `ended` that it was asked to end. */
export function createHangingTool(onAbort: () => void = () => {}): RegisteredTool {
  return createTextTool("hanging", (_, { signal }) => {
    signal.addEventListener("abort", onAbort, { once: true });
    return new Promise(() => {});
  });
}
