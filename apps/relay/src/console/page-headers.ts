/** The policy of pages that need neither connections nor other origins. */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
  "connect-src 'none'",
  "worker-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
];

const COMMON_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy":
    "camera=(), geolocation=(), microphone=(), payment=(), usb=(), clipboard-read=()",
};

/** Builds the headers of a page, whose scripts may start a worker by this Trusted Types policy only. */
export function buildPageHeaders(trustedTypesPolicy: string): Record<string, string> {
  const policy = [...PAGE_POLICY, `trusted-types ${trustedTypesPolicy}`].join("; ");
  return { ...COMMON_HEADERS, "content-security-policy": policy };
}
