import { STATUS_CODES } from "node:http";
import { errorBody, errors, refuse, type Refusal } from "@agent/wire";

/**
 * The answer to bytes that never became a request, in HTTP as it goes over the wire: no route is
 * asked, and the caller gets the same error body as everywhere.
 */
export function brokenRequestAnswer(
  error: { readonly code?: string | undefined },
  requestId: string,
): string {
  const refusal = refusalOf(error);
  const { status } = errors[refusal.code];
  const body = JSON.stringify(errorBody(refusal, requestId));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Connection: close",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    "",
    body,
  ].join("\r\n");
}

function refusalOf({ code }: { readonly code?: string | undefined }): Refusal {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return refuse("request.timeout");
  if (code === "HPE_HEADER_OVERFLOW") return refuse("request.invalid", "headers are too large");
  return refuse("request.invalid", "not HTTP");
}
