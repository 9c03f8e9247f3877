import { compileTool } from "../../tools/calling/compile-tool.ts";
import type { JsonObject, Risk, Tool, ToolContext } from "../../tools/definition.ts";
import type { RegisteredTool } from "../../tools/registry.ts";

const textSchema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };

/** Creates a tool with one text parameter and risk 0 by default. */
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

/** Throws a text that callers must not receive. */
export const throwingTool = createTextTool("throwing", () => {
  throw new Error("password=hunter2");
});

export const hugeTool = createTextTool("huge", () => ({ ok: true, data: "x".repeat(50_000_000) }));

/** Never answers; `ended` resolves when its signal fires. */
export function createHangingTool(onAbort: () => void = () => {}): RegisteredTool {
  return createTextTool("hanging", (_, { signal }) => {
    signal.addEventListener("abort", onAbort, { once: true });
    return new Promise(() => {});
  });
}
