import { describe, expect, test } from "vitest";
import { owner, type Caller } from "../caller.ts";
import {
  decideOffer,
  isOffered,
  checkRequiredCapabilities,
  checkTaskPrice,
  type Offer,
  type OfferSetting,
} from "./offer.ts";
import { formatOfferTable } from "./format-offer-table.ts";

const own = (name: string) => ({ definition: { name } });
const wrapped = (name: string) => ({ origin: 'MCP server "files"', definition: { name } });
const tools = [own("count"), own("report"), wrapped("read_file"), wrapped("write_file")];
const relay: Caller = { kind: "relay", relayId: "r" };
const friend: Caller = { kind: "agent", agentId: "a", trust: "trusted" };

function listingOf(capabilities: string[], prices: Record<string, number> = {}) {
  const pricing = Object.entries(prices).map(([capability, unit_cost]) => ({
    capability,
    unit_cost,
    currency: "USD" as const,
    per: "task",
  }));
  return { capabilities, pricing };
}

function offer(setting: OfferSetting, capabilities?: string[], prices?: Record<string, number>) {
  const listing = capabilities && listingOf(capabilities, prices);
  const decided = decideOffer({ setting, listing, tools });
  if (!decided.ok) throw new Error(decided.faults.join("; "));
  return decided.offer;
}

const offeredTo = (given: Offer, caller: Caller, requiredCapabilities: string[] = []) =>
  tools
    .map(({ definition }) => definition.name)
    .filter((tool) => isOffered(given, tool, { caller, requiredCapabilities }));

describe("E1: the tools on offer", () => {
  test.each<[string, OfferSetting, string[] | undefined, string[]]>([
    ["are the agent's own without a listing", undefined, undefined, ["count", "report"]],
    ["are those that a listing names", undefined, ["count"], ["count"]],
    [
      "may be a wrapped server's if the listing names them",
      undefined,
      ["read_file"],
      ["read_file"],
    ],
    ["are none with an empty listing", undefined, [], []],
    ["are those of a list", ["report", "read_file"], undefined, ["report", "read_file"]],
    ["are those of a list beside a listing", ["count", "report"], ["count"], ["count", "report"]],
    [
      "are those behind mapped capabilities",
      { text: ["count", "report"] },
      ["text"],
      ["count", "report"],
    ],
    [
      "are mapped ones and listed ones",
      { text: ["report"] },
      ["text", "count"],
      ["count", "report"],
    ],
    ["are none with an empty list", [], undefined, []],
    ['are all with "all"', "all", ["count"], tools.map((one) => one.definition.name)],
  ])("E1: the tools on offer %s", (_, setting, capabilities, expected) => {
    const decided = offer(setting, capabilities);
    expect(offeredTo(decided, relay)).toEqual(expected);
    expect(offeredTo(decided, friend)).toEqual(expected);
    expect(offeredTo(decided, owner)).toHaveLength(tools.length);
  });

  test.each<[string, OfferSetting, string[], RegExp]>([
    ["a listed capability without a tool", undefined, ["magic"], /"magic" has no tool/],
    ["a listed tool that a list leaves out", ["report"], ["count"], /leaves out/],
    ["a name in a list that no tool has", ["missing"], [], /"missing" is not a tool/],
    ["a mapped name that no tool has", { text: ["missing"] }, ["text"], /"missing" is not a tool/],
    ["a capability with no tool behind it", { text: [] }, ["text"], /must name at least one/],
    ["a listed capability named like a built-in member", undefined, ["toString"], /no tool/],
  ])("E1: %s stops the start", (_, setting, capabilities, fault) => {
    const decided = decideOffer({ setting, listing: listingOf(capabilities), tools });
    expect(decided.ok ? [] : decided.faults).toEqual([expect.stringMatching(fault)]);
  });

  test.each<[string, OfferSetting, Record<string, number>, string[]]>([
    ["that the listing gives away", undefined, { count: 0 }, []],
    ["that the listing sells", undefined, { count: 0.1 }, ["count"]],
    ["behind a capability that is sold", { text: ["count"] }, { text: 0.1 }, ["count"]],
    [
      "that another capability has for free",
      { text: ["count"], free: ["count"] },
      { text: 0.1, free: 0 },
      [],
    ],
    ["that is offered besides what is sold", ["count", "report"], { count: 0.1 }, ["count"]],
  ])("E7: the tool %s has the price %j", (_, setting, prices, expected) => {
    const pricing = Object.entries(prices).map(([capability, unit_cost]) => ({
      capability,
      unit_cost,
      currency: "USD" as const,
      per: "task",
    }));
    const listing = { capabilities: Object.keys(prices), pricing };
    const decided = decideOffer({ setting, listing, tools });
    expect(decided.ok && [...decided.offer.priced]).toEqual(expected);
  });

  test("E1: a model may serve a capability that is mapped to no tool", () => {
    const listing = listingOf(["essay"]);
    const setting = { essay: [] };
    expect(decideOffer({ setting, listing, tools: [], answersWithoutTools: true }).ok).toBe(true);
    const unsaid = { setting: undefined, listing, tools: [], answersWithoutTools: true };
    expect(decideOffer(unsaid).ok).toBe(false);
  });

  test("E1: a task that requires a capability may use only its tools", () => {
    const decided = offer({ text: ["count"], files: ["read_file"] }, ["text", "files"]);
    expect(offeredTo(decided, relay, ["files"])).toEqual(["read_file"]);
    expect(offeredTo(decided, relay, ["files", "text"])).toEqual(["count", "read_file"]);
    expect(offeredTo(decided, relay, ["count"])).toEqual([]);
  });

  test("B1: a required capability that is not offered is refused, except to the owner", () => {
    const decided = offer(undefined, ["count"]);
    const wanted = { requiredCapabilities: ["count", "made\nup"] };
    for (const caller of [relay, friend]) {
      expect(checkRequiredCapabilities(decided, { caller, ...wanted })).toMatch(/"made\?up"/);
    }
    expect(checkRequiredCapabilities(decided, { caller: owner, ...wanted })).toBeUndefined();
    expect(
      checkRequiredCapabilities(decided, { caller: relay, requiredCapabilities: ["count"] }),
    ).toBeUndefined();
  });
});

