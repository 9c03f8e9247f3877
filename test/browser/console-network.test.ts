import { createDatabase, startPostgres, type PostgresServer } from "@agent/test-postgres";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, openBrowser } from "../open-browser.ts";
import { findBarriers, getOverflow } from "../page-checks.ts";
import { startRelayProcess, type RelayProcess } from "../start-relay-process.ts";
import {
  CREDIT_LIMIT,
  createRelayNetwork,
  TRAFFIC,
  type RelayNetwork,
} from "./world/relay-network.ts";
import { goToPlace, openConsole, waitForParts } from "./world/watched-page.ts";

const executablePath = findBrowser();
const SIZES = [
  [1280, "light"],
  [1280, "dark"],
  [390, "light"],
  [390, "dark"],
] as const;
const watch = { messages: [] as string[], requests: [] as string[] };

describe.skipIf(executablePath === undefined)("Several processes", { timeout: 120_000 }, () => {
  let browser: Browser;
  let server: PostgresServer;
  const relays: RelayProcess[] = [];

  beforeAll(async () => {
    browser = await openBrowser(executablePath ?? "");
    server = await startPostgres();
    const databaseUrl = await createDatabase(server.url, "console");
    for (const name of ["relay-1", "relay-2"]) {
      const env = { AGENT_DATABASE_URL: databaseUrl, AGENT_PROCESS_NAME: name };
      relays.push(await startRelayProcess(undefined, { ...env, AGENT_RATE_LIMIT_SCALE: "0" }));
    }
  }, 120_000);
  afterAll(async () => {
    for (const relay of relays) await relay.stop();
    await browser?.close();
    await server?.stop();
  });

  const urlOf = (at: number) => relays[at]?.baseUrl ?? "";

  it.each(SIZES)(
    "several processes are shown at %i px, %s, without overflow and faults of accessibility",
    async (...size) => {
      const [width, scheme] = size;
      const place = "#/processes";
      const options = { width, scheme, place };
      const { page, context } = await openConsole(browser, urlOf(0), watch, options);
      expect(await page.locator("tbody tr").count()).toBe(2);
      expect(await getOverflow(page)).toBe(0);
      expect(await findBarriers(page)).toEqual([]);
      await context.close();
    },
  );

  it("several processes are linked from the menu; one leads, and each states when it has answered the request", async () => {
    for (const [at, name] of ["relay-1", "relay-2"].entries()) {
      const { page, context } = await openConsole(browser, urlOf(at), watch);
      await page.click("nav >> text=Processes");
      await page.waitForSelector("h1:has-text('Processes')");
      await waitForParts(page);
      const rows = await page.locator("tbody tr").allInnerTexts();
      expect(rows.filter((row) => row.includes("leads"))).toHaveLength(1);
      expect(rows.filter((row) => row.includes("answered this request"))).toEqual([
        expect.stringContaining(name),
      ]);
      await context.close();
    }
  });

  it("the page shows that a process has stopped unexpectedly, and that the other one leads", async () => {
    const options = { place: "#/processes" };
    const { page, context } = await openConsole(browser, urlOf(1), watch, options);
    await relays[0]?.stop("SIGKILL");
    const readRow = (name: string) => page.locator("tbody tr", { hasText: name }).innerText();
    // A process counts as dead after 10 s.
    const patient = { timeout: 40_000 };
    await expect.poll(() => readRow("relay-1"), patient).toContain("stopped unexpectedly");
    await expect.poll(() => readRow("relay-2"), patient).toContain("leads, answered this request");
    await context.close();
  });
});

describe.skipIf(executablePath === undefined)("Federated relays", { timeout: 180_000 }, () => {
  let browser: Browser;
  let network: RelayNetwork;

  beforeAll(async () => {
    browser = await openBrowser(executablePath ?? "");
    network = await createRelayNetwork();
  }, 180_000);
  afterAll(async () => {
    await network?.close();
    await browser?.close();
  });

  it.each(SIZES)(
    "federated relays are shown at %i px, %s, without overflow and faults of accessibility",
    async (...size) => {
      const [width, scheme] = size;
      const options = { width, scheme, place: "#/federation" };
      const { page, context } = await openConsole(browser, network.middle.baseUrl, watch, options);
      const peers = await page.evaluate<string[]>(
        `[...document.querySelectorAll("[aria-label=Peers] .id a")].map((link) => link.hash)`,
      );
      expect(peers).toHaveLength(2);
      for (const place of ["#/federation", ...peers]) {
        await goToPlace(page, place);
        expect([place, await getOverflow(page)]).toEqual([place, 0]);
        expect([place, await findBarriers(page)]).toEqual([place, []]);
      }
      await context.close();
    },
  );

  it("federated relays are joined by lines as thick as their traffic, and by arrows to the one that is owed", async () => {
    const options = { place: "#/federation" };
    const { page, context } = await openConsole(browser, network.middle.baseUrl, watch, options);
    const readPeer = async (name: string) => {
      const peer = page.locator(".peer-map a.peer", { hasText: name });
      const line = peer.locator("line");
      return {
        title: await peer.locator("title").innerHTML(),
        width: Number(await line.getAttribute("stroke-width")),
        dashes: await line.getAttribute("stroke-dasharray"),
        arrow: await line.getAttribute("marker-end"),
        ring: (await peer.locator(".ring").getAttribute("stroke-dasharray"))
          ?.split(" ")
          .map(Number),
      };
    };
    const south = await readPeer("south");
    expect(south).toMatchObject({ width: 8, dashes: null, arrow: "url(#owes)" });
    expect(south.title).toContain(`${TRAFFIC.tasks} tasks in 24 hours`);
    const [used = 0, whole = 0] = south.ring ?? [];
    expect(used / whole).toBeCloseTo(TRAFFIC.owed / CREDIT_LIMIT, 6);
    const north = await readPeer("north");
    expect(north).toMatchObject({ width: 1, dashes: "4 4", arrow: null });
    expect(north.title).toContain("0 tasks in 24 hours");
    const cells = page.locator("[aria-label=Peers] tbody tr td[data-title='tasks in 24 h']");
    expect((await cells.allInnerTexts()).toSorted()).toEqual(["0", String(TRAFFIC.tasks)]);
    await context.close();
  });

  it.each([
    ["south", "closed: 0 of the latest 1 forwarded task failed"],
    ["north", "no task was forwarded recently"],
  ])("the circuit breaker of the relay in the %s is shown", async (name, expected) => {
    const options = { place: "#/federation" };
    const { page, context } = await openConsole(browser, network.middle.baseUrl, watch, options);
    await page.click(`[aria-label=Peers] tr:has-text('${name}') .id a`);
    await page.waitForSelector("h1:has-text('Peer')");
    await waitForParts(page);
    const fact = page.locator(".fact-list div", { hasText: "circuit breaker" });
    expect(await fact.locator("dd").innerText()).toBe(expected);
    await context.close();
  });
});
