import { getRiskName } from "../policy/policy-check.ts";
import type { RegisteredTool } from "../tools/registry.ts";
import type { Offer, OfferedListing } from "./offer.ts";

const HEADINGS = ["tool", "offered", "price", "risk"] as const;

/** Formats the table of the tools that others may use, with their prices, for the owner. */
export function formatOfferTable(
  tools: readonly Pick<RegisteredTool, "definition">[],
  offer: Offer,
  listing: OfferedListing | undefined,
): string {
  const rows = tools.map(({ definition }) => {
    const { name } = definition;
    const capabilities = [...offer.capabilities]
      .filter(([, behind]) => behind.includes(name))
      .map(([capability]) => capability);
    const risk = `${getRiskName(definition)}${definition.risk === undefined ? " (not stated)" : ""}`;
    return [name, formatOffered(name, capabilities), formatPrice(capabilities, listing), risk];
  });
  const withoutTool = [...offer.capabilities].filter(([, behind]) => behind.length === 0);
  const modelRows = withoutTool.map(([capability]) => [
    "(the model)",
    `as ${capability}`,
    formatPrice([capability], listing),
    "-",
  ]);
  return formatRows([[...HEADINGS], ...rows, ...modelRows]);
}

function formatOffered(tool: string, capabilities: readonly string[]): string {
  if (capabilities.length === 0) return "no";
  const others = capabilities.filter((capability) => capability !== tool);
  return others.length === 0 ? "yes" : `as ${capabilities.join(", ")}`;
}

function formatPrice(capabilities: readonly string[], listing: OfferedListing | undefined): string {
  if (capabilities.length === 0) return "-";
  const prices = capabilities.map((capability) => {
    const entry = listing?.pricing?.find((one) => one.capability === capability);
    if (entry === undefined || entry.unit_cost === 0) return "free";
    const { unit_cost: cost, currency, per } = entry;
    return `${cost} ${currency} per ${per}`;
  });
  return [...new Set(prices)].join(", ");
}

function formatRows(rows: readonly (readonly string[])[]): string {
  const widths = HEADINGS.map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join("");
}
