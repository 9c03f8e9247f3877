const EXPOSED_HEADERS = [
  "X-Request-Id",
  "Retry-After",
  "RateLimit",
  "RateLimit-Policy",
  "RateLimit-Limit",
  "RateLimit-Remaining",
  "RateLimit-Reset",
  "ETag",
  "PAYMENT-REQUIRED",
  "PAYMENT-RESPONSE",
].join(", ");

const ALLOWED_HEADERS = [
  "Authorization",
  "Content-Type",
  "Idempotency-Key",
  "If-None-Match",
  "Accept-Encoding",
  "Last-Event-ID",
  "X-Request-Id",
  "Traceparent",
  "Tracestate",
  "PAYMENT-SIGNATURE",
  "A2A-Version",
  "A2A-Extensions",
].join(", ");

/** Builds the headers that allow a page of another origin to read an answer. */
export function buildCorsHeaders(
  allowed: "*" | readonly string[],
  origin: string | undefined,
): Record<string, string> {
  const own = { "access-control-expose-headers": EXPOSED_HEADERS };
  if (allowed === "*") return { ...own, "access-control-allow-origin": "*" };
  return origin !== undefined && allowed.includes(origin)
    ? { ...own, "access-control-allow-origin": origin, vary: "Origin" }
    : { ...own, vary: "Origin" };
}

/** Builds the headers of a preflight response; `methods` are those of the path. */
export function buildPreflightHeaders(methods: string): Record<string, string> {
  return {
    "access-control-allow-methods": methods,
    "access-control-allow-headers": ALLOWED_HEADERS,
    "access-control-max-age": "600",
  };
}
