import type { ListingBody } from "@agent/wire";

/** Parses the stored body of a listing, which was checked when it was saved. */
export function parseListing(body: string): ListingBody;
export function parseListing(body: string | null | undefined): ListingBody | undefined;
export function parseListing(body: string | null | undefined): ListingBody | undefined {
  if (body === null || body === undefined) return undefined;
  return JSON.parse(body) as ListingBody;
}
