import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, openBrowser } from "../open-browser.ts";
import { findBarriers } from "../page-checks.ts";
import { startRelayProcess, type RelayProcess } from "../start-relay-process.ts";
import { type ConsoleWorld, createConsoleWorld } from "./world/console-world.ts";
import { openConsole } from "./world/watched-page.ts";

const executablePath = findBrowser();
const folder = mkdtempSync(join(tmpdir(), "console-live-"));

const getFilter = (page: Page) =>
  page.evaluate<string>("getComputedStyle(document.querySelector('main')).filter");

describe.skipIf(executablePath === undefined)("The live console", { timeout: 120_000 }, () => {
  let browser: Browser;
  let relay: RelayProcess;
  let world: ConsoleWorld;
  const watch = { messages: [] as string[], requests: [] as string[] };
  const env = { AGENT_RATE_LIMIT_SCALE: "0", AGENT_DB_PATH: join(folder, "relay.db") };

  beforeAll(async () => {
    relay = await startRelayProcess(undefined, env);
    browser = await openBrowser(executablePath ?? "");
    world = await createConsoleWorld(relay.baseUrl);
  }, 120_000);
  afterAll(async () => {
    world?.close();
    await browser?.close();
    await relay?.stop();
    rmSync(folder, { recursive: true });
  });

  it("the live console shows a task within a second of its submission, without a reload", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch);
    const loads = watch.requests.filter((url) => url.endsWith("/console")).length;
    // The fastest of five, because other processes of a busy machine can delay the browser.
    const waits: number[] = [];
    for (let i = 0; i < 5; i += 1) {
      const taskId = await world.submitOpen("look at me");
      const submittedAt = performance.now();
      await page.waitForSelector(`[data-events] .id[title="${taskId}"]`);
      waits.push(performance.now() - submittedAt);
    }
    expect(Math.min(...waits)).toBeLessThan(1_000);
    expect(watch.requests.filter((url) => url.endsWith("/console")).length).toBe(loads);
    await context.close();
  });

  it("the live console offers new rows above the list, and leaves the list as it is", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch, {
      place: "#/tasks",
    });
    const before = await page.locator("tbody tr").count();
    await world.submitOpen("one more");
    await page.waitForSelector(".news >> text=1 new");
    expect(await page.locator("tbody tr").count()).toBe(before);
    await page.click(".news button");
    await expect.poll(() => page.locator("tbody tr").count()).toBe(before + 1);
    await context.close();
  });

  it("the live console says that the relay does not answer, shows its data in grey, and continues with each event once", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch);
    const { port } = new URL(relay.baseUrl);
    await relay.stop("SIGKILL");
    await page.waitForSelector("[data-live=reconnecting]");
    expect(await page.locator(".live").innerText()).toMatch(/^live until .*, reconnecting$/);
    await expect.poll(() => getFilter(page)).toBe("grayscale(1)");
    expect(await findBarriers(page)).toEqual([]);
    relay = await startRelayProcess(undefined, { ...env, PORT: port });
    await page.waitForSelector("[data-live=live]", { timeout: 30_000 });
    await expect.poll(() => getFilter(page)).toBe("none");
    const taskId = await world.submitOpen("after the restart");
    await page.waitForSelector(`[data-events] .id[title="${taskId}"]`);
    const numbers = await page
      .locator("[data-sequence]")
      .evaluateAll((rows) => rows.map((row) => Number(row.getAttribute("data-sequence"))));
    expect(numbers.length).toBeGreaterThan(1);
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers).toEqual(numbers.toSorted((one, other) => other - one));
    await context.close();
  });
});
