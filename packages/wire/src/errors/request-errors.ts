import type { ErrorText } from "./error-text.ts";

/** Refusals of requests before their operation runs, and failures of the relay itself. */
export const requestErrors = {
  "request.malformed_json": { status: 400, text: "Request body is not valid JSON" },
  "request.invalid": { status: 400, text: "Invalid request" },
  "request.too_deep": { status: 400, text: "Request body is nested deeper than 64 levels" },
  "request.too_large": { status: 413, text: "Request body is too large" },
  "request.media_type": { status: 415, text: "Request body must be application/json" },
  "request.timeout": { status: 408, text: "Request body did not arrive in time" },
  "route.not_found": { status: 404, text: "No such path" },
  "route.method_not_allowed": { status: 405, text: "Method not allowed on this path" },
  "idempotency.key_invalid": {
    status: 400,
    text: "Idempotency-Key must be 1 to 255 visible ASCII characters",
  },
  "idempotency.key_in_use": {
    status: 409,
    text: "A request with this Idempotency-Key is still running",
  },
  "idempotency.key_reused": {
    status: 422,
    text: "Idempotency-Key was already used for another request",
  },
  "rate.exceeded": { status: 429, text: "Rate limit exceeded" },
  "server.failed": { status: 500, text: "Internal error" },
  "server.unavailable": { status: 503, text: "Storage is unavailable" },
  "server.not_ready": { status: 503, text: "Relay is not ready" },
  "server.frozen": { status: 503, text: "Relay is frozen by its operator" },
  "server.damaged": {
    status: 409,
    text: "Database is damaged, so the relay stays frozen until it is restored",
  },
  "server.draining": { status: 503, text: "Relay is shutting down" },
  "console.not_built": {
    status: 503,
    text: "Pages are not built: run `pnpm build` in the sources of the relay",
  },
} as const satisfies Record<string, ErrorText>;
