import { refuse, type Answer, type Listing, type ListingBody, type Operations } from "@agent/wire";
import { isPricedListing } from "../../routing/price.ts";
import { recordAudit } from "../../audit/record-audit.ts";
import { refuseField } from "../../http/server/validate.ts";
import type { Caller } from "../../identity/caller.ts";
import { newId } from "../../runtime.ts";
import type { Services } from "../../services.ts";
import type { Reader, Tx } from "../../storage/storage.ts";
import type { AgentRow, ListingRow } from "../../storage/tables/agents.ts";
import { findListing, saveListing } from "./listing-store.ts";
import { findAgent, replaceCapabilities } from "../store.ts";
import { parseListing } from "./parse-listing.ts";

/** Creates or replaces a listing; its id stays. */
export async function putListing(
  { storage, runtime, config }: Pick<Services, "storage" | "runtime" | "config">,
  agentId: string,
  body: ListingBody,
  caller: Caller,
): Promise<Answer<Operations["putListing"]>> {
  const { acceptance } = body;
  if (acceptance?.arbiters.includes(agentId) === true) {
    return refuseField("acceptance.arbiters", "must not contain the agent itself");
  }
  const { windowMinMs } = config.disputes;
  if (acceptance !== undefined && acceptance.window_ms < windowMinMs) {
    return refuseField("acceptance.window_ms", `must be at least ${windowMinMs}`);
  }
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
    await saveListing(tx, row);
    await reindexCapabilities(tx, agent, row);
    await recordAudit(tx, row.updated_at, caller, { agentId, action: "listing.changed" });
    return { status: 200 as const, body: toListing(row) };
  });
}

export async function getListing(
  read: Reader,
  agentId: string,
): Promise<Answer<Operations["getListing"]>> {
  const row = await findListing(read, agentId);
  return row === undefined ? refuse("listing.not_found") : { status: 200, body: toListing(row) };
}

function toListing(row: ListingRow): Listing {
  const body = parseListing(row.body);
  return {
    listing_id: row.listing_id,
    agent_id: row.agent_id,
    updated_at: row.updated_at,
    ...body,
  };
}

/** An agent is found by its registered and by its listed capabilities. */
export async function reindexCapabilities(
  tx: Tx,
  agent: AgentRow,
  listing: Pick<ListingRow, "body"> | undefined,
): Promise<void> {
  await replaceCapabilities(tx, agent.agent_id, listCapabilities(agent, listing));
}

export function listCapabilities(
  agent: Pick<AgentRow, "capabilities" | "registered">,
  listing: Pick<ListingRow, "body"> | undefined,
): string[] {
  return mergeCapabilities(agent, parseListing(listing?.body));
}

/** Merges the registered and the listed capabilities of an agent. */
export function mergeCapabilities(
  agent: Pick<AgentRow, "capabilities" | "registered">,
  listing: Pick<ListingBody, "capabilities"> | undefined,
): string[] {
  const registered = agent.registered ? (JSON.parse(agent.capabilities) as string[]) : [];
  return [...new Set([...registered, ...(listing?.capabilities ?? [])])];
}

/**
 * Returns the capabilities that a task may require of an agent: only the listed ones if its listing has
 * prices, otherwise all that it names.
 */
export function listOfferedCapabilities(
  agent: Pick<AgentRow, "capabilities" | "registered">,
  listing: Pick<ListingRow, "body"> | undefined,
): string[] {
  const listed = parseListing(listing?.body);
  return listed !== undefined && isPricedListing(listed)
    ? listed.capabilities
    : listCapabilities(agent, listing);
}
