import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, openBrowser } from "../open-browser.ts";
import { findBarriers, getOverflow } from "../page-checks.ts";
import { startRelayProcess, type RelayProcess } from "../start-relay-process.ts";
import { type ConsoleWorld, createConsoleWorld, waitForEnd } from "./world/console-world.ts";
import { joinInspectedWork, type InspectedWork } from "./world/inspected-tasks.ts";
import { joinRelay } from "./world/real-agent.ts";
import { goToPlace, openConsole } from "./world/watched-page.ts";

const executablePath = findBrowser();

describe.skipIf(executablePath === undefined)("Oversight", { timeout: 120_000 }, () => {
  let browser: Browser;
  let relay: RelayProcess;
  let world: ConsoleWorld;
  let work: InspectedWork;
  let disputed: string;
  const watch = { messages: [] as string[], requests: [] as string[] };

  beforeAll(async () => {
    const env = { AGENT_RATE_LIMIT_SCALE: "0", AGENT_PRIVATE_ENDPOINTS: "allow" };
    relay = await startRelayProcess(undefined, env);
    browser = await openBrowser(executablePath ?? "");
    world = await createConsoleWorld(relay.baseUrl);
    work = await joinInspectedWork(relay.baseUrl, world.operator);
    await waitForEnd(world.operator, await world.askResearch("the history of glass"));
    await work.accept();
    disputed = await work.dispute();
  }, 120_000);
  afterAll(async () => {
    world?.close();
    work?.worker.close();
    await browser?.close();
    await relay?.stop();
  });

  it.each([
    [1280, "light"],
    [1280, "dark"],
    [390, "light"],
    [390, "dark"],
  ] as const)(
    "the console shows inspections at %i px, %s, without overflow and faults of accessibility",
    async (...size) => {
      const [width, scheme] = size;
      const { page, context } = await openConsole(browser, relay.baseUrl, watch, { width, scheme });
      for (const place of [
        "#/disputes",
        "#/disputes?state=all",
        `#/agents/${work.worker.agentId}`,
      ]) {
        await goToPlace(page, place);
        expect(await page.locator("tbody tr").count()).toBeGreaterThan(0);
        expect([place, await getOverflow(page)]).toEqual([place, 0]);
        expect([place, await findBarriers(page)]).toEqual([place, []]);
      }
      await context.close();
    },
  );

  it("the console says that a dispute waits, takes the decision, and lists it among the closed", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch);
    const bar = page.locator(".stacked li", { hasText: "under inspection" });
    expect(await bar.innerText()).toMatch(/under inspection 2\.[1-9]\d USD/);
    await page.click(".needs >> text=1 dispute to decide");
    await page.waitForSelector(`tbody .id[title="${disputed}"]`);
    const words = await page.locator("tbody").innerText();
    expect(words).toContain("Rows 7 to 9 are missing.");
    expect(words).toContain("The prompt names six rows.");
    await page.click("tbody >> button:text-is('Decide')");
    await page.fill("dialog [name=percent]", "75");
    await page.fill("dialog [name=reason]", "Most of it is there.");
    await page.click("dialog [type=submit]");
    await page.waitForSelector("dialog >> text=the executor is paid 75 %");
    await page.click("dialog >> text=Close");
    await page.waitForSelector("text=No dispute waits for you.");
    await page.click("main >> text=closed");
    await page.waitForSelector(`tbody .id[title="${disputed}"]`);
    const rows = await page.locator("tbody tr").allInnerTexts();
    expect(rows.map((row) => /\w+, [\d.]+ % paid/.exec(row)?.[0])).toEqual([
      "decided, 75 % paid",
      "accepted, 100 % paid",
    ]);
    await context.close();
  });

  it("the console shows on the page of an agent the trust that it gives and receives", async () => {
    const place = `#/agents/${world.research.agentId}`;
    const { page, context } = await openConsole(browser, relay.baseUrl, watch, { place });
    const idsIn = (caption: string) =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll('[aria-label="${caption}"] .id')].map((each) => each.title)`,
      );
    expect(await idsIn("Trust received")).toEqual([world.editor.agentId]);
    expect(await idsIn("Trust")).toEqual([world.linguist.agentId]);
    await context.close();
  });

  it("the console says that a call found no agent at an endpoint", async () => {
    const closed = await startRelayProcess();
    await closed.stop();
    const agent = await joinRelay(relay.baseUrl, { name: "gone", endpoint: closed.baseUrl });
    const place = `#/agents/${agent.agentId}`;
    const { page, context } = await openConsole(browser, relay.baseUrl, watch, { place });
    expect(await page.locator("text=the relay found no agent").count()).toBe(0);
    const body = { prompt: "are you there?", max_budget: 0 };
    expect(await world.editor.client.submitTask({ params: agent, body })).toMatchObject({
      ok: true,
    });
    await page.waitForSelector("text=the relay found no agent at this endpoint");
    await context.close();
  });

  it("the console keeps each link of the menu on one line on a narrow screen", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch, { width: 390 });
    const heights = await page.evaluate<number[]>(
      `[...document.querySelectorAll(".frame-links a")].map((link) => link.offsetHeight)`,
    );
    expect(Math.max(...heights)).toBeLessThan(45);
    expect(await getOverflow(page)).toBe(0);
    await context.close();
  });

  it("the console shows what was settled today", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch);
    const tile = page.locator(".tiles li", { hasText: "settled today" });
    await expect.poll(() => tile.locator("strong").innerText()).toMatch(/^[1-9][\d.]* USD$/);
    await context.close();
  });

  it("the console draws the icon of a copy button, and another one after it has copied", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch);
    await context.grantPermissions(["clipboard-write"]);
    const button = page.locator(".relay-name .copy");
    expect(await button.innerText()).toBe("");
    const readMark = () => button.locator("svg path").getAttribute("d");
    const before = await readMark();
    expect((await button.locator("svg").boundingBox())?.width).toBeGreaterThan(12);
    await button.click();
    await expect.poll(readMark).not.toBe(before);
    // A screen reader announces the new name of the focused button.
    expect(await button.getAttribute("aria-label")).toMatch(/^Copied id ending/);
    await context.close();
  });

  it("the console draws a focus ring around what a reader has focused, but not around a title that the page has focused", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch);
    const readOutline = () =>
      page.evaluate<[string, string]>(
        "[document.activeElement.localName, getComputedStyle(document.activeElement).outlineStyle]",
      );
    await page.focus("nav >> text=Agents");
    await page.keyboard.press("Enter");
    await page.waitForSelector("h1:has-text('Agents'):focus");
    expect(await readOutline()).toEqual(["h1", "none"]);
    await page.keyboard.press("Tab");
    expect(await readOutline()).toEqual(["a", "solid"]);
    await context.close();
  });

  it("the console has no link to the page of processes if there is only one", async () => {
    const place = "#/processes";
    const { page, context } = await openConsole(browser, relay.baseUrl, watch, { place });
    expect(await page.locator("nav >> text=Processes").count()).toBe(0);
    expect(await page.locator("tbody").innerText()).toContain("the only one");
    await context.close();
  });

  it("the console causes no message in the browser's console and requests nothing from other origins", () => {
    expect(watch.messages).toEqual([]);
    expect(watch.requests.filter((url) => !url.startsWith(relay.baseUrl))).toEqual([]);
  });
});
