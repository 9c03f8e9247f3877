import { asMicro, toDollars } from "@agent/budget";
import type { Visibility } from "@agent/wire";
import { listCapabilities } from "../agents/discovery/listing.ts";
import { findBalance } from "../budget/accounts/find-balance.ts";
import { sumUncontestedFees } from "../inspections/reading/count-store.ts";
import type { Services } from "../services.ts";
import type { Reader } from "../storage/storage.ts";
import type { AgentRow, ListingRow } from "../storage/tables/agents.ts";
import { suggestCapability } from "./suggest-capability.ts";
import { countAgentsOffering, listTopCapabilities } from "./store.ts";
import { parseListing } from "../agents/discovery/parse-listing.ts";

type VisibilityCheck = Visibility["checks"][number];

/** Limits the names that a spelling is compared with. */
const MAX_COMPARED_CAPABILITIES = 1_000;

/**
 * Checks an agent's registration for its owner. Sends no request: an agent may register before it
 * listens.
 */
export async function checkVisibility(
  services: Pick<Services, "storage" | "egress" | "connections">,
  agent: AgentRow,
  listing: Pick<ListingRow, "body"> | undefined,
): Promise<VisibilityCheck[]> {
  return [
    {
      check: "key",
      ok: agent.public_key !== null,
      detail: agent.public_key === null ? "no key; bootstrap the agent" : "bound",
    },
    checkAddress(services, agent),
    checkListing(listing),
    ...(await checkFeesAtHand(services.storage.read, agent.agent_id)),
    await checkCapabilities(services, listCapabilities(agent, listing)),
  ];
}

async function checkCapabilities(
  services: Pick<Services, "storage">,
  capabilities: readonly string[],
): Promise<VisibilityCheck> {
  const check = "capabilities";
  if (capabilities.length === 0)
    return { check, ok: false, detail: "none, so no query finds the agent" };
  const misspelled = await findMisspelled(services, capabilities);
  if (misspelled.length > 0) return { check, ok: false, detail: `offers ${misspelled.join("; ")}` };
  return { check, ok: true, detail: "spelled like those of other agents" };
}

async function findMisspelled(
  { storage: { read } }: Pick<Services, "storage">,
  capabilities: readonly string[],
): Promise<string[]> {
  const offers = await listTopCapabilities(read, MAX_COMPARED_CAPABILITIES);
  const misspelled: string[] = [];
  for (const capability of capabilities) {
    const own = await countAgentsOffering(read, capability);
    const suggestion = suggestCapability(capability, own, offers);
    if (suggestion !== undefined)
      misspelled.push(`"${capability}", but other agents offer "${suggestion}"`);
  }
  return misspelled;
}

function checkAddress(
  { egress, connections }: Pick<Services, "egress" | "connections">,
  { agent_id, endpoint_url }: Pick<AgentRow, "agent_id" | "endpoint_url">,
): VisibilityCheck {
  const check = "endpoint_url";
  if (endpoint_url === null) return { check, ok: false, detail: "none; register the agent" };
  if (egress.checkUrl(endpoint_url).ok) return { check, ok: true, detail: "may be called" };
  const detail = "the relay will not call this address";
  return connections.isOnline(agent_id)
    ? { check, ok: true, detail: `${detail}, and does not need to: tasks arrive by its socket` }
    : { check, ok: false, detail };
}

/**
 * Without these fees in its account the agent could not contest the rejection of open work. The bond of a contested
 * case is held already.
 */
async function checkFeesAtHand(read: Reader, agentId: string): Promise<VisibilityCheck[]> {
  const { count, fees } = await sumUncontestedFees(read, agentId);
  if (count === 0) return [];
  const balance = await findBalance(read, agentId);
  const ok = balance >= fees;
  const cases = count === 1 ? "1 open inspection" : `${count} open inspections`;
  const needed = `${toDollars(asMicro(fees))} USD to contest ${cases}`;
  const detail = ok ? `enough: ${needed}` : `too low: ${needed}, deposit to the account`;
  return [{ check: "balance", ok, detail }];
}

function checkListing(listing: Pick<ListingRow, "body"> | undefined): VisibilityCheck {
  const check = "listing";
  if (listing === undefined) return { check, ok: false, detail: "no listing; the agent is free" };
  const { pricing, capabilities } = parseListing(listing.body);
  const stray = pricing.find(({ capability }) => !capabilities.includes(capability));
  if (stray !== undefined) {
    const detail = `"${stray.capability}" has a price and is not among the capabilities`;
    return { check, ok: false, detail };
  }
  const isPaid = pricing.some(({ unit_cost }) => unit_cost > 0);
  return { check, ok: true, detail: isPaid ? "paid" : "free" };
}
