import { getListedPrice, limits, type ListingBody } from "@agent/wire";
import type { Caller } from "../caller.ts";
import type { WorkTask } from "../execution/task.ts";
import type { RegisteredTool } from "../tools/registry.ts";

/** The setting `offer`: all tools, a list of tools, or the tools of each capability. */
export type OfferSetting =
  | "all"
  | readonly string[]
  | Readonly<Record<string, readonly string[]>>
  | undefined;

export type OfferedListing = Pick<ListingBody, "capabilities" | "pricing">;

/** The tools and capabilities that callers other than the owner may use. */
export interface Offer {
  /** The names of the tools behind each offered capability. */
  readonly capabilities: ReadonlyMap<string, readonly string[]>;
  /** The names of the tools behind the capabilities of the listing. */
  readonly listed: ReadonlySet<string>;
  /** The names of the tools that no offered capability has for free. */
  readonly priced: ReadonlySet<string>;
  /** Whether the listed capabilities have different prices. */
  readonly hasSeveralPrices: boolean;
  /** Absent for an agent without a listing. */
  readonly listing: OfferedListing | undefined;
}

export type OfferResult =
  | { readonly ok: true; readonly offer: Offer }
  | { readonly ok: false; readonly faults: readonly string[] };

interface OfferInput {
  readonly setting: OfferSetting;
  readonly listing: OfferedListing | undefined;
  /** A tool with an origin belongs to a wrapped MCP server. */
  readonly tools: readonly {
    readonly origin?: string;
    readonly definition: Pick<RegisteredTool["definition"], "name">;
  }[];
  /** Whether a model can serve a capability without a tool. */
  readonly answersWithoutTools?: boolean | undefined;
}

/**
 * Determines the tools of each capability: those of the setting, otherwise those that the listing names,
 * otherwise the agent's own. A wrapped server's tools are offered only if named, because their owner
 * configured them for the agent's own use.
 */
export function decideOffer(input: OfferInput): OfferResult {
  const { setting, listing } = input;
  const names = new Set(input.tools.map((tool) => tool.definition.name));
  const capabilities = new Map<string, readonly string[]>();
  const faults: string[] = [];

  for (const [capability, tools] of listOffered(input)) {
    for (const tool of tools) {
      if (!names.has(tool)) faults.push(`offer: "${tool}" is not a tool of this agent`);
    }
    if (tools.length === 0 && input.answersWithoutTools !== true) {
      faults.push(`offer: "${capability}" must name at least one tool`);
    }
    capabilities.set(capability, tools);
  }
  for (const capability of listing?.capabilities ?? []) {
    if (capabilities.has(capability)) continue;
    if (setting === "all") capabilities.set(capability, [...names]);
    else if (names.has(capability) && !isList(setting)) capabilities.set(capability, [capability]);
    else faults.push(describeMissingTool(capability, names));
  }
  if (faults.length > 0) return { ok: false, faults: [...new Set(faults)] };

  const listed = listing?.capabilities.flatMap((one) => capabilities.get(one) ?? []);
  const hasSeveralPrices = listPrices(listing).size > 1;
  const priced = listPricedTools(capabilities, listing);
  return {
    ok: true,
    offer: { capabilities, listed: new Set(listed), priced, hasSeveralPrices, listing },
  };
}

function listPricedTools(
  capabilities: Offer["capabilities"],
  listing: OfferedListing | undefined,
): ReadonlySet<string> {
  const hasPrice = (capability: string) =>
    listing !== undefined && (getListedPrice(listing, [capability]) ?? 0) > 0;
  const listTools = (isPriced: boolean) =>
    [...capabilities].flatMap(([capability, tools]) =>
      hasPrice(capability) === isPriced ? tools : [],
    );
  const free = new Set(listTools(false));
  return new Set(listTools(true).filter((tool) => !free.has(tool)));
}

function listOffered({ setting, listing, tools }: OfferInput): [string, readonly string[]][] {
  const toOwnCapability = (name: string): [string, readonly string[]] => [name, [name]];
  if (setting === undefined) {
    if (listing !== undefined) return [];
    const own = tools.filter(({ origin }) => origin === undefined);
    return own.map((tool) => toOwnCapability(tool.definition.name));
  }
  if (setting === "all") return tools.map((tool) => toOwnCapability(tool.definition.name));
  return isList(setting) ? setting.map(toOwnCapability) : Object.entries(setting);
}

function isList(setting: OfferSetting): setting is readonly string[] {
  return Array.isArray(setting);
}

function describeMissingTool(capability: string, names: ReadonlySet<string>): string {
  const quoted = JSON.stringify(capability);
  return names.has(capability)
    ? `listing: capability ${quoted} is a tool that "offer" leaves out`
    : `listing: capability ${quoted} has no tool; name its tools: "offer": {${quoted}: ["<tool>"]}`;
}

/** Lists the distinct prices; a listed capability without a price is free. */
function listPrices(listing: OfferedListing | undefined): ReadonlySet<number> {
  const pricing = listing?.pricing ?? [];
  const unpriced = (listing?.capabilities ?? []).filter(
    (capability) => !pricing.some((one) => one.capability === capability),
  );
  return new Set([...pricing.map((one) => one.unit_cost), ...unpriced.map(() => 0)]);
}

/** Lists the offered capabilities up to a relay's limit per agent, those of the listing first. */
export function listPublishedCapabilities(
  { capabilities }: Pick<Offer, "capabilities">,
  listing: OfferedListing | undefined,
): readonly string[] {
  const ordered = new Set([...(listing?.capabilities ?? []), ...capabilities.keys()]);
  return [...ordered].slice(0, limits.capabilities);
}

interface OfferQuery {
  readonly caller: Caller;
  /** The required capabilities of the task; empty: any offered capability. */
  readonly requiredCapabilities: readonly string[];
}

/**
 * Returns whether a caller may use one of the agent's tools. A task that requires a capability may
 * use only its tools, because its price is for that capability.
 */
export function isOffered(
  { capabilities }: Offer,
  tool: string,
  { caller, requiredCapabilities }: OfferQuery,
): boolean {
  if (caller.kind === "owner") return true;
  const toolLists =
    requiredCapabilities.length === 0
      ? [...capabilities.values()]
      : requiredCapabilities.map((capability) => capabilities.get(capability) ?? []);
  return toolLists.some((tools) => tools.includes(tool));
}

/** Returns the reason why a task must not run; undefined if it may. */
export function checkRequiredCapabilities(
  offer: Offer,
  { caller, requiredCapabilities }: OfferQuery,
): string | undefined {
  if (caller.kind === "owner") return undefined;
  const missing = requiredCapabilities.find((capability) => !offer.capabilities.has(capability));
  return missing === undefined
    ? undefined
    : `This agent does not offer the required capability "${toPrintable(missing)}"`;
}

/**
 * Returns the reason why an agent's task must not run for its price; undefined if it may. A task may wait
 * since before there was a listing, when it cost nothing.
 */
export function checkTaskPrice(
  { listing }: Offer,
  {
    submittedBy,
    requiredCapabilities,
    estimatedCost,
  }: Pick<WorkTask, "submittedBy" | "requiredCapabilities" | "estimatedCost">,
): string | undefined {
  if (submittedBy === undefined || estimatedCost !== 0 || listing === undefined) return undefined;
  const price = getListedPrice(listing, requiredCapabilities) ?? 0;
  return price === 0
    ? undefined
    : `This task was submitted at no price and costs ${price} USD; submit it again`;
}

function toPrintable(capability: string): string {
  return capability.replace(/[^\p{L}\p{N} _.:/-]/gu, "?").slice(0, 64);
}
