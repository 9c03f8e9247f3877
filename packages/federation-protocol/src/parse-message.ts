import * as v from "valibot";
import { type FederationRefusal, refuse } from "./refusals.ts";

/** Parses a JSON value as a message. Refused: `federation.malformed`, with the first bad member. */
export function parseMessage<S extends v.GenericSchema>(
  schema: S,
  value: unknown,
):
  | { readonly ok: true; readonly message: v.InferOutput<S> }
  | FederationRefusal<"federation.malformed"> {
  // Valibot would accept an array as an object without required members.
  if (Array.isArray(value)) return refuse("federation.malformed", "must be an object");
  const parsed = v.safeParse(schema, value);
  if (parsed.success) return { ok: true, message: parsed.output };
  const [issue] = parsed.issues;
  const path = v.getDotPath(issue);
  return refuse("federation.malformed", path === null ? issue.message : `${path} ${issue.message}`);
}
