import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { createManualClock, createSeededRandom } from "@agent/testkit";
import { afterAll, describe, expect, test } from "vitest";
import { OPERATOR_TOKEN, startTestRelay, ZERO_ADDRESS } from "../../test/test-relay.ts";
import { readConfig } from "../config/read-config.ts";
import { createRateLimiter } from "../http/limits/rate-limit.ts";
import { type Assets, readAssets } from "./assets.ts";
import { createPageHandler } from "./routes.ts";

const folder = mkdtempSync(join(tmpdir(), "pages-"));
afterAll(() => rmSync(folder, { recursive: true }));
const script = `console.log("${"a".repeat(1_000)}");\n`;
mkdirSync(join(folder, "console/assets"), { recursive: true });
writeFileSync(join(folder, "verify.html"), "<!doctype html><title>Verify</title>");
writeFileSync(join(folder, "log.html"), "<!doctype html><title>Log</title>");
writeFileSync(join(folder, "console.html"), "<!doctype html><title>Console</title>");
writeFileSync(join(folder, "agent-verify.html"), "<!doctype html><title>One file</title>");
writeFileSync(join(folder, "console/assets/verify-AbCd_12-.js"), script);
writeFileSync(join(folder, "console/assets/home-AbCd_123.js"), "");
writeFileSync(join(folder, "console/assets/style-AbCd_123.css"), "");
writeFileSync(join(folder, "console/secret.pem"), "no page");

const SCRIPT_PATH = "/console/assets/verify-AbCd_12-.js";

function createHandler(assets: Assets = readAssets(folder), name = "north", pages = "on") {
  const read = readConfig({
    AGENT_API_TOKEN: OPERATOR_TOKEN,
    X402_PAY_TO_ADDRESS: ZERO_ADDRESS,
    AGENT_RELAY_NAME: name,
    AGENT_CONSOLE: pages,
  });
  if (!read.ok) throw new Error("the configuration is refused");
  const clock = createManualClock();
  const limiter = createRateLimiter({ scale: 1, now: clock.now, maxEntries: 1_000 });
  const identity = { relayId: "id", did: "did:key:z", publicKey: "ab", succession: [] };
  const services = {
    config: read.config,
    identity,
    freezer: { incarnation: 1 },
    runtime: { ...clock, ...createSeededRandom(1) },
  };
  const answer = createPageHandler(services as never, { limiter, assets });
  return (path: string, headers: Record<string, string> = {}, ip = "192.0.2.1") =>
    answer(new Request(`http://relay.test${path}`, { headers }), ip);
}

const html = { accept: "text/html,*/*" };

