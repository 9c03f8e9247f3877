/** The cache-control directives of content that never changes under its address. */
export const CACHE_FOR_EVER = "max-age=31536000, immutable";

/** The headers of an answer that may differ the next time, or for another caller. */
export const NO_STORE = { "cache-control": "no-store" } as const;

/** Returns whether the `Accept-Encoding` header of a request allows gzip. */
export function acceptsGzip(header: string | null): boolean {
  return (header ?? "").split(",").some((coding) => {
    const [name, ...parameters] = coding.split(";").map((part) => part.trim().toLowerCase());
    return name === "gzip" && !parameters.some((each) => /^q=0(\.0*)?$/.test(each));
  });
}

/**
 * Returns whether the `If-None-Match` header of a request names this entity tag, so that the caller has
 * the text already.
 */
export function isTagKnown(header: string | null, etag: string): boolean {
  const named = (header ?? "").split(",").map((tag) => tag.trim().replace(/^W\//, ""));
  return named.includes(etag) || named.includes("*");
}
