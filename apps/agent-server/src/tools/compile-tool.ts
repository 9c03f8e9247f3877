import { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";
import type { JsonObject, Tool } from "./definition.ts";
import type { RegisteredTool } from "./registry.ts";

const validator = new AjvJsonSchemaValidator();

/** Compiles the tool's JSON Schema once; throws when the schema itself is unusable. */
export function compileTool(tool: Tool): RegisteredTool {
  const { definition } = tool;
  const validate = validator.getValidator<JsonObject>(definition.inputSchema);
  return {
    definition,
    check(args) {
      const verdict = validate(args);
      return verdict.valid
        ? { ok: true, args: verdict.data }
        : { ok: false, fault: verdict.errorMessage };
    },
    handler: (args, context) => tool.handler(args, context),
  };
}