test("E2: prices differ when an unpriced capability stands beside a priced one", () => {
  const several = (capabilities: string[], prices: Record<string, number>) =>
    offer(undefined, capabilities, prices).hasSeveralPrices;
  expect(several(["count", "report"], { count: 1, report: 2 })).toBe(true);
  expect(several(["count", "report"], { count: 1 })).toBe(true);
  expect(several(["count", "report"], { count: 1, report: 1 })).toBe(false);
  expect(several(["count"], { count: 1 })).toBe(false);
  expect(several(["count", "report"], {})).toBe(false);
});

describe("the price of a task", () => {
  const priced = offer(undefined, ["count", "report"], { count: 0.4 });
  const order = { submittedBy: "boss", requiredCapabilities: ["count"], estimatedCost: 0 };

  test("B1: a task that was submitted at no price is not done for nothing", () => {
    const asks = "This task was submitted at no price and costs 0.4 USD; submit it again";
    expect(checkTaskPrice(priced, order)).toBe(asks);
  });

  test.each([
    ["was submitted at an earlier price", { ...order, estimatedCost: 0.1 }],
    ["needs a capability that is listed and free", { ...order, requiredCapabilities: ["report"] }],
    ["is the operator's", { ...order, submittedBy: undefined }],
    ["came without a statement of its price", { ...order, estimatedCost: undefined }],
  ])("B1: a task that %s is done", (_, { submittedBy, estimatedCost, requiredCapabilities }) => {
    const task = {
      requiredCapabilities,
      ...(submittedBy !== undefined && { submittedBy }),
      ...(estimatedCost !== undefined && { estimatedCost }),
    };
    expect(checkTaskPrice(priced, task)).toBeUndefined();
  });

  test("B1: an agent without a listing has no price", () => {
    expect(checkTaskPrice({ ...priced, listing: undefined }, order)).toBeUndefined();
  });
});

test("E1: the table shows whether each tool is offered, its price and its risk", () => {
  const listing = listingOf(["count", "text"], { count: 0.05 });
  const setting = { text: ["report"] };
  const decided = decideOffer({ setting, listing, tools });
  if (!decided.ok) throw new Error(decided.faults.join("; "));
  const described = tools.map(({ definition }) => ({
    definition: {
      ...definition,
      description: "",
      inputSchema: {},
      ...(definition.name === "count" && { risk: 0 as const }),
    },
  }));
  expect(formatOfferTable(described, decided.offer, listing)).toBe(
    `tool        offered  price              risk
count       yes      0.05 USD per task  R0_READ
report      as text  free               R2_WRITE (not stated)
read_file   no       -                  R2_WRITE (not stated)
write_file  no       -                  R2_WRITE (not stated)
`,
  );
});
