import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "@agent/wire";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, openBrowser } from "../open-browser.ts";
import { findBarriers, getOverflow } from "../page-checks.ts";
import { startRelayProcess, type RelayProcess } from "../start-relay-process.ts";
import { LONELY_ID } from "./world/console-world.ts";
import { seedLongAccount } from "./world/seed-long-account.ts";
import { openConsole, waitForParts } from "./world/watched-page.ts";

const executablePath = findBrowser();

describe.skipIf(executablePath === undefined)(
  "The page of an account",
  { timeout: 120_000 },
  () => {
    const folder = mkdtempSync(join(tmpdir(), "relay-account-"));
    const path = join(folder, "relay.db");
    const deposits = limits.statementRows + 1;
    const watch = { messages: [] as string[], requests: [] as string[] };
    let browser: Browser;
    let relay: RelayProcess;

    beforeAll(async () => {
      await seedLongAccount(path, LONELY_ID, deposits);
      relay = await startRelayProcess(undefined, {
        AGENT_DB_PATH: path,
        AGENT_RATE_LIMIT_SCALE: "0",
      });
      browser = await openBrowser(executablePath ?? "");
    }, 120_000);
    afterAll(async () => {
      await browser?.close();
      await relay?.stop();
      rmSync(folder, { recursive: true });
    });

    it.each([1280, 390])(
      "an account with too many movements for a statement shows its balance and all movements at %i px",
      async (width) => {
        const place = `#/accounts/${LONELY_ID}`;
        const { page, context } = await openConsole(browser, relay.baseUrl, watch, {
          width,
          place,
        });
        await page.waitForSelector("text=too many for a chart");
        const main = page.locator("main");
        expect(await main.innerText()).toContain(
          "0.010001 USD now, 0.00 USD held, 0.00 USD to be paid out.",
        );
        expect(await page.locator("main table.rows tbody tr").count()).toBe(50);
        expect(await main.innerText()).toContain(`drop ${deposits}`);
        await page.click("nav.pages >> text=Next");
        await page.waitForSelector("nav.pages >> text=page 2");
        await waitForParts(page);
        expect(await main.innerText()).toContain(`drop ${deposits - 50}`);
        expect(await getOverflow(page)).toBe(0);
        expect(await findBarriers(page)).toEqual([]);
        await context.close();
      },
    );
  },
);
