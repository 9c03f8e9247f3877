import { promises as dns, type LookupAddress, type LookupOptions } from "node:dns";
import { readFileSync } from "node:fs";
import { callbackify } from "node:util";
import type { Runtime } from "../../runtime.ts";
import { isLocalhost } from "./endpoint-address.ts";

export type ResolveName = (
  name: string,
  options: LookupOptions & { readonly all: true },
  done: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

export interface NameResolver {
  readonly resolve: ResolveName;
  /** Ends the questions that no DNS server has answered. */
  close(): void;
}

/** The names that this machine knows beside those of its DNS servers. */
export interface LocalNames {
  /** Addresses by name in lower case. */
  readonly hosts: ReadonlyMap<string, readonly LookupAddress[]>;
  /** Domains that are appended to a name if it does not exist as given. */
  readonly searchDomains: readonly string[];
}

interface ResolverOptions {
  readonly schedule: Runtime["schedule"];
  /** The addresses of DNS servers; those of the system without them. */
  readonly servers?: readonly string[];
  /** Reads the names for each question, because the system's files may change. */
  readonly readLocalNames?: () => LocalNames;
}

const TRY_TIMEOUT_MS = 2_000;
const TRIES = 2;
/** Many networks answer for one family only, which must not delay the other (RFC 8305, section 3). */
const OTHER_FAMILY_MS = 50;

const MISSING_CODES: ReadonlySet<string | undefined> = new Set(["ENOTFOUND", "ENODATA"]);

/**
 * Resolves names that other parties chose. The system's own lookup occupies a thread until the DNS server
 * answers, and Node.js uses two threads for this, so two names with silent servers would block all others.
 * Direct DNS queries need no thread.
 */
export function createNameResolver({
  schedule,
  servers,
  readLocalNames = readSystemNames,
}: ResolverOptions): NameResolver {
  const asking = new Set<dns.Resolver>();

  async function findAddresses(name: string): Promise<readonly LookupAddress[]> {
    const { hosts, searchDomains } = readLocalNames();
    const local = isLocalhost(name) ? "localhost" : name.replace(/\.$/, "").toLowerCase();
    const known = hosts.get(local);
    if (known !== undefined) return known;
    // A new one reads which servers the system has now.
    const resolver = new dns.Resolver({ timeout: TRY_TIMEOUT_MS, tries: TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    asking.add(resolver);
    try {
      return await askForCandidates(resolver, schedule, listCandidates(name, searchDomains));
    } finally {
      asking.delete(resolver);
      // The other family's question may still be open, and would keep a process from its end.
      resolver.cancel();
    }
  }

  return {
    resolve: callbackify<string, LookupOptions, LookupAddress[]>(async (name, { family }) =>
      filterFamily(await findAddresses(name), family),
    ),
    close() {
      for (const resolver of asking) resolver.cancel();
    },
  };
}

/** Returns the addresses of the first name that exists; rejects as the given name does if none does. */
async function askForCandidates(
  resolver: dns.Resolver,
  schedule: Runtime["schedule"],
  candidates: readonly string[],
): Promise<LookupAddress[]> {
  const missing: Error[] = [];
  for (const name of candidates) {
    try {
      return await askBothFamilies(resolver, schedule, name);
    } catch (error) {
      if (!isMissing(error)) throw error;
      missing.push(error as Error);
    }
  }
  throw missing[0] ?? new Error("no name was asked for");
}

const isMissing = (error: unknown): boolean =>
  MISSING_CODES.has((error as NodeJS.ErrnoException).code);

/** Returns the addresses of both families, or of the one that has any. */
function askBothFamilies(
  resolver: dns.Resolver,
  schedule: Runtime["schedule"],
  name: string,
): Promise<LookupAddress[]> {
  const { promise, resolve, reject } = Promise.withResolvers<LookupAddress[]>();
  const found: LookupAddress[] = [];
  let waiting = 2;
  let cancelWait = () => {};
  function end(family: 4 | 6, addresses: readonly string[], error?: Error): void {
    found.push(...addresses.map((address) => ({ address, family })));
    waiting -= 1;
    if (waiting === 0) {
      cancelWait();
      if (error !== undefined && found.length === 0) reject(error);
      else resolve(found);
    } else if (found.length > 0) {
      cancelWait = schedule(OTHER_FAMILY_MS, () => resolve(found));
    }
  }
  for (const family of [4, 6] as const) {
    const asked = family === 4 ? resolver.resolve4(name) : resolver.resolve6(name);
    asked.then(
      (addresses) => end(family, addresses),
      (error: Error) => end(family, [], error),
    );
  }
  return promise;
}

/** The option is 0 or absent for any family. */
function filterFamily(
  addresses: readonly LookupAddress[],
  wanted: LookupOptions["family"],
): LookupAddress[] {
  return addresses.filter(
    ({ family }) => !wanted || wanted === family || wanted === `IPv${family}`,
  );
}

/** Lists the full names that a name may stand for, in the order in which they are queried. */
export function listCandidates(name: string, searchDomains: readonly string[]): string[] {
  // A final dot says that the name is complete.
  if (name.endsWith(".")) return [name];
  return [name, ...searchDomains.map((domain) => `${name}.${domain}`)];
}

/** The loopback name is valid even if no file defines it (RFC 6761, section 6.3). */
const LOOPBACK = ["127.0.0.1", "::1"];

/** Parses the lines of a hosts file: an address and its names. */
export function parseHosts(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split("\n")) {
    const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
    for (const name of names.map((each) => each.toLowerCase())) {
      hosts.set(name, [...(hosts.get(name) ?? []), toLookupAddress(address)]);
    }
  }
  if (!hosts.has("localhost")) hosts.set("localhost", LOOPBACK.map(toLookupAddress));
  return hosts;
}

const toLookupAddress = (address: string): LookupAddress => ({
  address,
  family: address.includes(":") ? 6 : 4,
});

/** Parses the search domains of a `resolv.conf`; its last line of the kind counts. */
export function parseSearchDomains(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trim().split(/\s+/));
  const [, ...domains] = lines.findLast(([word]) => word === "search" || word === "domain") ?? [];
  return domains.filter((domain) => domain !== ".");
}

/** Reads what the system knows. On a system without these files only its DNS servers count. */
function readSystemNames(): LocalNames {
  return {
    hosts: parseHosts(readIfThere("/etc/hosts")),
    searchDomains: parseSearchDomains(readIfThere("/etc/resolv.conf")),
  };
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
