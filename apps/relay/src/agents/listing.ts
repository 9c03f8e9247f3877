import { refuse, type Answer, type Listing, type ListingBody, type Operations } from "@agent/wire";
import { hasPrice } from "../routing/price.ts";
import { note } from "../audit/note.ts";
import type { Caller } from "../identity/caller.ts";
import { newId } from "../runtime.ts";
import type { Services } from "../services.ts";
import type { Reader, Tx } from "../storage/storage.ts";
import type { AgentRow, ListingRow } from "../storage/tables/agents.ts";
import { findListing, putListingRow } from "./listing-store.ts";
import { findAgent, indexCapabilities } from "./store.ts";

/** Registers or replaces a listing; its id stays. */
export async function putListing(
  { storage, runtime }: Pick<Services, "storage" | "runtime">,
  agentId: string,
  body: ListingBody,
  caller: Caller,
): Promise<Answer<Operations["putListing"]>> {
  return storage.transaction(async (tx) => {
    const agent = await findAgent(tx, agentId);
    if (agent === undefined) return refuse("agent.not_found");
    if (agent.revoked_at !== null) return refuse("agent.revoked");
    const stored = await findListing(tx, agentId);
    const row: ListingRow = {
      agent_id: agentId,
      listing_id: stored?.listing_id ?? newId(runtime),
      body: JSON.stringify(body),
      updated_at: runtime.now(),
    };
    await putListingRow(tx, row);
    await reindex(tx, agent, row);
    await note(tx, row.updated_at, caller, { agentId, action: "listing.changed" });
    return { status: 200 as const, body: listingOf(row) };
  });
}

export async function getListing(
  read: Reader,
  agentId: string,
): Promise<Answer<Operations["getListing"]>> {
  const row = await findListing(read, agentId);
  return row === undefined ? refuse("listing.not_found") : { status: 200, body: listingOf(row) };
}

function listingOf(row: ListingRow): Listing {
  const body = JSON.parse(row.body) as ListingBody;
  return {
    listing_id: row.listing_id,
    agent_id: row.agent_id,
    updated_at: row.updated_at,
    ...body,
  };
}

/** An agent is found by what it registered and by what it lists. */
export async function reindex(
  tx: Tx,
  agent: AgentRow,
  listing: Pick<ListingRow, "body"> | undefined,
): Promise<void> {
  await indexCapabilities(tx, agent.agent_id, capabilitiesOf(agent, listing));
}

export function capabilitiesOf(
  agent: Pick<AgentRow, "capabilities" | "registered">,
  listing: Pick<ListingRow, "body"> | undefined,
): string[] {
  const registered = agent.registered ? (JSON.parse(agent.capabilities) as string[]) : [];
  const listed =
    listing === undefined ? [] : (JSON.parse(listing.body) as ListingBody).capabilities;
  return [...new Set([...registered, ...listed])];
}

/**
 * What may be required of an agent: with a price in its listing only what that lists, else everything
 * that it names.
 */
export function offeredBy(
  agent: Pick<AgentRow, "capabilities" | "registered">,
  listing: Pick<ListingRow, "body"> | undefined,
): string[] {
  const listed = listing === undefined ? undefined : (JSON.parse(listing.body) as ListingBody);
  return listed !== undefined && hasPrice(listed)
    ? listed.capabilities
    : capabilitiesOf(agent, listing);
}
