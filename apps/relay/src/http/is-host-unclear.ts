import type { IncomingMessage } from "node:http";

/**
 * Whether a request names no host or several. Node.js keeps the first of several, and a proxy before the
 * relay may go by another one.
 */
export function isHostUnclear({ rawHeaders, httpVersion }: IncomingMessage): boolean {
  const count = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === "host").length;
  // HTTP/1.0 has no Host header.
  return count > 1 || (count === 0 && httpVersion !== "1.0");
}
