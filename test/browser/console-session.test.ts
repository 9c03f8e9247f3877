import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, openBrowser } from "../open-browser.ts";
import { findBarriers } from "../page-checks.ts";
import { MASTER_TOKEN, startRelayProcess, type RelayProcess } from "../start-relay-process.ts";
import { createConsoleLink, openConsole, openWindow } from "./world/watched-page.ts";

const executablePath = findBrowser();

describe.skipIf(executablePath === undefined)("A console session", { timeout: 120_000 }, () => {
  let browser: Browser;
  let relay: RelayProcess;
  const watch = { messages: [] as string[], requests: [] as string[] };

  beforeAll(async () => {
    relay = await startRelayProcess(undefined, { AGENT_RATE_LIMIT_SCALE: "0" });
    browser = await openBrowser(executablePath ?? "");
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await relay?.stop();
  });

  /** Returns the bearer token that the page sends. */
  async function readBearer(page: Page): Promise<string> {
    const [request] = await Promise.all([
      page.waitForRequest((each) => each.url().includes("/admin/console-sessions")),
      page.evaluate("location.hash = '#/sessions'"),
    ]);
    return (await request.headerValue("authorization")) ?? "";
  }

  async function endSessions(): Promise<void> {
    const headers = { authorization: `Bearer ${MASTER_TOKEN}` };
    const list = `${relay.baseUrl}/api/v1/admin/console-sessions`;
    const { sessions } = (await (await fetch(list, { headers })).json()) as {
      sessions: { session_id: string }[];
    };
    for (const { session_id } of sessions) {
      await fetch(`${list}/${session_id}`, { method: "DELETE", headers });
    }
  }

  const askWith = (authorization: string) =>
    fetch(`${relay.baseUrl}/api/v1/admin/overview`, { headers: { authorization } });

  it("OP2: a code opens the console once, and the address of the page does not contain it", async () => {
    const { page, context } = await openWindow(browser, watch);
    const link = await createConsoleLink(relay.baseUrl);
    await page.goto(link);
    await page.waitForSelector("[data-live=live]");
    expect(page.url()).toBe(`${relay.baseUrl}/console#/`);
    await context.close();
    const again = await openWindow(browser, watch);
    await again.page.goto(link);
    await again.page.waitForSelector("[data-code='session.code_invalid']");
    await again.context.close();
  });

  it("OP25: a link that is opened in a tab of the console signs in, and its code does not stay in the address", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch);
    await page.click(".session summary");
    await page.click("text=Sign out");
    await page.waitForSelector("[data-page=sign-in]");
    await page.goto(await createConsoleLink(relay.baseUrl));
    await page.waitForSelector("[data-live=live]");
    expect(page.url()).toBe(`${relay.baseUrl}/console#/`);
    await context.close();
  });

  it("what was typed into a dialog outlives the session, and is sent once the operator has signed in again", async () => {
    const place = "#/money";
    const { page, context } = await openConsole(browser, relay.baseUrl, watch, { place });
    await page.click("text=Deposit");
    await page.fill("dialog [name=reference]", "bank 7");
    await endSessions();
    await page.waitForSelector("[data-page=sign-in]", { timeout: 30_000 });
    expect(await page.locator("nav").count()).toBe(0);
    const dialog = page.locator("dialog");
    await dialog.locator("text=The session has ended.").waitFor();
    expect(await findBarriers(page)).toEqual([]);
    await dialog.locator("[name=secret]").fill(MASTER_TOKEN);
    await dialog.locator("text=Allow changes").click();
    await page.waitForSelector("main[data-place='#/money']");
    expect(await dialog.locator("[name=secret]").count()).toBe(0);
    expect(await dialog.locator("[name=reference]").inputValue()).toBe("bank 7");
    expect(await dialog.locator("[type=submit]").isEnabled()).toBe(true);
    await context.close();
  });

  it("OP3: the cookie alone allows no operation, and survives a reload of the page", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch);
    const statuses = await page.evaluate<number[]>(
      `Promise.all(["overview", "tasks", "freeze"].map(async (name) => (await fetch("./api/v1/admin/" + name)).status))`,
    );
    expect(statuses).toEqual([401, 401, 401]);
    await page.reload();
    await page.waitForSelector("[data-live=live]");
    await context.close();
  });

  it("OP4: after signing out, the bearer token is refused and the page asks for the token", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch);
    const bearer = await readBearer(page);
    expect((await askWith(bearer)).status).toBe(200);
    await page.click(".session summary");
    await page.click("text=Sign out");
    await page.waitForSelector("[data-page=sign-in]");
    expect((await askWith(bearer)).status).toBe(401);
    await context.close();
  });

  it.each([-15, 15])(
    "the console acts for ten minutes where the browser's clock is wrong by %i minutes",
    async (minutes) => {
      const { page, context } = await openWindow(browser, watch);
      await page.addInitScript(
        `const read = Date.now; Date.now = () => read() + ${minutes * 60_000};`,
      );
      await page.goto(await createConsoleLink(relay.baseUrl));
      await page.waitForSelector("[data-live=live]");
      const minutesLeft = await page.locator(".session summary").innerText();
      expect(minutesLeft).toMatch(/^operate (9|10) min$/);
      await context.close();
    },
  );

  it("OP4: a sign-out that does not reach the relay says so, and can be repeated", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch);
    await page.route("**/console/session", (route) => route.abort());
    await page.click(".session summary");
    await page.click("text=Sign out");
    await page.waitForSelector("text=You are still signed in");
    expect(await page.locator("[data-page=sign-in]").count()).toBe(0);
    await page.unroute("**/console/session");
    await page.click("text=Sign out");
    await page.waitForSelector("[data-page=sign-in]");
    await page.reload();
    await page.waitForSelector("[data-page=sign-in]");
    await context.close();
  });

  it("OP4: a page whose session was ended elsewhere asks for the token", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch);
    await endSessions();
    await page.waitForSelector("[data-page=sign-in]", { timeout: 30_000 });
    expect(await page.locator("nav").count()).toBe(0);
    await context.close();
  });

  it("OP3: a page of another origin cannot renew a session", async () => {
    const { page, context } = await openConsole(browser, relay.baseUrl, watch);
    // The same machine under another name is another origin; the answer used here has no policy of its own.
    await page.goto(`${relay.baseUrl.replace("127.0.0.1", "localhost")}/openapi.json`);
    const renew = `${relay.baseUrl}/api/v1/console/session/renew`;
    const [response] = await Promise.all([
      page.waitForResponse(renew),
      page.evaluate(
        `fetch("${renew}", { method: "POST", mode: "no-cors", credentials: "include" }).then(() => 0)`,
      ),
    ]);
    expect(response.status()).toBe(403);
    await context.close();
  });

  it("a console session keeps no secret in an address, a title or a storage", async () => {
    const { page, context } = await openWindow(browser, watch);
    await page.goto(`${relay.baseUrl}/console`);
    await page.fill("input[type=password]", MASTER_TOKEN);
    await page.keyboard.press("Enter");
    await page.waitForSelector("[data-live=live]");
    const bearer = (await readBearer(page)).replace("Bearer ", "");
    const kept = await page.evaluate<string>(
      "JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.title, location.href, history.state, document.documentElement.outerHTML])",
    );
    expect(await page.evaluate("localStorage.length + sessionStorage.length")).toBe(0);
    const [cookie] = await context.cookies();
    for (const secret of [MASTER_TOKEN, bearer, cookie?.value ?? "-"]) {
      expect(kept).not.toContain(secret);
      expect(watch.requests.filter((url) => url.includes(secret))).toEqual([]);
    }
    expect(cookie).toMatchObject({ httpOnly: true, secure: true, sameSite: "Strict" });
    await context.close();
  });

  it.each(["/", "/console", "/console/me", "/verify", "/log", "/docs"])(
    "the page %s has a content security policy",
    async (path) => {
      const answer = await fetch(`${relay.baseUrl}${path}`, { headers: { accept: "text/html" } });
      expect(answer.status).toBe(200);
      const policy = answer.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("frame-ancestors 'none'");
    },
  );
});
