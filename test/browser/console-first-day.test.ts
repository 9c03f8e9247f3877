import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, openBrowser } from "../open-browser.ts";
import { findBarriers, getOverflow } from "../page-checks.ts";
import { startRelayProcess, type RelayProcess } from "../start-relay-process.ts";
import { goToPlace, openConsole } from "./world/watched-page.ts";

const executablePath = findBrowser();
const UNKNOWN_ID = "01890000-0000-7000-8000-000000000001";
const run = promisify(execFile);
const program = new URL("../../apps/relay/src/main.ts", import.meta.url).pathname;

describe.skipIf(executablePath === undefined)(
  "The console of a new relay",
  { timeout: 120_000 },
  () => {
    const folder = mkdtempSync(join(tmpdir(), "relay-first-day-"));
    const env = { AGENT_DB_PATH: join(folder, "relay.db"), AGENT_RATE_LIMIT_SCALE: "0" };
    const watch = { messages: [] as string[], requests: [] as string[] };
    let browser: Browser;
    let relay: RelayProcess;

    beforeAll(async () => {
      relay = await startRelayProcess(undefined, env);
      browser = await openBrowser(executablePath ?? "");
    }, 120_000);
    afterAll(async () => {
      await browser?.close();
      await relay?.stop();
      rmSync(folder, { recursive: true });
    });

    const open = (place: string) =>
      openConsole(browser, relay.baseUrl, watch, { place, width: 390 });
    const readMain = (page: Page) => page.locator("main").innerText();

    async function act(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
      for (const [name, text] of Object.entries(fields))
        await page.fill(`dialog [name=${name}]`, text);
      await page.click("dialog [type=submit]");
    }

    it.each([
      ["#/tasks", "No task was submitted yet.", "#/tasks?state=failed"],
      ["#/agents", "No agent has joined yet.", "#/agents?state=revoked"],
    ])(
      "the empty list %s says that there is nothing yet, not that nothing matches",
      async (place, text, filtered) => {
        const { page, context } = await open(place);
        expect(await readMain(page)).toContain(text);
        await goToPlace(page, filtered);
        expect(await readMain(page)).toMatch(/No (task|agent) matches these filters\./);
        await context.close();
      },
    );

    it("the page of an account says that no agent has its id, and whether money has moved on it", async () => {
      const { page, context } = await open(`#/accounts/${UNKNOWN_ID}`);
      expect(await readMain(page)).toContain(
        "No agent has this id, and no money has ever moved on its account.",
      );
      await page.click("main .act:text('Deposit')");
      const payment = { amount: "10", reference: "invoice 17", reason: "paid by transfer" };
      await act(page, payment);
      await page.waitForSelector("dialog >> text=No agent has the id");
      await act(page, {});
      await page.waitForSelector("dialog >> text=now has 10.00 USD");
      await page.click("dialog >> text=Close");
      await page.waitForSelector("main >> text=1 movement.");
      expect(await readMain(page)).toContain(
        "No agent has this id yet. The money will belong to the agent that binds the id.",
      );
      await goToPlace(page, "#/audit");
      const about = page.locator("tr:has-text('invoice 17') td[data-title=about]");
      expect(await about.locator("a").getAttribute("href")).toBe(`#/agents/${UNKNOWN_ID}`);
      await context.close();
    });

    it("the console unfreezes a restored relay once the operator confirms the comparison", async () => {
      const backup = join(folder, "backup.db");
      const command = async (...args: string[]) => {
        const settings = { AGENT_API_TOKEN: "unused", PATH: process.env["PATH"], ...env };
        const words = ["--conditions=agent-source", program, ...args];
        await run(process.execPath, words, { env: settings });
      };
      await command("backup", backup);
      await relay.stop();
      rmSync(env.AGENT_DB_PATH);
      await command("restore", backup);
      relay = await startRelayProcess(undefined, env);
      const { page, context } = await open("#/freeze");
      const links = page.locator("main [data-frozen] p a");
      const places = await links.evaluateAll((all) => all.map((each) => each.getAttribute("href")));
      expect(places).toEqual(["#/money/withdrawals", "#/federation"]);
      expect(await getOverflow(page)).toBe(0);
      expect(await findBarriers(page)).toEqual([]);
      await page.click("main .act:text('Unfreeze')");
      const consequence = await page.locator("dialog .consequence").innerText();
      expect(consequence).toContain("must not be paid again");
      await act(page, { reason: "compared with the bank", typed: "restored" });
      await page.waitForSelector("dialog >> text=The relay accepts writes again.");
      await page.click("dialog >> text=Close");
      await page.waitForSelector("main [data-frozen=false]");
      await context.close();
    });
  },
);
