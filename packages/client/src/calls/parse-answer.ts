import { limits, type Operation } from "@agent/wire";
import * as v from "valibot";
import { refusal, type CallRefusal } from "./refusal.ts";
import { readRetryAfterSeconds } from "./retry-after.ts";

/** A relay's answer without its types. */
export type UntypedAnswer =
  | { readonly ok: true; readonly status: number; readonly body: unknown }
  | CallRefusal;

const ErrorBodySchema = v.object({
  code: v.string(),
  message: v.string(),
  request_id: v.optional(v.string()),
  issues: v.optional(v.array(v.object({ path: v.string(), message: v.string() }))),
});

/**
 * Parses an answer. A success must be one that the operation declares, and undeclared members are dropped.
 * An error that does not come from the relay, such as a proxy's page, becomes `response.malformed`.
 */
export function parseAnswer(
  op: Operation,
  response: Response,
  { text, now }: { readonly text: string | null; readonly now: number },
): UntypedAnswer {
  const { status } = response;
  if (text === null) return refusal("response.too_large", "Answer is larger than 2 MiB", status);
  const body = parseJson(text);
  if (!response.ok) return parseRefusal(response, body, now);
  const schema = op.ok[status];
  const isText = op.media?.some((type) => hasMediaType(response, type)) === true;
  if (isText) return { ok: true, status, body: text };
  const parsed = schema === undefined ? undefined : v.safeParse(schema, body);
  if (parsed?.success !== true) {
    return refusal("response.malformed", "Answer does not match the operation", status);
  }
  return { ok: true, status, body: parsed.output };
}

function parseRefusal(response: Response, body: unknown, now: number): CallRefusal {
  const { status, headers } = response;
  const parsed = v.safeParse(ErrorBodySchema, body);
  const { code, message, request_id, issues } = parsed.success
    ? parsed.output
    : { code: "response.malformed", message: `Answer ${status} is not an error of a relay` };
  return {
    ok: false,
    code,
    status,
    message,
    ...(issues !== undefined && { issues }),
    ...(request_id !== undefined && { requestId: request_id }),
    ...readRetryAfterSeconds(headers.get("retry-after"), now),
  };
}

export function hasMediaType({ headers }: Response, mediaType: string): boolean {
  return (headers.get("content-type") ?? "").startsWith(mediaType.split(";")[0] ?? "");
}

export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads the body of an answer; returns null as soon as it exceeds 2 MiB, regardless of its headers. */
export async function readText(response: Response): Promise<string | null> {
  if (response.body === null) return "";
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body) {
    bytes += chunk.byteLength;
    if (bytes > limits.outboundBytes) return null;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}
