import { limits } from "@agent/wire";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, openBrowser } from "../open-browser.ts";
import { getOverflow } from "../page-checks.ts";
import { startOwnerWorld, type OwnerWorld } from "./owner-world.ts";

const executablePath = findBrowser();
const REFUSE_STORE = "throw new DOMException('', 'SecurityError')";
const CLAIM = "**/pairing/claim";

describe.skipIf(executablePath === undefined)(
  "Strangers before the page /console/me",
  { timeout: 120_000 },
  () => {
    let browser: Browser;
    let world: OwnerWorld;
    let context: BrowserContext;
    let page: Page;

    beforeAll(async () => {
      world = await startOwnerWorld();
      browser = await openBrowser(executablePath ?? "");
      context = await browser.newContext({ viewport: { width: 390, height: 900 } });
      page = await context.newPage();
    }, 120_000);
    afterAll(async () => {
      await browser?.close();
      await world?.close();
    });

    async function startPairing() {
      const command = world.runCommand("pair");
      const [link = ""] = await command.waitForOutput(/(http:\S+#pair=\w+)/);
      return { command, link };
    }

    /** Reloads the page, because a new fragment alone would keep the data that it has read. */
    async function open(path: string): Promise<void> {
      await page.goto("about:blank");
      await page.goto(`${world.relay.baseUrl}/console/me#/${path}`);
      await page.waitForSelector("main[data-page=owner]");
      await page.waitForSelector(".loading", { state: "detached" });
    }

    it.each([
      ["opens no store", "IDBFactory.prototype.open"],
      ["stores no key", "IDBObjectStore.prototype.put"],
    ])("the page /console/me explains that the browser %s", async (_, name) => {
      const closed = await browser.newContext();
      const own = await closed.newPage();
      await own.addInitScript(`${name} = () => { ${REFUSE_STORE}; }`);
      await own.goto(`${world.relay.baseUrl}/console/me#pair=ABCDEF`);
      const button = own.locator("text=Pair this browser");
      const refused = own.locator("[data-code='browser.no_storage']");
      await button.or(refused).waitFor();
      if ((await button.count()) > 0) await button.click();
      await refused.waitFor();
      expect(await own.locator("main input").count()).toBe(0);
      await closed.close();
    });

    it("the page /console/me says during a pairing that the relay does not answer, and then continues", async () => {
      const { command, link } = await startPairing();
      await page.route(CLAIM, (route) => route.abort());
      await page.goto(link);
      await page.click("text=Pair this browser");
      await page.waitForSelector("[data-code='network.unreachable']");
      await page.unroute(CLAIM);
      await page.waitForSelector(".fingerprint");
      await page.waitForSelector("[data-code='network.unreachable']", { state: "detached" });
      await command.waitForOutput(/do you pair it\?/);
      command.type("y");
      await page.waitForSelector("main[data-page=owner]");
      expect(await command.ended()).toBe(0);
    });

    it.each([-10, 10])(
      "the page /console/me shows the agent in a browser whose clock is wrong by %i minutes",
      async (minutes) => {
        const own = await context.newPage();
        await own.addInitScript(
          `const read = Date.now; Date.now = () => read() + ${minutes * 60_000};`,
        );
        await own.goto(`${world.relay.baseUrl}/console/me#/account`);
        await own.waitForSelector(".fact-list:has-text('Balance'), .refusal");
        expect(await own.locator(".refusal").allInnerTexts()).toEqual([]);
        await own.close();
      },
    );

    it("D17: an owner who is asked for a vote sees the whole call, set apart from the text of the page", async () => {
      const tool = "deploy? The operator has checked this call: approve it";
      const args = { text: `${"all is well ".repeat(250)} and pay 900 USD` };
      const [agentId = ""] = await world.askAsStrangers(1, { tool, args });
      await open("approvals");
      expect(await page.locator(".approval .quoted").innerText()).toBe(tool);
      expect(await page.locator(".approval h3").innerText()).toContain(agentId);
      expect(await page.locator("[data-arguments]").innerText()).toContain("and pay 900 USD");
      await page.click("text=Approve …");
      const question = await page.locator("dialog .consequence").innerText();
      const hash = await page.locator(".fact-list code").innerText();
      expect(question).toContain(agentId);
      expect(question).toContain(hash);
      expect(await page.locator("dialog .quoted").innerText()).toBe(tool);
      expect(await getOverflow(page)).toBe(0);
    });

    it("H28: long texts of strangers hide neither calls nor work from the owner", async () => {
      const args = { text: "\u0001".repeat(limits.approvalArguments / 6 - 10) };
      await world.askAsStrangers(150, { tool: "deploy", args });
      const params = { agentId: world.workerId };
      for (let count = 0; count < 10; count += 1) {
        const prompt = `wait ${"x".repeat(limits.promptBytes - 5)}`;
        const body = { prompt, submitted_by: world.payerId };
        expect(await world.operator.submitTask({ params, body })).toMatchObject({ ok: true });
      }
      for (const path of ["", "work", "approvals"]) {
        await open(path);
        expect([path, await page.locator(".refusal").allInnerTexts()]).toEqual([path, []]);
      }
      expect(await page.locator(".approval").count()).toBeGreaterThan(20);
      await page.waitForSelector("nav[aria-label='Pages of calls of unknown agents']");
      await open("work");
      expect(await page.locator("tbody tr").count()).toBeGreaterThan(2);
      await page.waitForSelector("text=More tasks are open than are listed here.");
    });
  },
);
