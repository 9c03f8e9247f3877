import type { MiddlewareHandler } from "hono";

/** The headers of an answer for its caller alone: no cache may store it, no browser may guess its type. */
export const PRIVATE_HEADERS = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
} as const;

/** Of an event stream: a proxy that compresses it would hold back its events. */
export const PRIVATE_STREAM = "no-store, no-transform";

/** Adds the headers to every answer, those of the protocol's library included. */
export const markPrivate: MiddlewareHandler = async (c, next) => {
  await next();
  const { headers } = c.res;
  const isStream = headers.get("cache-control")?.includes("no-transform") === true;
  for (const [name, value] of Object.entries(PRIVATE_HEADERS)) headers.set(name, value);
  if (isStream) headers.set("cache-control", PRIVATE_STREAM);
};
