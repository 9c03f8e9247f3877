import { canonicalize } from "@agent/crypto";
import { limits } from "@agent/wire";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { findBrowser, openBrowser } from "../open-browser.ts";
import { findBarriers, getOverflow } from "../page-checks.ts";
import type { AgentProcess } from "../start-agent-process.ts";
import { startOwnerWorld, type OwnerWorld } from "./owner-world.ts";

const executablePath = findBrowser();
const screenshots = new URL("../../docs/screenshots/", import.meta.url).pathname;

const PAGES = ["", "work", "account", "visibility", "credentials", "approvals", "devices"];

/** Runs inside the page; returns everything that a thief could read from the browser's storage, as text. */
const READ_STORES = `(async () => {
  const database = await new Promise((resolve, reject) => {
    const opening = indexedDB.open("agent-owner");
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
  const device = await new Promise((resolve) => {
    const request = database.transaction("devices").objectStore("devices").get("device");
    request.onsuccess = () => resolve(request.result);
  });
  database.close();
  const attempts = ["jwk", "pkcs8", "raw"].map((format) =>
    crypto.subtle.exportKey(format, device.key.privateKey).then(() => "exported", (error) => error.name),
  );
  return {
    exports: await Promise.all(attempts),
    isExtractable: device.key.privateKey.extractable,
    publicKey: device.key.publicKey,
    kept: JSON.stringify(device),
    local: localStorage.length,
    session: sessionStorage.length,
    cookie: document.cookie,
  };
})()`;

interface Stores {
  readonly exports: readonly string[];
  readonly isExtractable: boolean;
  readonly publicKey: string;
  readonly kept: string;
  readonly local: number;
  readonly session: number;
  readonly cookie: string;
}

