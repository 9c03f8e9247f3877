import { limits, type ListingBody } from "@agent/wire";
import type { Caller } from "../caller.ts";
import type { RegisteredTool } from "../tools/registry.ts";

/** The setting `offer`: every tool, these tools, or the tools behind each capability. */
export type OfferSetting =
  | "all"
  | readonly string[]
  | Readonly<Record<string, readonly string[]>>
  | undefined;

export type OfferedListing = Pick<ListingBody, "capabilities" | "pricing">;

/** What callers other than the owner may have this agent do. */
export interface Offer {
  /** The names of the tools behind each offered capability. */
  readonly capabilities: ReadonlyMap<string, readonly string[]>;
  /** The names of the tools behind the capabilities of the listing. */
  readonly listed: ReadonlySet<string>;
  /** Whether it matters for the price which of the listed capabilities a task uses. */
  readonly hasSeveralPrices: boolean;
}

export type OfferResult =
  | { readonly ok: true; readonly offer: Offer }
  | { readonly ok: false; readonly faults: readonly string[] };

interface OfferInput {
  readonly setting: OfferSetting;
  readonly listing: OfferedListing | undefined;
  /** A tool with an origin belongs to another MCP server. */
  readonly tools: readonly {
    readonly origin?: string;
    readonly definition: Pick<RegisteredTool["definition"], "name">;
  }[];
  /** A model can serve a capability that no tool is behind. */
  readonly answersWithoutTools?: boolean | undefined;
}

/**
 * Decides which tools are behind which capability: those of the setting, else those that the listing
 * names, else the agent's own tools. A wrapped server's tools are never offered without being named,
 * because its owner configured it for the agent's use and not for everybody's.
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
  return { ok: true, offer: { capabilities, listed: new Set(listed), hasSeveralPrices } };
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
    : `listing: capability ${quoted} leads to no tool; name the tools behind it: "offer": {${quoted}: ["<tool>"]}`;
}

/** A listed capability without a price costs nothing. */
function listPrices(listing: OfferedListing | undefined): ReadonlySet<number> {
  const pricing = listing?.pricing ?? [];
  const unpriced = (listing?.capabilities ?? []).filter(
    (capability) => !pricing.some((one) => one.capability === capability),
  );
  return new Set([...pricing.map((one) => one.unit_cost), ...unpriced.map(() => 0)]);
}

/** As many offered capabilities as a relay takes of one agent, those of the listing before all others. */
export function listPublishedCapabilities(
  { capabilities }: Pick<Offer, "capabilities">,
  listing: OfferedListing | undefined,
): readonly string[] {
  const ordered = new Set([...(listing?.capabilities ?? []), ...capabilities.keys()]);
  return [...ordered].slice(0, limits.capabilities);
}

interface OfferQuery {
  readonly caller: Caller;
  /** Of the task for which the tool runs; none: any offered capability will do. */
  readonly requiredCapabilities: readonly string[];
}

/**
 * Whether a caller may have one of the agent's tools run. Who asks for a capability gets the tools behind
 * that one only: it is what the price was asked for.
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

/** Why nothing of a task may run; undefined: it may. */
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

function toPrintable(capability: string): string {
  return capability.replace(/[^\p{L}\p{N} _.:/-]/gu, "?").slice(0, 64);
}
