import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findBrowser, openBrowser } from "../open-browser.ts";
import { goToPlace, openWindow } from "./world/watched-page.ts";

const executablePath = findBrowser();
const main = new URL("../../apps/relay/src/main.ts", import.meta.url).pathname;
/** The maximum time that a new user waits, on a busy machine; the measured time is printed. */
const LONGEST_MS = 60_000;

describe.skipIf(executablePath === undefined)("agent-relay dev", { timeout: 120_000 }, () => {
  let browser: Browser;
  let relay: ChildProcess;
  beforeAll(async () => {
    browser = await openBrowser(executablePath ?? "");
  });
  afterAll(async () => {
    relay.kill("SIGINT");
    await once(relay, "exit");
    await browser.close();
  });

  it("the link of agent-relay dev leads to a receipt that is verified in the browser", async () => {
    const startedAt = performance.now();
    relay = spawn(process.execPath, ["--conditions=agent-source", main, "dev"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const link = await readLink(relay);
    const watch = { messages: [] as string[], requests: [] as string[] };
    const { page, context } = await openWindow(browser, watch);
    await page.goto(link);
    await page.waitForSelector("[data-live=live]");
    await goToPlace(page, "#/tasks?state=completed");
    await page.click('[aria-label="Tasks"] a[href^="#/tasks/"]');
    await page.waitForSelector("[data-verified=true]");
    const tookMs = Math.round(performance.now() - startedAt);
    console.log(`from agent-relay dev to a verified receipt on the screen: ${tookMs} ms`);
    expect(tookMs).toBeLessThan(LONGEST_MS);
    await context.close();
  });
});

/** Reads the link to the console, which is the first line that the command prints. */
function readLink({ stdout }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const link = /^(http\S+\/console#code=\S+)\n/.exec(text)?.[1];
      if (link !== undefined) resolve(link);
    });
    stdout?.once("end", () => reject(new Error(`agent-relay dev ended without a link: ${text}`)));
  });
}
