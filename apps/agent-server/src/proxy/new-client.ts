import {
  Client,
  type JsonSchemaType,
  type JsonSchemaValidator,
  type jsonSchemaValidator,
  type Tool,
} from "@modelcontextprotocol/client";
import { compileSchema, type CheckValue } from "../tools/calling/compile-schema.ts";

/** The time limit of the protocol probe, which a server of the older era may never answer. */
const PROBE_MS = 5_000;

/**
 * Creates the client of another MCP server; `onChanged` receives its tools whenever they change.
 */
export function newClient(
  version: string,
  onChanged: (error: Error | null, tools: readonly Tool[] | null) => void,
): Client {
  // An agent runs without a user: no sampling, no elicitation, no roots.
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

/** Validates outputs in place of the library, whose pattern engine a wrapped server could block. */
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

/**
 * Compiles the check of a tool's output. The server's own output schema is only a hint, so an
 * unusable one accepts everything.
 */
function compileOutputCheck(schema: JsonSchemaType): CheckValue {
  try {
    return compileSchema({ ...schema });
  } catch {
    return () => ({ ok: true });
  }
}
