import { STATUS_CODES, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { buildErrorBody, errors, refuse, type Refusal } from "@agent/wire";

/**
 * Answers bytes that never became a request, because they are not HTTP or arrived too slowly, with the
 * same error body as every other refusal. Such bytes reach no route.
 */
export function answerMalformedRequests(server: Server, newRequestId: () => string): void {
  const answers = new WeakMap<Socket, ServerResponse>();
  server.on("request", (request, answer) => void answers.set(request.socket, answer));
  server.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    const answer = answers.get(socket);
    const isAnswering = answer !== undefined && answer.headersSent && !answer.writableFinished;
    // A response that has begun must not be changed.
    if (socket.writable && !isAnswering) socket.write(formatErrorResponse(error, newRequestId()));
    socket.destroy(error);
  });
}

function formatErrorResponse(error: NodeJS.ErrnoException, requestId: string): string {
  const refusal = toRefusal(error);
  const { status } = errors[refusal.code];
  const body = JSON.stringify(buildErrorBody(refusal, requestId));
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Connection: close",
    "Content-Type: application/json",
    "X-Content-Type-Options: nosniff",
    `Content-Length: ${Buffer.byteLength(body)}`,
    `X-Request-Id: ${requestId}`,
    "",
    body,
  ].join("\r\n");
}

function toRefusal({ code }: NodeJS.ErrnoException): Refusal {
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") return refuse("request.timeout");
  if (code === "HPE_HEADER_OVERFLOW") return refuse("request.invalid", "headers are too large");
  return refuse("request.invalid", "it is not HTTP");
}
