import { networkInterfaces } from "node:os";

const loopbackHostnames = ["localhost", "127.0.0.1", "[::1]"];

/** Returns whether a server on `host` is reachable only from this machine. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/**
 * Lists the host names that a Host or Origin header may contain. A page whose own name was pointed
 * at this machine (DNS rebinding) sends none of them.
 */
export function listAllowedHostnames(server: {
  host: string;
  publicUrl: string | undefined;
  allowedHosts: readonly string[];
}): string[] {
  const names = new Set([...loopbackHostnames, ...server.allowedHosts]);
  if (server.publicUrl !== undefined) names.add(new URL(server.publicUrl).hostname);
  for (const address of isWildcard(server.host) ? listOwnAddresses() : [server.host]) {
    names.add(address.includes(":") ? `[${address}]` : address);
  }
  return [...names];
}

function listOwnAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).map((one) => one.address),
  );
}
