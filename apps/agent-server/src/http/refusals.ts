import { MAX_ARGUMENT_VALUES } from "../tools/calling/check-argument-size.ts";

/** The refusals of this server over HTTP; refusals within MCP are JSON-RPC errors. */
const refusals = {
  "auth.missing": { status: 401, text: "Missing authorization" },
  "auth.malformed_token": { status: 401, text: "Invalid token" },
  "auth.expired_token": { status: 401, text: "Invalid token" },
  "auth.unknown_token": { status: 401, text: "Invalid token" },
  "auth.verification_failed": { status: 401, text: "Token verification failed" },
  "auth.unknown_caller": { status: 401, text: "The token's agent or device is unknown" },
  "auth.lookup_unavailable": {
    status: 503,
    text: "The token's agent cannot be looked up at the moment",
  },
  "auth.not_owner": { status: 403, text: "Only the owner of this agent may do this" },
  "approval.not_found": { status: 404, text: "No waiting call has this approval_id" },
  "approval.resolved": { status: 409, text: "This call is already decided" },
  "request.invalid": { status: 400, text: 'Body must be {"decision": "approve" or "deny"}' },
  "request.host_not_allowed": { status: 403, text: "Host header does not name this server" },
  "request.origin_not_allowed": { status: 403, text: "Origin is not allowed" },
  "request.too_large": { status: 413, text: "Request body is larger than 1 MiB" },
  "request.media_type": { status: 415, text: "Request body must be application/json" },
  "route.not_found": { status: 404, text: "No such path" },
  "route.method_not_allowed": { status: 405, text: "Method not allowed on this path" },
  "server.failed": { status: 500, text: "Internal error" },
} as const satisfies Record<string, { status: number; text: string }>;

export type HttpCode = keyof typeof refusals;
export type AuthCode = Extract<HttpCode, `auth.${string}`>;

/** Creates an error response (docs/decisions.md, 1). */
export function createRefusalResponse(
  code: HttpCode,
  requestId: string,
  headers: Record<string, string> = {},
): Response {
  const { status, text } = refusals[code];
  return Response.json(
    { error: text, message: text, code, status, request_id: requestId },
    {
      status,
      headers: { ...headers, ...(status === 401 && { "WWW-Authenticate": "Bearer" }) },
    },
  );
}

/** Creates a JSON-RPC error about a message rather than about the HTTP request. */
export function createRpcRefusal(
  status: number,
  error: { code: number; message: string },
  id: string | number | null = null,
): Response {
  return Response.json({ jsonrpc: "2.0", error, id }, { status });
}

const messageRefusals = {
  "message.not_json": { code: -32700, message: "Parse error: not valid JSON" },
  "message.too_large": {
    code: -32600,
    message: `A message must hold at most ${MAX_ARGUMENT_VALUES} values besides the \`arguments\` of a tool call`,
  },
} as const;

/** Refuses a message that was not read, so that its id is unknown. */
export function createMessageRefusal(code: keyof typeof messageRefusals): Response {
  return createRpcRefusal(400, messageRefusals[code]);
}
