import type { ListingBody, Visibility } from "@agent/wire";
import { capabilitiesOf } from "../agents/listing.ts";
import type { Services } from "../services.ts";
import type { AgentRow, ListingRow } from "../storage/tables/agents.ts";
import { likelyMeant } from "./spelling.ts";
import { agentsOffering, mostOffered } from "./store.ts";

type Check = Visibility["checks"][number];

/** Against so many names a spelling is compared. */
const comparedWith = 1_000;

/**
 * What an owner should know of how an agent is registered. Nobody is called for it: an agent may
 * register before it listens.
 */
export async function checksOf(
  services: Pick<Services, "storage" | "egress">,
  agent: AgentRow,
  listing: Pick<ListingRow, "body"> | undefined,
): Promise<Check[]> {
  const misspelt = await misspeltIn(services, capabilitiesOf(agent, listing));
  return [
    {
      check: "key",
      ok: agent.public_key !== null,
      detail: agent.public_key === null ? "no key: bootstrap first" : "bound",
    },
    addressCheck(services, agent),
    listingCheck(listing),
    {
      check: "capabilities",
      ok: misspelt.length === 0,
      detail: misspelt.length === 0 ? "spelt like others" : `offers ${misspelt.join("; ")}`,
    },
  ];
}

async function misspeltIn(
  { storage: { read } }: Pick<Services, "storage">,
  capabilities: readonly string[],
): Promise<string[]> {
  const offers = await mostOffered(read, comparedWith);
  const misspelt: string[] = [];
  for (const capability of capabilities) {
    const own = await agentsOffering(read, capability);
    const meant = likelyMeant(capability, own, offers);
    if (meant !== undefined) misspelt.push(`"${capability}", while others offer "${meant}"`);
  }
  return misspelt;
}

function addressCheck(
  { egress }: Pick<Services, "egress">,
  { endpoint_url }: Pick<AgentRow, "endpoint_url">,
): Check {
  const check = "endpoint_url";
  if (endpoint_url === null) return { check, ok: false, detail: "none: register first" };
  return egress.checkUrl(endpoint_url).ok
    ? { check, ok: true, detail: "may be called" }
    : { check, ok: false, detail: "the relay will not call this address" };
}

function listingCheck(listing: Pick<ListingRow, "body"> | undefined): Check {
  const check = "listing";
  if (listing === undefined) return { check, ok: false, detail: "no listing: the agent is free" };
  const { pricing, capabilities } = JSON.parse(listing.body) as ListingBody;
  const stray = pricing.find(({ capability }) => !capabilities.includes(capability));
  if (stray !== undefined) {
    const detail = `"${stray.capability}" has a price and is not among the capabilities`;
    return { check, ok: false, detail };
  }
  const isPaid = pricing.some(({ unit_cost }) => unit_cost > 0);
  return { check, ok: true, detail: isPaid ? "paid" : "free" };
}
