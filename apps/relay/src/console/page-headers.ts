/** The needs of a page beside its own files. */
export interface PageNeeds {
  /** The name of the only Trusted Types policy, by which the page's scripts may start a worker. */
  readonly trustedTypesPolicy: string;
  /** Whether it reads from the relay; other pages get no connection at all. */
  readonly readsRelay?: boolean;
}

const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "font-src 'self'",
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

/** Builds the headers of a page, which has no access to other origins. */
export function buildPageHeaders({
  trustedTypesPolicy,
  readsRelay = false,
}: PageNeeds): Record<string, string> {
  const connections = `connect-src ${readsRelay ? "'self'" : "'none'"}`;
  const types = `trusted-types ${trustedTypesPolicy}`;
  const policy = [...PAGE_POLICY, connections, types].join("; ");
  return { ...COMMON_HEADERS, "content-security-policy": policy };
}
