import { compileSchema } from "./compile-schema.ts";
import type { JsonObject, Tool } from "../definition.ts";
import type { RegisteredTool } from "../registry.ts";

/** Compiles the tool's JSON Schema once; throws when the schema itself is unusable. */
export function compileTool(tool: Tool): RegisteredTool {
  const { definition } = tool;
  const check = compileSchema(definition.inputSchema);
  return {
    definition,
    check(args) {
      const checked = check(args);
      return checked.ok ? { ok: true, args: args as JsonObject } : checked;
    },
    handler: (args, context) => tool.handler(args, context),
  };
}
