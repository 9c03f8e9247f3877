import { toJsonSchema } from "@valibot/to-json-schema";
import * as v from "valibot";
import type { JsonObject, Risk, ToolAnswer, ToolContext } from "./definition.ts";
import { formatRule } from "../config/format-rule.ts";
import type { RegisteredTool } from "./registry.ts";

/** Creates a built-in tool: one valibot schema types, describes and checks its arguments. */
export function defineTool<S extends v.GenericSchema<JsonObject, JsonObject>>(tool: {
  name: string;
  description: string;
  risk: Risk;
  input: S;
  run(args: v.InferOutput<S>, context: ToolContext): Promise<ToolAnswer> | ToolAnswer;
}): RegisteredTool {
  const { $schema: _dialect, ...inputSchema } = toJsonSchema(tool.input, {
    typeMode: "input",
    errorMode: "ignore",
  });
  return {
    definition: {
      name: tool.name,
      description: tool.description,
      inputSchema: { ...inputSchema },
      risk: tool.risk,
    },
    check(args) {
      const parsed = v.safeParse(tool.input, args);
      if (parsed.success) return { ok: true, args: parsed.output };
      const faults = parsed.issues.map((issue) => {
        const path = v.getDotPath(issue);
        return path === null ? formatRule(issue) : `${path}: ${formatRule(issue)}`;
      });
      return { ok: false, fault: faults.join("; ") };
    },
    handler: (args, context) => tool.run(v.parse(tool.input, args), context),
  };
}
