import { limits, refuse } from "@agent/wire";
import { buildRelayInfo } from "../admin/relay-info.ts";
import { acceptsGzip, CACHE_FOR_EVER, isTagKnown } from "../http/caching.ts";
import { buildRateLimitHeaders } from "../http/limits/rate-limit-headers.ts";
import type { RateLimiter } from "../http/limits/rate-limit.ts";
import { takeForClient } from "../http/limits/take-for-client.ts";
import { createRefusalResponse } from "../http/server/refusal-response.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { Asset, Assets } from "./assets.ts";
import { buildHomePage } from "./home-page.ts";
import { buildPageHeaders, type PageNeeds } from "./page-headers.ts";

/** Answers GET requests for the pages; undefined for any other address. */
export type PageHandler = (request: Request, clientIp: string) => Response | undefined;

/** The paths of the pages in the syntax of the router. */
export const PAGE_PATHS = ["/", "/verify", "/log", "/agent-verify.html", "/console", "/console/*"];

interface PageOptions {
  readonly limiter: RateLimiter;
  readonly assets: Assets;
}

const NO_NEEDS: PageNeeds = { trustedTypesPolicy: "'none'" };

/** The page of `/verify` starts its worker by a Trusted Types policy. */
const VERIFY_NEEDS: PageNeeds = { trustedTypesPolicy: "verify-worker" };

/** Pages that read from their own relay. */
const READER_NEEDS: PageNeeds = { ...NO_NEEDS, readsRelay: true };

/** The needs of the pages; the files beside them are served with those of `/verify`. */
const NEEDS_BY_FILE: Readonly<Record<string, PageNeeds>> = {
  "log.html": READER_NEEDS,
  "console.html": READER_NEEDS,
  "console/me.html": READER_NEEDS,
};

/** The files of the pages that have an address of their own. */
const PAGE_FILES: Readonly<Record<string, string>> = {
  "/verify": "verify.html",
  "/log": "log.html",
  "/console": "console.html",
  "/console/me": "console/me.html",
};

/** The pages that `AGENT_CONSOLE=verify` does not serve. */
const OPTIONAL_PAGES = new Set(["log.html", "console.html", "console/me.html"]);

export function createPageHandler(
  services: Pick<Services, "config" | "identity" | "freezer" | "runtime">,
  { limiter, assets }: PageOptions,
): PageHandler {
  const hasConsole = services.config.server.console === "on";
  const shown = { ...buildRelayInfo(services), hasConsole };
  const home = assets.size === 0 ? "" : buildHomePage(shown, assets);

  function answerPath(path: string, { headers }: Request): Response | undefined {
    const accept = headers.get("accept") ?? "";
    // Clients that ask for no page get the answer of an unknown path, as from relays without pages.
    if (path === "/" && !accept.includes("text/html")) return undefined;
    if (assets.size === 0) {
      return createRefusalResponse(refuse("console.not_built"), newId(services.runtime));
    }
    if (path === "/") return answerHome(home);
    const name = PAGE_FILES[path] ?? path.slice(1);
    if (!hasConsole && OPTIONAL_PAGES.has(name)) return undefined;
    const asset = assets.get(name);
    return asset && answerAsset(asset, name, headers);
  }

  return (request, clientIp) => {
    const path = new URL(request.url).pathname;
    const tier = { tier: "static", limit: limits.staticPerWindow };
    const decision = takeForClient(limiter, tier, clientIp);
    const limitHeaders = buildRateLimitHeaders("static", decision);
    if (!decision.allowed) {
      const { retryAfterSeconds } = decision;
      const refusal = { ...refuse("rate.exceeded"), retryAfterSeconds };
      return createRefusalResponse(refusal, newId(services.runtime), limitHeaders);
    }
    const response = answerPath(path, request);
    for (const [name, value] of Object.entries(limitHeaders)) response?.headers.set(name, value);
    return response;
  };
}

function answerHome(page: string): Response {
  return new Response(page, {
    headers: {
      ...buildPageHeaders(NO_NEEDS),
      "content-type": "text/html; charset=utf-8",
      "cache-control": "no-cache",
      vary: "Accept",
    },
  });
}

function answerAsset(asset: Asset, name: string, given: Headers): Response {
  const body = acceptsGzip(given.get("accept-encoding"))
    ? (asset.gzip ?? asset.bytes)
    : asset.bytes;
  const etag = body === asset.gzip ? `"${asset.tag}-gzip"` : `"${asset.tag}"`;
  const headers = {
    ...buildPageHeaders(NEEDS_BY_FILE[name] ?? VERIFY_NEEDS),
    "content-type": asset.mediaType,
    "cache-control": asset.isHashed ? `public, ${CACHE_FOR_EVER}` : "no-cache",
    etag,
    vary: "Accept-Encoding",
    ...(body === asset.gzip && { "content-encoding": "gzip" }),
    // This one is for readers without a relay; at the relay its inline script would be refused.
    ...(name === "agent-verify.html" && { "content-disposition": "attachment" }),
  };
  return isTagKnown(given.get("if-none-match"), etag)
    ? new Response(null, { status: 304, headers })
    : new Response(body, { status: 200, headers });
}