describe("the pages of a relay", () => {
  test("the pages of a relay forbid every connection and every other origin", () => {
    const policy = createHandler()("/verify")?.headers.get("content-security-policy") ?? "";
    expect(policy.split("; ")).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      "font-src 'self'",
      "worker-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      "connect-src 'none'",
      "trusted-types verify-worker",
    ]);
  });

  test.each(["/log", "/console"])(
    "the pages of a relay let %s read from its own relay, and start no worker",
    (path) => {
      const policy = createHandler()(path)?.headers.get("content-security-policy") ?? "";
      expect(policy).toContain("connect-src 'self'; trusted-types 'none'");
    },
  );

  test("the pages of a relay are without log and console if the operator allows only the page of /verify", async () => {
    const get = createHandler(undefined, "north", "verify");
    for (const path of ["/log", "/console", "/console.html"]) expect(get(path)).toBeUndefined();
    expect(await get("/", html)?.text()).not.toContain('./console"');
    expect(get("/verify")?.status).toBe(200);
  });

  test.each(["/", "/verify", "/log", "/console", "/agent-verify.html", SCRIPT_PATH])(
    "the pages of a relay send %s with the headers that isolate it from other origins",
    (path) => {
      const { status, headers } = createHandler()(path, html)!;
      expect(status).toBe(200);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
      expect(headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(headers.get("access-control-allow-origin")).toBeNull();
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
    },
  );

  test("the pages of a relay are cached for ever if their name changes with their content, else compared by tag", async () => {
    const get = createHandler();
    expect(get(SCRIPT_PATH)?.headers.get("cache-control")).toContain("immutable");
    const page = get("/verify")!;
    expect(page.headers.get("cache-control")).toBe("no-cache");
    const again = get("/verify", { "if-none-match": page.headers.get("etag") ?? "" })!;
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect(get("/verify", { "if-none-match": '"another"' })?.status).toBe(200);
  });

  test("the pages of a relay are compressed for readers that accept it, under a tag of their own", async () => {
    const get = createHandler();
    const small = get(SCRIPT_PATH, { "accept-encoding": "br, gzip" })!;
    expect(small.headers.get("content-encoding")).toBe("gzip");
    expect(small.headers.get("vary")).toBe("Accept-Encoding");
    expect(gunzipSync(await small.arrayBuffer()).toString()).toBe(script);
    const plain = get(SCRIPT_PATH, { "accept-encoding": "gzip;q=0" })!;
    expect(await plain.text()).toBe(script);
    expect(plain.headers.get("etag")).not.toBe(small.headers.get("etag"));
  });

  test.each([
    "/console/secret.pem",
    "/console/assets/",
    "/console/assets/%2e%2e/secret.pem",
    "/console/../../package.json",
    "/console/__proto__",
  ])("the pages of a relay contain no file under %s", (path) => {
    expect(createHandler()(path)).toBeUndefined();
  });

  test("the start page is shown to browsers only, with the relay's name as plain text", async () => {
    const get = createHandler(undefined, `<script>"x"</script>`);
    expect(get("/", { accept: "application/json" })).toBeUndefined();
    expect(get("/")).toBeUndefined();
    const page = get("/", html)!;
    expect(page.headers.get("vary")).toBe("Accept");
    const text = await page.text();
    expect(text).toContain("&lt;script&gt;&quot;x&quot;&lt;/script&gt;");
    expect(text).toContain("5 % of each payment");
    expect(text).toContain("did:key:z");
  });

  test("the pages of a relay name the command that builds them if they are not built", async () => {
    const get = createHandler(new Map());
    const response = get("/verify")!;
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: "console.not_built" });
  });

  test("the pages of a relay have a rate limit of their own for each address", () => {
    const get = createHandler();
    const statuses = Array.from({ length: 601 }, () => get("/verify")?.status);
    expect(statuses.lastIndexOf(200)).toBe(599);
    expect(statuses.at(-1)).toBe(429);
    expect(get("/verify", {}, "192.0.2.2")?.status).toBe(200);
  });

  test("the pages of a relay are absent if the operator has switched them off, and otherwise hide no 404", async () => {
    const off = await startTestRelay({ AGENT_CONSOLE: "off" });
    expect((await off.request("GET", "/verify", { headers: html })).status).toBe(404);
    expect((await off.request("GET", "/", { headers: html })).status).toBe(404);
    await off.close();
    const on = await startTestRelay();
    expect((await on.request("GET", "/")).body).toMatchObject({ code: "route.not_found" });
    expect((await on.request("GET", "/console/none")).status).not.toBe(200);
    await on.close();
  });
});

describe("the page of an owner", () => {
  const get = (pages: string) => {
    mkdirSync(join(folder, "console"), { recursive: true });
    writeFileSync(join(folder, "console/me.html"), "<!doctype html><title>My agent</title>");
    return createHandler(readAssets(folder), "north", pages)("/console/me", html);
  };

  test("the page of an owner reads from its own relay only, by the policy of the console", () => {
    const { status, headers } = get("on")!;
    expect(status).toBe(200);
    expect(headers.get("content-security-policy")).toContain(
      "connect-src 'self'; trusted-types 'none'",
    );
    expect(headers.get("cache-control")).toBe("no-cache");
    expect(headers.get("referrer-policy")).toBe("no-referrer");
  });

  test("the page of an owner is absent if the operator allows only the page of /verify", () => {
    expect(get("verify")).toBeUndefined();
  });
});