describe.skipIf(executablePath === undefined)("The page /console/me", { timeout: 120_000 }, () => {
  let browser: Browser;
  let world: OwnerWorld;
  let context: BrowserContext;
  let page: Page;
  const messages: string[] = [];
  const requests: { url: string; bearer: string | undefined }[] = [];
  /** The codes of all pairings, which must not appear in any address or log. */
  const codes: string[] = [];

  beforeAll(async () => {
    world = await startOwnerWorld();
    browser = await openBrowser(executablePath ?? "");
    ({ context, page } = await openContext());
  }, 120_000);
  afterAll(async () => {
    await browser.close();
    await world.close();
  });

  async function openContext(): Promise<{ context: BrowserContext; page: Page }> {
    const opened = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    const first = await opened.newPage();
    first.on("pageerror", (error) => messages.push(error.message));
    first.on("console", (message) => messages.push(message.text()));
    first.on("request", (request) => {
      const bearer = request.headers()["authorization"]?.slice("Bearer ".length);
      requests.push({ url: request.url(), bearer });
    });
    return { context: opened, page: first };
  }

  /** Starts the command and reads its link. */
  async function startPairing(...flags: string[]) {
    const command = world.runCommand("pair", ...flags);
    const [link = "", code = ""] = await command.waitForOutput(/(http:\S+#pair=(\w+))/);
    await command.waitForOutput(/waiting for the browser/);
    codes.push(code);
    return { command, link };
  }

  /** Opens the link and claims its code with the browser's key. */
  async function claim(by: Page, link: string): Promise<string> {
    await by.goto(link);
    await by.click("text=Pair this browser");
    return by.locator(".fingerprint").innerText();
  }

  async function answer(command: AgentProcess, word: string): Promise<void> {
    await command.waitForOutput(/do you pair it\?/);
    command.type(word);
    expect(await command.ended()).toBe(0);
  }

  async function pair(by: Page, ...flags: string[]): Promise<string> {
    const { command, link } = await startPairing(...flags);
    await claim(by, link);
    await answer(command, "y");
    await by.waitForSelector("main[data-page=owner]");
    return /paired as device (\S+)/.exec(command.output())?.[1] ?? "";
  }

  /** Reloads the page, because a new fragment alone would keep the data that it has read. */
  async function open(path: string, on = page): Promise<void> {
    await on.goto("about:blank");
    await on.goto(`${world.relay.baseUrl}/console/me#/${path}`);
    await on.waitForSelector("main[data-page=owner]");
    await on.waitForSelector(".loading", { state: "detached" });
  }

  const readStores = (on = page) => on.evaluate<Stores>(READ_STORES);

  it("OB1: the page /console/me pairs a browser by its link, and shows the same key as the terminal", async () => {
    const { command, link } = await startPairing();
    const shown = await claim(page, link);
    expect(page.url()).toBe(`${world.relay.baseUrl}/console/me`);
    const [terminal] = await command.waitForOutput(/its key: {2}([\da-f ]+)\n/);
    expect(shown).toBe(terminal);
    expect(command.output()).toMatch(/claimed by ".+ on Linux"/);
    // A claim must survive a reload of the page.
    await page.reload();
    expect(await page.locator(".fingerprint").innerText()).toBe(shown);
    await answer(command, "y");
    await page.waitForSelector("main[data-page=owner]");
    expect(await page.locator("h1").innerText()).toBe("Today");
    expect(await page.locator(".relay-name").innerText()).toContain("word-shouter");
  });

  it("OB2: the page /console/me keeps a key that survives a reload and that no script can export", async () => {
    await page.reload();
    await page.waitForSelector("main[data-page=owner]");
    const stores = await readStores();
    expect(stores.isExtractable).toBe(false);
    expect(stores.exports).toEqual(Array(3).fill("InvalidAccessError"));
    expect([stores.local, stores.session, stores.cookie]).toEqual([0, 0, ""]);
    // The stored object contains ids and the public key, but no code and no token.
    expect(stores.kept).not.toMatch(/"code"|eyJ/);
  });

  it("the page /console/me shows what was earned, what failed and why, and which tasks are open", async () => {
    await world.order("good morning", "completed");
    await world.order("good evening", "completed");
    await world.order("fail: no ink left in the printer", "failed");
    await world.order("please wait for me", "claimed");
    await open("");
    const readTiles = () => page.locator(".tiles").innerText();
    // The balance is a separate call, which may be answered after the calls for the day.
    await expect.poll(readTiles).toContain("102.85 USD");
    expect(await readTiles()).toMatch(/Earned today\s+2\.85 USD/);
    expect(await readTiles()).toContain("1 failed");
    expect(await page.locator(".needs").innerText()).toContain("1 task has failed today");
    const failed = page.locator("table", { hasText: "Why" });
    expect(await failed.innerText()).toContain("no ink left in the printer");
    await open("work");
    expect(await page.locator("main").innerText()).toContain("please wait for me");
  });

  it("the page /console/me has its screenshots in docs/screenshots", async () => {
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await open("");
      expect(await getOverflow(page)).toBe(0);
      await page.screenshot({ path: `${screenshots}owner-today-${width}.png`, fullPage: true });
    }
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  it("the page /console/me asks for a vote, signs it, and the relay and the agent server count it", async () => {
    await open("approvals");
    await page.click("text=Whose calls may this browser approve?");
    const approver = JSON.parse(await page.locator("pre").innerText()) as { agent_id: string };
    expect(approver.agent_id).toBe(world.workerId);
    const deploy = await world.startSpender(approver, false);
    expect(await deploy("site")).toContain("requires approval");
    await open("approvals");
    expect(await page.locator(".approval").innerText()).toContain("deploy");
    expect(await page.locator("nav .count").innerText()).toContain("1");
    await page.click("text=Compare the hash with the arguments");
    await page.fill(".approval textarea", canonicalize({ text: "other" }));
    expect(await page.locator("[data-verdict]").getAttribute("data-verdict")).toBe("different");
    await page.fill(".approval textarea", canonicalize({ text: "site" }));
    expect(await page.locator("[data-verdict]").getAttribute("data-verdict")).toBe("same");
    await page.click("text=Approve …");
    await page.click("text=Sign and approve");
    await page.waitForSelector("text=No call waits for your vote.");
    expect(await deploy("site")).toBe("deployed site");

    expect(await deploy("other site")).toContain("requires approval");
    await open("approvals");
    await page.click("text=Deny …");
    await page.click("text=Sign and deny");
    await page.waitForSelector("text=No call waits for your vote.");
    expect(await deploy("other site")).toContain("approval.denied");

    const deployOpenly = await world.startSpender(approver, true);
    expect(await deployOpenly("a shown site")).toContain("requires approval");
    await open("approvals");
    expect(await page.locator("[data-arguments]").innerText()).toContain("a shown site");
    expect(await page.locator("[data-verdict]").getAttribute("data-verdict")).toBe("same");
  });

  it("the page /console/me lists account, rank, credentials and devices of the agent", async () => {
    await open("account");
    const account = await page.locator("main").innerText();
    expect(account).toContain("earned by a task");
    expect(account).toContain("agent-server pair --allow-withdrawals");
    const [saved] = await Promise.all([
      page.waitForEvent("download"),
      page.click("text=Save the statement as CSV"),
    ]);
    expect(saved.suggestedFilename()).toMatch(/^statement-[0-9a-f-]{36}\.csv$/);
    await open("visibility");
    expect(await page.locator("main").innerText()).toContain("1 of 1");
    await open("credentials");
    expect(await page.locator("main").innerText()).toContain("in force");
    await open("devices");
    expect(await page.locator("main").innerText()).toContain("(this browser)");
  });

  it.each([
    [1280, "light"],
    [1280, "dark"],
    [390, "light"],
    [390, "dark"],
  ] as const)(
    "the page /console/me fits %i px, %s, without overflow and faults of accessibility",
    async (width, colorScheme) => {
      await page.setViewportSize({ width, height: 900 });
      await page.emulateMedia({ colorScheme });
      for (const path of PAGES) {
        await open(path);
        expect([path, await getOverflow(page)]).toEqual([path, 0]);
        expect([path, await findBarriers(page)]).toEqual([path, []]);
      }
      await page.setViewportSize({ width: 1280, height: 900 });
    },
  );

  it("the page /console/me has a space above each heading, and no focus ring around the title", async () => {
    await open("");
    const gap = await page.evaluate<number>(`(() => {
      const heading = [...document.querySelectorAll("h2")].find(
        ({ textContent }) => textContent === "Open tasks",
      );
      const { bottom } = heading.previousElementSibling.getBoundingClientRect();
      return heading.getBoundingClientRect().top - bottom;
    })()`);
    expect(gap).toBeGreaterThanOrEqual(24);
    await page.focus("nav >> text=Open tasks");
    await page.keyboard.press("Enter");
    await page.waitForSelector("h1:has-text('Open tasks'):focus");
    const outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle");
    expect(outline).toBe("none");
  });

  it("OB5: the page /console/me shows hostile texts as text, without running and without breaking the page", async () => {
    const hostile = `<img src=x onerror="document.title='run'"> \u202E${"x".repeat(5_000)}`;
    await world.order(`fail: ${hostile}`, "failed");
    await open("");
    const text = await page.locator("main").innerText();
    expect(text).toContain("<img src=x onerror=");
    expect(text).toContain("\\u{202e}");
    expect(text).toContain("Show all");
    expect(text).not.toContain("\u202E");
    expect(await page.locator("main img").count()).toBe(0);
    await page.setViewportSize({ width: 390, height: 900 });
    expect(await getOverflow(page)).toBe(0);
    await page.setViewportSize({ width: 1280, height: 900 });
    expect(await page.title()).toBe("Today");
    expect(messages).toEqual([]);
  });

  it("OB3: the page /console/me uses tokens of two minutes with one scope each, never a scope that writes", () => {
    const tokens = new Set(requests.flatMap(({ bearer }) => bearer ?? []));
    const claims = [...tokens].map(
      (token) =>
        JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as {
          scope: string;
          iat: number;
          exp: number;
        },
    );
    expect(claims.length).toBeGreaterThan(4);
    for (const { scope, iat, exp } of claims) {
      expect(exp - iat).toBe(120);
      expect(["", "task:read", "account:read", "credentials:read", "approvals:vote"]).toContain(
        scope,
      );
    }
  });

  it("H21: the page /console/me gives access to the calls of more strangers than fit on one page", async () => {
    await world.askAsStrangers(limits.maxPageSize + 1);
    const readIds = () =>
      page
        .locator(".approval")
        .evaluateAll((calls) => calls.map((call) => call.getAttribute("data-approval")));
    await open("approvals");
    const first = await readIds();
    expect(first).toHaveLength(limits.maxPageSize);
    await page.click("nav[aria-label='Pages of calls of unknown agents'] >> text=Next");
    await expect.poll(readIds).not.toEqual(expect.arrayContaining([first[0]]));
    await page.waitForSelector(".approval");
    const second = await readIds();
    expect(second.length).toBeGreaterThan(0);
    expect(first.filter((id) => second.includes(id))).toEqual([]);
    await page.click("nav[aria-label='Pages of calls of unknown agents'] >> text=Previous");
    await expect.poll(readIds).toEqual(first);
  });

  it("OB1: a thief who claims the code first gets nothing", async () => {
    const thief = await openContext();
    const own = await openContext();
    const { command, link } = await startPairing();
    const stolen = await claim(thief.page, link);
    await own.page.goto(link);
    await own.page.click("text=Pair this browser");
    expect(await own.page.locator("[role=alert]").getAttribute("data-code")).toBe(
      "pairing.code_used",
    );
    expect(await command.waitForOutput(/its key: {2}([\da-f ]+)\n/)).toEqual([stolen]);
    await answer(command, "n");
    await thief.page.waitForSelector("text=The pairing was denied");
    await thief.page.goto(`${world.relay.baseUrl}/console/me`);
    await thief.page.waitForSelector("main[data-page=pairing]");
    await thief.context.close();
    await own.context.close();
  });

  it("OB2: a browser loses its access at once when its device is ended at the terminal", async () => {
    const other = await openContext();
    const deviceId = await pair(other.page);
    const ended = world.runCommand("unpair", deviceId);
    expect(await ended.ended()).toBe(0);
    // Not by the link, because the page may have noticed the end by itself, and then shows no links.
    await other.page.evaluate("location.hash = '#/account'");
    await other.page.waitForSelector("main[data-page=ended]");
    expect(await other.page.locator("main").innerText()).toContain("no longer a device");
    await other.page.waitForSelector("text=Its key has been deleted");
    await other.page.reload();
    await other.page.waitForSelector("main[data-page=pairing]");
    await other.context.close();
  });

  it("a browser can withdraw if the owner has allowed it, only once per dialog, and can end itself", async () => {
    const other = await openContext();
    await pair(other.page, "--allow-withdrawals");
    // Only a browser that was paired before does not need the code of its link.
    const note = other.page.locator("main >> text=This browser is paired already");
    expect(await note.count()).toBe(0);
    await other.page.goto(`${world.relay.baseUrl}/console/me#pair=AAAAAA`);
    await note.waitFor();
    expect(other.page.url()).not.toContain("AAAAAA");
    await open("account", other.page);
    await other.page.fill("input[name=amount]", "2.5");
    await other.page.fill("input[name=destination]", " ");
    await other.page.click("text=Withdraw …");
    expect(await other.page.locator("dialog").count()).toBe(0);
    await other.page.fill("input[name=destination]", "DE00 0000");
    await other.page.click("text=Withdraw …");
    expect(await other.page.locator(".consequence").innerText()).toContain("2.50 USD");
    await other.page.locator("dialog .button").click();
    await other.page.waitForSelector("td:has-text('DE00 0000')");
    // The statement above the list must show it too, without a reload of the page.
    const movements = other.page.locator("[aria-label^=Movements]");
    await expect.poll(() => movements.innerText(), { timeout: 10_000 }).toContain("−2.50 USD");
    const listed = await world.operator.listWithdrawals({ params: { agentId: world.workerId } });
    expect(listed).toMatchObject({ body: { withdrawals: [{ amount: 2.5, status: "pending" }] } });

    await open("devices", other.page);
    await other.page.click("text=End this device …");
    await other.page.locator("dialog .button").click();
    await other.page.waitForSelector("main[data-page=ended]");
    await other.context.close();
  });

  it("the page /console/me says that a browser without Ed25519 cannot be paired, and offers no weaker way", async () => {
    const old = await openContext();
    await old.page.addInitScript(
      "SubtleCrypto.prototype.generateKey = () => Promise.reject(new DOMException('', 'NotSupportedError'))",
    );
    const countClaims = () => requests.filter(({ url }) => url.endsWith("/pairing/claim")).length;
    const before = countClaims();
    const { command, link } = await startPairing();
    await old.page.goto(link);
    await old.page.click("text=Pair this browser");
    await old.page.waitForSelector("[data-code='browser.no_key']");
    expect(await old.page.locator("main input, main button").count()).toBe(0);
    expect(countClaims()).toBe(before);
    await command.stop();
    await old.context.close();
  });

  it("the page /console/me sends requests only to its own relay, and leaves no secret in addresses, logs or messages", async () => {
    await vi.waitUntil(() => world.relay.log().length > 0);
    const { baseUrl } = world.relay;
    const foreign = requests.filter(
      ({ url }) => !url.startsWith(baseUrl) && !url.startsWith("blob:"),
    );
    expect(foreign).toEqual([]);
    const tokens = requests.flatMap(({ bearer }) => bearer ?? []);
    const addresses = requests.map(({ url }) => url.replace(/#.*/, "")).join("\n");
    for (const secret of [...codes, ...tokens]) {
      expect(addresses).not.toContain(secret);
      expect(world.relay.log()).not.toContain(secret);
    }
    // The refusals that the theft tests expect have an error status, which Chromium itself logs.
    const unexpected = messages.filter((text) => !text.startsWith("Failed to load resource"));
    expect(unexpected).toEqual([]);
    await context.close();
  });
});
