import {
  Client,
  type JsonSchemaType,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type Tool,
} from "@modelcontextprotocol/client";
import { compileSchema, type CheckValue } from "../tools/calling/compile-schema.ts";

/** A server of the older era may never answer the question which era it speaks. */
const PROBE_MS = 5_000;

/** Creates the client of another MCP server; `onChanged` is told of its tools whenever they change. */
export function newClient(
  version: string,
  onChanged: (error: Error | null, tools: readonly Tool[] | null) => void,
): Client {
  // Nobody sits in front of an agent: no sampling, no elicitation, no roots.
  return new Client(
    { name: "agent-server", version },
    {
      capabilities: {},
      jsonSchemaValidator: outputValidator,
      listChanged: { tools: { autoRefresh: true, debounceMs: 0, onChanged } },
      versionNegotiation: { mode: "auto", probe: { timeoutMs: PROBE_MS } },
    },
  );
}

/** The library would run a wrapped server's patterns by an engine that they can stop. */
const outputValidator: jsonSchemaValidator = {
  getValidator<T>(schema: JsonSchemaType): JsonSchemaValidator<T> {
    const check = compileOutputCheck(schema);
    return (input) => {
      const checked = check(input);
      return checked.ok
        ? { valid: true, data: input as T, errorMessage: undefined }
        : { valid: false, data: undefined, errorMessage: checked.fault };
    };
  },
};

/** What its own server says of its answers is not more than a hint, so one that cannot be checked passes. */
function compileOutputCheck(schema: JsonSchemaType): CheckValue {
  try {
    return compileSchema({ ...schema });
  } catch {
    return () => ({ ok: true });
  }
}
